import { expect, test } from 'vitest';
import { LiveHub, Moment, topicOf } from '../../gateway/subscriptions/live-hub.ts';
import { LiveStream } from '../../gateway/subscriptions/live-stream.ts';

const numbered = (moments: Moment[]) => async (moment: Moment) => {
  moments.push(moment);
  return { result: { data: { number: moments.length } }, isLast: false };
};

test('of the events that a slow reader missed only the newest is answered', async () => {
  const answered: Moment[] = [];
  const stream = new LiveStream(numbered(answered), () => {});
  const moments = Array.from({ length: 100_000 }, () => new Moment());
  for (const moment of moments) stream.push(moment);
  expect((await stream.next()).value).toEqual({ data: { number: 1 } });
  expect(answered).toEqual([moments.at(-1)]);
});

test('a stream that waits is ended by return, and ends once', async () => {
  let ends = 0;
  const stream = new LiveStream(numbered([]), () => (ends += 1));
  const waiting = stream.next();
  await stream.return();
  await stream.return();
  expect(await waiting).toEqual({ value: undefined, done: true });
  stream.push(new Moment());
  expect(await stream.next()).toEqual({ value: undefined, done: true });
  expect(ends).toBe(1);
});

test('the last answer ends the stream, and so does a refusal', async () => {
  const last = new LiveStream(async () => ({ result: { data: null }, isLast: true }), () => {});
  last.push(new Moment());
  expect(await last.next()).toEqual({ value: { data: null }, done: false });
  expect(await last.next()).toEqual({ value: undefined, done: true });
  const refused = new LiveStream(async () => null, () => {});
  refused.push(new Moment());
  expect(await refused.next()).toEqual({ value: undefined, done: true });
});

test('the hub tells who named the subject, and forgets who left', () => {
  const hub = new LiveHub();
  const told: string[] = [];
  const leave = ['a', 'b', 'a'].map((id, index) => hub.subscribe(topicOf('memory.processed', id), { push: () => told.push(`${id}${index}`) }));
  expect(hub.size).toBe(3);
  hub.publish({ type: 'memory.processed', subject_ids: ['a', 'c'] });
  hub.publish({ type: 'memory.deleted', subject_ids: ['b'] });
  expect(told).toEqual(['a0', 'a2']);
  for (const one of leave) one();
  for (const one of leave) one();
  expect(hub.size).toBe(0);
  hub.publish({ type: 'memory.processed', subject_ids: ['a', 'b'] });
  expect(told).toHaveLength(2);
});

test('what is the same for several subscribers of one event is done once', async () => {
  const moment = new Moment();
  let made = 0;
  const make = async () => (made += 1);
  expect(await Promise.all([moment.once('x', make), moment.once('x', make), moment.once('y', make)])).toEqual([1, 1, 2]);
});
