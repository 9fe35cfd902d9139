import { z } from 'zod';
import {
  CreateWebhookDocument,
  DeleteWebhookDocument,
  GetWebhookDocument,
  ListWebhookDeliveriesDocument,
  ListWebhooksDocument,
  RedeliverWebhookDocument,
  ReplayWebhookDocument,
  RotateWebhookSecretDocument,
  TestWebhookDocument,
  UpdateWebhookDocument,
} from '#schema/generated/documents.ts';
import type { GetWebhookQuery, TestWebhookMutation } from '#schema/generated/documents.ts';
import { eventNames, everyEvent } from '#platform/webhooks/event-names.ts';
import { present } from '../present.ts';
import { route } from '../route.ts';
import { dateTime, page, pageQuery, pageVariables, presentPage, timestamp, word } from '../shapes.ts';

const state = z.enum(['enabled', 'disabled'], 'must be enabled or disabled');

const webhook = z.object({
  id: z.string(),
  url: z.string(),
  description: z.string().nullable(),
  events: z.array(z.string()),
  scope: z.enum(['organization', 'vault', 'workspace']).describe("an Architect's webhook hears of the organization, an admin key's of its vault, a workspace Admin's of the workspace"),
  state,
  disabled_reason: z.enum(['owner', 'gone', 'failing']).nullable().describe('gone: the receiver answered 410; failing: without a success for 5 days'),
  failing_since: timestamp.nullable().describe('null while deliveries succeed'),
  created_at: timestamp,
});

const deliveryState = z.enum(['pending', 'delivered', 'failed'], 'must be pending, delivered or failed');

const delivery = z.object({
  id: z.string(),
  message_id: z.string().describe('the header webhook-id; the same for every repetition'),
  type: z.string(),
  state: deliveryState,
  attempts: z.int().describe('since it was last asked for'),
  last_status: z.int().nullable(),
  last_error: z.string().nullable(),
  response_ms: z.int().nullable(),
  created_at: timestamp,
  next_attempt_at: timestamp.nullable(),
  delivered_at: timestamp.nullable(),
});

const url = z.string().describe('https, reachable from the public internet; redirects are not followed.');
const events = z.array(z.string()).describe(`["${everyEvent}"], or names of: ${eventNames.join(', ')}.`);
const description = z.string().nullish();

const presentWebhook = ({ disabledReason, ...rest }: GetWebhookQuery['webhook']) => ({
  ...present(rest),
  description: rest.description ?? null,
  scope: word(rest.scope),
  state: word(rest.state),
  disabled_reason: disabledReason == null ? null : word(disabledReason),
  failing_since: rest.failingSince ?? null,
});

const presentDelivery = (given: TestWebhookMutation['testWebhook']) => ({
  ...present(given),
  state: word(given.state),
  last_status: given.lastStatus ?? null,
  last_error: given.lastError ?? null,
  response_ms: given.responseMs ?? null,
  next_attempt_at: given.nextAttemptAt ?? null,
  delivered_at: given.deliveredAt ?? null,
});

const upper = <Word extends string>(given: Word) => given.toUpperCase() as Uppercase<Word>;

const common = { area: 'base', tag: 'Webhooks', entrance: 'credential' } as const;

