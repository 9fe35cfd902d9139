import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { validationError } from '#platform/errors.ts';
import { eventNames, everyEvent } from '#platform/webhooks/event-names.ts';
import { allowsPrivateTargets, refusalOfHost, refusalOfUrl } from '#platform/webhooks/target.ts';

const known: ReadonlySet<string> = new Set([...eventNames, everyEvent]);

/** What can be said of a webhook when it is made or changed. */
export const webhookInput = {
  url: z.string().min(1, 'must be an absolute URL').max(2000, 'must have at most 2000 characters'),
  events: z
    .array(z.string().refine((name) => known.has(name), `must be ${everyEvent} or one of ${eventNames.join(', ')}`))
    .min(1, `must name at least one event, or ${everyEvent}`)
    .refine((names) => !names.includes(everyEvent) || names.length === 1, `must be ["${everyEvent}"] alone, or names`)
    .refine((names) => new Set(names).size === names.length, 'must not name an event twice'),
  description: z.string().max(500, 'must have at most 500 characters').nullish(),
};

/** Refuses where no webhook may go. What a name means can change, so every delivery looks again. */
export async function checkTarget({ config }: Pick<Context, 'config'>, url: string): Promise<void> {
  const allowPrivate = allowsPrivateTargets(config);
  const refusal = refusalOfUrl(url, allowPrivate) ?? (allowPrivate ? null : await refusalOfHost(url));
  if (refusal !== null) throw validationError([{ path: 'url', message: refusal }]);
}
