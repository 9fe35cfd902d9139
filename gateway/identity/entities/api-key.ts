import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Field, GraphQLISODateTime, ID, ObjectType, registerEnumType } from 'type-graphql';

export enum ApiKeyLevel {
  READ_ONLY = 'read-only',
  READ_WRITE = 'read-write',
  ADMIN = 'admin',
}
registerEnumType(ApiKeyLevel, { name: 'ApiKeyLevel', description: 'Each level includes the one before.' });

@Entity({ schema: 'identity', tableName: 'api_key' })
@ObjectType({ description: 'A credential for programs. The key itself is shown once, at creation; only its digest is kept.' })
export class ApiKey {
  @PrimaryKey({ type: 'text' })
  @Field(() => ID)
  id!: string;

  @Property({ type: 'text', fieldName: 'organization_id' })
  organizationId!: string;

  @Property({ type: 'text', fieldName: 'vault_id' })
  vaultId!: string;

  @Property({ type: 'text', fieldName: 'workspace_id' })
  @Field(() => ID)
  workspaceId!: string;

  @Property({ type: 'text' })
  @Field(() => String)
  name!: string;

  @Property({ type: 'text' })
  @Field(() => ApiKeyLevel)
  level!: ApiKeyLevel;

  @Property({ type: 'boolean', fieldName: 'service_account' })
  @Field(() => Boolean, { description: 'A service account has rate limits of its own.' })
  serviceAccount!: boolean;

  @Property({ type: 'text' })
  @Field(() => String, { description: 'The first characters of the key, to recognise it by.' })
  prefix!: string;

  @Property({ type: 'blob' })
  digest!: Buffer;

  @Property({ type: 'text', fieldName: 'created_by', nullable: true })
  createdBy!: string | null;

  @Property({ type: 'timestamptz', fieldName: 'created_at' })
  @Field(() => GraphQLISODateTime)
  createdAt!: Date;

  @Property({ type: 'timestamptz', fieldName: 'expires_at', nullable: true })
  @Field(() => GraphQLISODateTime, { nullable: true })
  expiresAt!: Date | null;

  @Property({ type: 'timestamptz', fieldName: 'revoked_at', nullable: true })
  revokedAt!: Date | null;
}
