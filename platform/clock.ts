/** Where time comes from. Everything that asks for the time takes one of these, so that a test can turn it. */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };
