import { Args, ArgsType, Ctx, Field, GraphQLISODateTime, ID, Int, ObjectType, Query, Resolver } from 'type-graphql';
import type { AuditVerdict } from '#platform/audit/verify-audit.ts';
import type { Context } from '#platform/context.ts';
import type { Page } from '#platform/page.ts';
import { connectionType } from '#platform/subgraph/connection-type.ts';
import { PageArgs } from '#platform/subgraph/page-args.ts';
import { AuditLogEntry } from '../entities/audit-entry.ts';
import { listAuditLog } from '../operations/list-audit-log.ts';
import { verifyAuditLog } from '../operations/verify-audit-log.ts';

const AuditLogConnection = connectionType('AuditLogEntry', AuditLogEntry);

@ArgsType()
class AuditLogArgs extends PageArgs {
  @Field(() => String, { nullable: true })
  operation?: string | null;

  @Field(() => ID, { nullable: true })
  userId?: string | null;

  @Field(() => ID, { nullable: true })
  subjectId?: string | null;

  @Field(() => String, { nullable: true, description: '`succeeded`, or the code of a refusal.' })
  outcome?: string | null;

  @Field(() => GraphQLISODateTime, { nullable: true, description: 'From this moment on.' })
  since?: Date | null;

  @Field(() => GraphQLISODateTime, { nullable: true, description: 'Before this moment.' })
  until?: Date | null;
}

@ObjectType({ description: "What came of computing an audit log's hashes again." })
class AuditLogVerdict implements AuditVerdict {
  @Field(() => Boolean, { description: 'Every sealed entry is as it was sealed, and none is missing.' })
  valid!: boolean;

  @Field(() => Int)
  entriesSealed!: number;

  @Field(() => Int, { description: 'Written a moment ago.' })
  entriesUnsealed!: number;

  @Field(() => Int)
  headSequence!: number;

  @Field(() => String, { description: 'SHA-256, hex. Kept elsewhere, it proves later that nothing before it was changed.' })
  headHash!: string;

  @Field(() => Int, { nullable: true })
  firstInvalid!: number | null;
}

@Resolver()
export class AuditLogResolver {
  @Query(() => AuditLogConnection, { description: 'What was done in the organization, newest first.' })
  auditLog(@Ctx() ctx: Context, @Args(() => AuditLogArgs) input: AuditLogArgs): Promise<Page<AuditLogEntry>> {
    return listAuditLog(ctx, input);
  }

  @Query(() => AuditLogVerdict)
  verifyAuditLog(@Ctx() ctx: Context): Promise<AuditLogVerdict> {
    return verifyAuditLog(ctx, {});
  }
}
