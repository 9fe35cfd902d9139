import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, GraphQLISODateTime, ID, ObjectType, registerEnumType } from 'type-graphql';

export enum InstallState {
  QUEUED = 'queued',
  INSTALLING = 'installing',
  INSTALLED = 'installed',
  UPDATING = 'updating',
  UNINSTALLING = 'uninstalling',
  FAILED = 'failed',
}
registerEnumType(InstallState, { name: 'InstallState' });

export enum InstallHealth {
  HEALTHY = 'healthy',
  DEGRADED = 'degraded',
  FAILED = 'failed',
}
registerEnumType(InstallHealth, { name: 'InstallHealth' });

@Entity({ schema: 'marketplace', tableName: 'install' })
@ObjectType({ description: 'An extension in an organization.' })
@Directive('@key(fields: "id")')
export class Install {
  @PrimaryKey({ type: 'text' })
  @Field(() => ID)
  id!: string;

  @Property({ type: 'text', fieldName: 'organization_id' })
  organizationId!: string;

  @Property({ type: 'text' })
  @Field(() => String)
  slug!: string;

  @Property({ type: 'text' })
  @Field(() => String)
  version!: string;

  @Property({ type: 'text' })
  @Field(() => InstallState)
  state!: InstallState;

  @Property({ type: 'text', nullable: true })
  @Field(() => InstallHealth, { nullable: true, description: 'Null before the first check.' })
  health!: InstallHealth | null;

  @Property({ type: 'timestamptz', fieldName: 'created_at' })
  @Field(() => GraphQLISODateTime)
  createdAt!: Date;

  @Property({ type: 'timestamptz', fieldName: 'updated_at' })
  @Field(() => GraphQLISODateTime)
  updatedAt!: Date;
}
