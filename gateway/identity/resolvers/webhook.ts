import { Arg, Args, Ctx, Field, GraphQLISODateTime, ID, InputType, Int, Mutation, ObjectType, Query, registerEnumType, Resolver } from 'type-graphql';
import type { Context } from '#platform/context.ts';
import type { Page } from '#platform/page.ts';
import { connectionType } from '#platform/subgraph/connection-type.ts';
import { PageArgs } from '#platform/subgraph/page-args.ts';
import { DeliveryState, DisabledReason, WebhookScope, WebhookState } from '#platform/webhooks/webhook.ts';
import type { Delivery, Webhook } from '#platform/webhooks/webhook.ts';
import { createWebhook } from '../operations/create-webhook.ts';
import type { WebhookReceipt } from '../operations/create-webhook.ts';
import { deleteWebhook } from '../operations/delete-webhook.ts';
import type { DeletedReceipt } from '../operations/delete-webhook.ts';
import { getWebhook } from '../operations/get-webhook.ts';
import { listWebhookDeliveries } from '../operations/list-webhook-deliveries.ts';
import { listWebhooks } from '../operations/list-webhooks.ts';
import { redeliverWebhook } from '../operations/redeliver-webhook.ts';
import { replayWebhook } from '../operations/replay-webhook.ts';
import type { ReplayReceipt } from '../operations/replay-webhook.ts';
import { rotateWebhookSecret } from '../operations/rotate-webhook-secret.ts';
import type { RotationReceipt } from '../operations/rotate-webhook-secret.ts';
import { testWebhook } from '../operations/test-webhook.ts';
import { updateWebhook } from '../operations/update-webhook.ts';

registerEnumType(WebhookState, { name: 'WebhookState' });
registerEnumType(WebhookScope, { name: 'WebhookScope', description: 'Where what a webhook hears of happens.' });
registerEnumType(DisabledReason, { name: 'WebhookDisabledReason', description: 'OWNER: somebody did. GONE: the receiver answered 410. FAILING: it failed for days.' });
registerEnumType(DeliveryState, { name: 'WebhookDeliveryState' });

@ObjectType('Webhook', { description: 'An address that hears of events.' })
class WebhookType implements Webhook {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  url!: string;

  @Field(() => String, { nullable: true })
  description!: string | null;

  @Field(() => [String], { description: 'Names of events, or "*" for all.' })
  events!: readonly string[];

  @Field(() => WebhookScope)
  scope!: WebhookScope;

  @Field(() => WebhookState)
  state!: WebhookState;

  @Field(() => DisabledReason, { nullable: true })
  disabledReason!: DisabledReason | null;

  @Field(() => GraphQLISODateTime, { nullable: true, description: 'Null while deliveries succeed.' })
  failingSince!: string | null;

  @Field(() => GraphQLISODateTime)
  createdAt!: string;
}

@ObjectType({ description: 'A new webhook. `secret` is shown here and never again.' })
class CreatedWebhook extends WebhookType implements WebhookReceipt {
  @Field(() => String)
  secret!: string;
}

@ObjectType()
class DeletedWebhook implements DeletedReceipt {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  status!: 'deleted';

  @Field(() => GraphQLISODateTime)
  deletedAt!: string;
}

@ObjectType({ description: 'A new secret, shown here and never again.' })
class RotatedWebhookSecret implements RotationReceipt {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  secret!: string;

  @Field(() => GraphQLISODateTime, { description: 'Until then messages are signed with the old secret too.' })
  oldSecretUntil!: string;
}

@ObjectType({ description: 'A message on its way to one webhook.' })
class WebhookDelivery implements Delivery {
  @Field(() => ID)
  id!: string;

  @Field(() => ID, { description: 'The header webhook-id.' })
  messageId!: string;

  @Field(() => String)
  type!: string;

  @Field(() => DeliveryState)
  state!: DeliveryState;

  @Field(() => Int, { description: 'Since it was last asked for.' })
  attempts!: number;

  @Field(() => Int, { nullable: true, description: 'What the receiver last answered; null when it did not answer.' })
  lastStatus!: number | null;

  @Field(() => String, { nullable: true })
  lastError!: string | null;

  @Field(() => Int, { nullable: true, description: 'How long the last attempt took.' })
  responseMs!: number | null;

  @Field(() => GraphQLISODateTime)
  createdAt!: string;

  @Field(() => GraphQLISODateTime, { nullable: true })
  nextAttemptAt!: string | null;

