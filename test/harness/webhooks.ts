import { expect } from 'vitest';
import { z } from 'zod';
import type { HttpClient } from './actors.ts';
import { eventually } from './eventually.ts';
import { expectBody, IsoUtc } from './shapes.ts';
import type { Arrival, Receiver } from './webhook-receiver.ts';

export const Webhook = z.strictObject({
  id: z.string().regex(/^whk_/),
  url: z.url(),
  description: z.string().nullable(),
  events: z.array(z.string()).min(1),
  scope: z.enum(['organization', 'vault', 'workspace']),
  state: z.enum(['enabled', 'disabled']),
  disabled_reason: z.enum(['owner', 'gone', 'failing']).nullable(),
  failing_since: IsoUtc.nullable(),
  created_at: IsoUtc,
});
export type Webhook = z.output<typeof Webhook>;

export const NewWebhook = Webhook.extend({ secret: z.string().regex(/^whsec_[A-Za-z0-9+/]+={0,2}$/) });
export type NewWebhook = z.output<typeof NewWebhook>;

export const Delivery = z.strictObject({
  id: z.string().regex(/^dlv_/),
  message_id: z.string().min(1),
  type: z.string(),
  state: z.enum(['pending', 'delivered', 'failed']),
  attempts: z.int().min(0),
  last_status: z.int().nullable(),
  last_error: z.string().nullable(),
  response_ms: z.int().min(0).nullable(),
  created_at: IsoUtc,
  next_attempt_at: IsoUtc.nullable(),
  delivered_at: IsoUtc.nullable(),
});
export type Delivery = z.output<typeof Delivery>;

const page = <Item extends z.ZodType>(item: Item) =>
  z.strictObject({ data: z.array(item), next_cursor: z.string().nullable(), prev_cursor: z.string().nullable(), has_more: z.boolean(), approximate_total: z.int().min(0) });
export const WebhookPage = page(Webhook);
export const DeliveryPage = page(Delivery);

export const createWebhook = async (client: HttpClient, { url }: Pick<Receiver, 'url'>, events: readonly string[] = ['*']): Promise<NewWebhook> =>
  expectBody(await client.post('/v1/webhooks', { url, events }), 201, NewWebhook);

export const getWebhook = async (client: HttpClient, id: string): Promise<Webhook> => expectBody(await client.get(`/v1/webhooks/${id}`), 200, Webhook);

export const deliveriesOf = async (client: HttpClient, id: string, query = ''): Promise<Delivery[]> =>
  expectBody(await client.get(`/v1/webhooks/${id}/deliveries${query}`), 200, DeliveryPage).data;

/** What the receiver was told of a subject, in the order of arrival, as soon as there are so many. */
export const toldOf = (receiver: Receiver, subjectId: string, count: number, timeoutMs?: number): Promise<Arrival[]> =>
  eventually(async () => {
    const told = receiver.arrivals.filter(({ body }) => body.data['id'] === subjectId);
    expect(told.length, JSON.stringify(told.map(({ body, status }) => [body.type, status]))).toBeGreaterThanOrEqual(count);
    return told;
  }, timeoutMs);

export const typesOf = (arrivals: readonly Arrival[]): string[] => arrivals.map(({ body }) => body.type);
