import { Arg, Ctx, Field, Float, GraphQLISODateTime, ID, Mutation, ObjectType, Query, registerEnumType, Resolver } from 'type-graphql';
import type { Context } from '#platform/context.ts';
import { ExportState } from '#platform/exports/export-state.ts';
import { getExport } from '../operations/get-export.ts';
import type { ExportStatus } from '../operations/get-export.ts';
import { startFullExport } from '../operations/start-full-export.ts';
import type { ExportReceipt } from '../operations/start-full-export.ts';

registerEnumType(ExportState, { name: 'ExportState' });

@ObjectType({ description: 'A full export that has been asked for.' })
class StartedExport implements ExportReceipt {
  @Field(() => ID)
  id!: string;

  @Field(() => ExportState)
  state!: ExportState;
}

@ObjectType({ description: 'Everything that the organization keeps here, as a .tar.gz of JSON Lines.' })
class Export implements ExportStatus {
  @Field(() => ID)
  id!: string;

  @Field(() => ExportState)
  state!: ExportState;

  @Field(() => Float, { description: '0 to 1.' })
  progress!: number;

  @Field(() => String, { nullable: true, description: 'Where the archive is, until expiresAt. Whoever has this path can read it.' })
  downloadPath!: string | null;

  @Field(() => GraphQLISODateTime, { nullable: true })
  expiresAt!: Date | null;
}

@Resolver()
export class ExportResolver {
  @Mutation(() => StartedExport, { description: 'Starts a full export of the organization.' })
  startFullExport(@Ctx() ctx: Context): Promise<StartedExport> {
    return startFullExport(ctx, {});
  }

  @Query(() => Export, { description: "A full export of the credential's organization." })
  export(@Ctx() ctx: Context, @Arg('id', () => ID) id: string): Promise<Export> {
    return getExport(ctx, { id });
  }
}