  @Field(() => GraphQLISODateTime, { nullable: true })
  deliveredAt!: string | null;
}

@ObjectType({ description: 'A replay that goes on in the background.' })
class WebhookReplay implements ReplayReceipt {
  @Field(() => ID)
  id!: string;

  @Field(() => GraphQLISODateTime)
  since!: string;

  @Field(() => Boolean)
  all!: boolean;
}

const WebhookConnection = connectionType('Webhook', WebhookType);
const WebhookDeliveryConnection = connectionType('WebhookDelivery', WebhookDelivery);

@InputType()
class CreateWebhookInput {
  @Field(() => String)
  url!: string;

  @Field(() => [String], { description: 'Names of events, or "*" for all.' })
  events!: string[];

  @Field(() => String, { nullable: true })
  description?: string | null;
}

@InputType()
class UpdateWebhookInput {
  @Field(() => ID)
  id!: string;

  @Field(() => String, { nullable: true })
  url?: string;

  @Field(() => [String], { nullable: true })
  events?: string[];

  @Field(() => String, { nullable: true })
  description?: string | null;

  @Field(() => WebhookState, { nullable: true })
  state?: WebhookState;
}

@Resolver()
export class WebhookResolver {
  @Query(() => WebhookConnection, { description: 'The webhooks that the credential manages, newest first.' })
  webhooks(@Ctx() ctx: Context, @Args(() => PageArgs) page: PageArgs): Promise<Page<Webhook>> {
    return listWebhooks(ctx, page);
  }

  @Query(() => WebhookType)
  webhook(@Ctx() ctx: Context, @Arg('id', () => ID) id: string): Promise<Webhook> {
    return getWebhook(ctx, { id });
  }

  @Query(() => WebhookDeliveryConnection, { description: 'The deliveries of a webhook, newest first.' })
  webhookDeliveries(
    @Ctx() ctx: Context,
    @Args(() => PageArgs) page: PageArgs,
    @Arg('id', () => ID) id: string,
    @Arg('state', () => DeliveryState, { nullable: true }) state: DeliveryState | null,
  ): Promise<Page<Delivery>> {
    return listWebhookDeliveries(ctx, { ...page, id, state });
  }

  @Mutation(() => CreatedWebhook)
  createWebhook(@Ctx() ctx: Context, @Arg('input', () => CreateWebhookInput) input: CreateWebhookInput): Promise<WebhookReceipt> {
    return createWebhook(ctx, input);
  }

  @Mutation(() => WebhookType)
  updateWebhook(@Ctx() ctx: Context, @Arg('input', () => UpdateWebhookInput) input: UpdateWebhookInput): Promise<Webhook> {
    return updateWebhook(ctx, input);
  }

  @Mutation(() => DeletedWebhook)
  deleteWebhook(@Ctx() ctx: Context, @Arg('id', () => ID) id: string): Promise<DeletedWebhook> {
    return deleteWebhook(ctx, { id });
  }

  @Mutation(() => RotatedWebhookSecret, { description: 'The old secret goes on signing beside the new one for a while.' })
  rotateWebhookSecret(@Ctx() ctx: Context, @Arg('id', () => ID) id: string): Promise<RotatedWebhookSecret> {
    return rotateWebhookSecret(ctx, { id });
  }

  @Mutation(() => WebhookDelivery, { description: 'Sends a message of the type webhook.test.' })
  testWebhook(@Ctx() ctx: Context, @Arg('id', () => ID) id: string): Promise<Delivery> {
    return testWebhook(ctx, { id });
  }

  @Mutation(() => WebhookDelivery, { description: 'Sends a message once more, under its old id.' })
  redeliverWebhook(@Ctx() ctx: Context, @Arg('id', () => ID) id: string, @Arg('deliveryId', () => ID) deliveryId: string): Promise<Delivery> {
    return redeliverWebhook(ctx, { id, deliveryId });
  }

  @Mutation(() => WebhookReplay, { description: 'Sends what happened since then and was never delivered, or all of it.' })
  replayWebhook(
    @Ctx() ctx: Context,
    @Arg('id', () => ID) id: string,
    @Arg('since', () => GraphQLISODateTime) since: Date,
    @Arg('all', () => Boolean, { nullable: true }) all: boolean | null,
  ): Promise<WebhookReplay> {
    return replayWebhook(ctx, { id, since, all });
  }
}
