import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { validationError } from '#platform/errors.ts';
import { newId } from '#platform/ids.ts';
import { command } from '#platform/operation.ts';
import type { Principal } from '#platform/principal.ts';
import { isArchitect, workspacesWith } from '#platform/principal.ts';
import { newSecret, secretText } from '#platform/webhooks/signature.ts';
import { WebhookScope } from '#platform/webhooks/webhook.ts';
import type { Webhook } from '#platform/webhooks/webhook.ts';
import type { NewWebhook } from '#platform/webhooks/webhooks.ts';
import { insertWebhook, webhooksMax } from '#platform/webhooks/webhooks.ts';
import { checkTarget, webhookInput } from '../webhook-input.ts';

/** What creation answers: the only time that the secret is seen, until it is rotated. */
export interface WebhookReceipt extends Webhook {
  readonly secret: string;
}

export const createWebhook = command({
  name: 'createWebhook',
  requires: 'vaultAdmin',
  input: z.strictObject(webhookInput),
  prepare: (ctx: Context, { url }) => checkTarget(ctx, url),
  run: async (ctx: Context, { url, events, description }): Promise<WebhookReceipt> => {
    const principal = ctx.principal!;
    const secret = newSecret();
    const webhook = await insertWebhook(ctx.em, {
      ...scopeOf(principal),
      id: newId('webhook'),
      organizationId: principal.organizationId,
      url,
      events,
      description: description ?? null,
      secret,
      createdBy: principal.userId ?? principal.credentialId,
      createdAt: ctx.clock.now(),
    });
    if (webhook === null) throw validationError([{ path: '', message: `an organization has at most ${webhooksMax} webhooks` }]);
    return { ...webhook, secret: secretText(secret) };
  },
});

/** What a webhook hears of follows from who makes it: an Architect, an admin key, or an Admin of a workspace. */
function scopeOf(principal: Principal): Pick<NewWebhook, 'scope' | 'vaultId' | 'workspaceId'> {
  if (isArchitect(principal)) return { scope: WebhookScope.ORGANIZATION, vaultId: null, workspaceId: null };
  const { vaultId } = principal;
  if (principal.kind === 'api_key') return { scope: WebhookScope.VAULT, vaultId, workspaceId: null };
  const administered = workspacesWith(principal, 'admin');
  return { scope: WebhookScope.WORKSPACE, vaultId, workspaceId: administered.includes(principal.workspaceId) ? principal.workspaceId : administered[0]! };
}
