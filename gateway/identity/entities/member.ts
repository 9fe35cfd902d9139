import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';

export enum WorkspaceRole {
  VIEWER = 'viewer',
  EDITOR = 'editor',
  ADMIN = 'admin',
  OWNER = 'owner',
}
registerEnumType(WorkspaceRole, { name: 'WorkspaceRole', description: 'Viewer reads; Editor writes too; Admin also manages keys and webhooks; Owner also members.' });

@ObjectType({ description: "A user's role in a workspace." })
export class Member {
  @Field(() => ID)
  userId!: string;

  @Field(() => ID)
  workspaceId!: string;

  @Field(() => WorkspaceRole)
  role!: WorkspaceRole;
}