export const webhookRoutes = [
  route({
    ...common,
    method: 'POST',
    path: '/v1/webhooks',
    summary: 'Create a webhook; the secret that it signs with is shown in this answer only. An organization has at most 100',
    document: CreateWebhookDocument,
    body: z.strictObject({ url, events, description }),
    variables: ({ body }) => ({ input: body }),
    status: 201,
    answer: webhook.extend({ secret: z.string().describe('whsec_…, for Standard Webhooks 1.0') }),
    present: ({ createWebhook: { secret, ...rest } }) => ({ ...presentWebhook(rest), secret }),
  }),
  route({
    ...common,
    method: 'GET',
    path: '/v1/webhooks',
    summary: 'List the webhooks that the credential manages, newest first',
    document: ListWebhooksDocument,
    query: pageQuery,
    variables: ({ query }) => pageVariables(query),
    status: 200,
    answer: page(webhook),
    present: ({ webhooks }) => ({ data: webhooks.edges.map(({ node }) => presentWebhook(node)), ...presentPage(webhooks) }),
  }),
  route({
    ...common,
    method: 'GET',
    path: '/v1/webhooks/:id',
    summary: 'Get one webhook',
    document: GetWebhookDocument,
    variables: ({ params }) => ({ id: params.id! }),
    status: 200,
    answer: webhook,
    present: ({ webhook: found }) => presentWebhook(found),
  }),
  route({
    ...common,
    method: 'PATCH',
    path: '/v1/webhooks/:id',
    summary: 'Change a webhook, disable it, or enable it again',
    document: UpdateWebhookDocument,
    body: z.strictObject({ url: url.optional(), events: events.optional(), description, state: state.optional() }),
    variables: ({ params, body: { state: asked, ...rest } }) => ({ input: { ...rest, id: params.id!, ...(asked && { state: upper(asked) }) } }),
    status: 200,
    answer: webhook,
    present: ({ updateWebhook }) => presentWebhook(updateWebhook),
  }),
  route({
    ...common,
    method: 'DELETE',
    path: '/v1/webhooks/:id',
    summary: 'Delete a webhook; what is on its way to it is not sent any more',
    document: DeleteWebhookDocument,
    variables: ({ params }) => ({ id: params.id! }),
    status: 200,
    answer: z.object({ id: z.string(), status: z.literal('deleted'), deleted_at: timestamp }),
    present: ({ deleteWebhook }) => ({ ...present(deleteWebhook), status: 'deleted' as const }),
  }),
  route({
    ...common,
    method: 'POST',
    path: '/v1/webhooks/:id/rotate-secret',
    summary: 'Give a webhook a new secret; the old one signs beside it for a day',
    document: RotateWebhookSecretDocument,
    variables: ({ params }) => ({ id: params.id! }),
    status: 200,
    answer: z.object({ id: z.string(), secret: z.string(), old_secret_until: timestamp }),
    present: ({ rotateWebhookSecret }) => present(rotateWebhookSecret),
  }),
  route({
    ...common,
    method: 'POST',
    path: '/v1/webhooks/:id/test',
    summary: 'Send a message of the type webhook.test',
    document: TestWebhookDocument,
    variables: ({ params }) => ({ id: params.id! }),
    status: 200,
    answer: delivery,
    present: ({ testWebhook }) => presentDelivery(testWebhook),
  }),
  route({
    ...common,
    method: 'GET',
    path: '/v1/webhooks/:id/deliveries',
    summary: 'List the deliveries of a webhook, newest first; 50 a page, at most 1000',
    document: ListWebhookDeliveriesDocument,
    query: pageQuery.extend({ state: deliveryState.optional() }),
    variables: ({ params, query: { state: asked, ...rest } }) => ({ ...pageVariables(rest), id: params.id!, state: asked === undefined ? null : upper(asked) }),
    status: 200,
    answer: page(delivery),
    present: ({ webhookDeliveries }) => ({ data: webhookDeliveries.edges.map(({ node }) => presentDelivery(node)), ...presentPage(webhookDeliveries) }),
  }),
  route({
    ...common,
    method: 'POST',
    path: '/v1/webhooks/:id/deliveries/:delivery_id/redeliver',
    summary: 'Send a message once more, now, under its old webhook-id',
    document: RedeliverWebhookDocument,
    variables: ({ params }) => ({ id: params.id!, deliveryId: params.delivery_id! }),
    status: 200,
    answer: delivery,
    present: ({ redeliverWebhook }) => presentDelivery(redeliverWebhook),
  }),
  route({
    ...common,
    method: 'POST',
    path: '/v1/webhooks/:id/replay',
    summary: 'Send what happened since then and was never delivered to this webhook, or all of it; it is queued in the background',
    document: ReplayWebhookDocument,
    body: z.strictObject({ since: dateTime, all: z.boolean().optional() }),
    variables: ({ params, body: { since, all } }) => ({ id: params.id!, since, all: all ?? null }),
    status: 200,
    answer: z.object({ id: z.string(), since: timestamp, all: z.boolean() }),
    present: ({ replayWebhook }) => present(replayWebhook),
  }),
];
