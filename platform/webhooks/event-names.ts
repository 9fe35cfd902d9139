/**
 * Every event that a webhook can listen for: interface 6, decisions 12, and `webhook.disabled`, by which the organization
 * learns that one of its webhooks was given up.
 */
export const eventNames = [
  'memory.stored',
  'memory.processed',
  'memory.deleted',
  'memory.archived',
  'extension.installed',
  'extension.updated',
  'extension.uninstalled',
  'extension.health_changed',
  'subscription.created',
  'subscription.canceled',
  'learn.enrolled',
  'learn.lesson_completed',
  'learn.course_completed',
  'learn.exam_passed',
  'learn.exam_failed',
  'learn.certification_issued',
  'growth.reward_fulfilled',
  'growth.reward_failed',
  'growth.badge_awarded',
  'growth.loop_propagated',
  'webhook.disabled',
] as const;

/** In place of names: all of them. */
export const everyEvent = '*';
