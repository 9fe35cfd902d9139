import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { Sender } from '#platform/webhooks/send.ts';
import { publicLookup, refusalOfAddress, refusalOfHost, refusalOfUrl } from '#platform/webhooks/target.ts';
import type { Resolve } from '#platform/webhooks/target.ts';

const answering = (...answers: string[][]): Resolve & { asked: number } => {
  const resolve = async () => (answers[Math.min((resolve.asked += 1), answers.length) - 1] ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  resolve.asked = 0;
  return resolve;
};

it.each(['8.8.8.8', '1.1.1.1', '2606:4700::1111', '::ffff:8.8.8.8', '64:ff9b::808:808', '2002:808:808::1'])('lets %s pass', (address) => {
  expect(refusalOfAddress(address)).toBeNull();
});

it.each([
  ['127.0.0.1', 'loopback'], ['10.0.0.1', 'private'], ['172.31.255.255', 'private'], ['192.168.0.1', 'private'], ['169.254.169.254', 'linkLocal'], ['100.64.0.1', 'carrierGradeNat'],
  ['0.0.0.0', 'unspecified'], ['0.1.2.3', 'unspecified'], ['255.255.255.255', 'broadcast'], ['224.0.0.1', 'multicast'], ['240.0.0.1', 'reserved'], ['192.0.2.1', 'reserved'],
  ['::', 'unspecified'], ['::1', 'loopback'], ['::7f00:1', 'reserved'], ['fe80::1', 'linkLocal'], ['fec0::1', 'deprecatedSiteLocal'], ['fc00::1', 'uniqueLocal'], ['ff02::1', 'multicast'],
  ['2001:db8::1', 'reserved'], ['2001:0:1::1', 'teredo'], ['64:ff9b:1::1', 'rfc6052'], ['::ffff:0:7f00:1', 'rfc6145'], ['5f00::1', 'segmentRouting'],
  // The IPv4 address that stands in it.
  ['::ffff:127.0.0.1', 'loopback'], ['::ffff:10.0.0.1', 'private'], ['64:ff9b::10.0.0.1', 'private'], ['2002:7f00:1::', 'loopback'], ['2002:c0a8:1::1', 'private'],
])('refuses %s as %s', (address, range) => {
  expect(refusalOfAddress(address)).toContain(`(${range})`);
});

it.each(['http://8.8.8.8', 'https://user@8.8.8.8', 'https://0x7f.1', 'https://2130706433', 'https://[::ffff:127.0.0.1]', 'https://①②⑦.0.0.1', 'file:///etc/passwd', 'nowhere'])('refuses the URL %s', (url) => {
  expect(refusalOfUrl(url, false)).not.toBeNull();
});

it('leaves the host to those who may call themselves', () => {
  expect(refusalOfUrl('http://127.0.0.1:9', true)).toBeNull();
  expect(refusalOfUrl('ftp://127.0.0.1:9', true)).not.toBeNull();
});

it('refuses a name when any of its addresses is not public', async () => {
  expect(await refusalOfHost('https://mixed.example', answering(['8.8.8.8', '10.0.0.1']))).toBe('mixed.example resolves to 10.0.0.1 is not a public address (private)');
  expect(await refusalOfHost('https://public.example', answering(['8.8.8.8', '2606:4700::1111']))).toBeNull();
});

it('hands the socket the very addresses that it judged, with one look', async () => {
  const resolve = answering(['8.8.8.8', '1.1.1.1'], ['127.0.0.1']);
  const found = await new Promise((done) => publicLookup(resolve)('rebinding.example', { all: true }, (error, addresses) => done([error, addresses])));
  expect(found).toEqual([null, [{ address: '8.8.8.8', family: 4 }, { address: '1.1.1.1', family: 4 }]]);
  expect(resolve.asked).toBe(1);
  const second = await new Promise((done) => publicLookup(resolve)('rebinding.example', { all: true }, (error) => done(error?.message)));
  expect(second).toContain('127.0.0.1 is not a public address');
});

const outgoing = { messageId: 'evt_1', body: '{}', secrets: [Buffer.alloc(32)] };
const never = new AbortController().signal;

it('never connects to a private address, though the name was public when the webhook was made', async () => {
  let requests = 0;
  const server = createServer((_request, response) => response.end(String((requests += 1)))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const resolve = answering(['8.8.8.8'], ['127.0.0.1']);
  expect(await refusalOfHost('https://rebinding.example', resolve)).toBeNull();
  const sender = new Sender({ timeoutMs: 2_000, allowPrivate: false, resolve });
  const attempt = await sender.send({ ...outgoing, url: `https://rebinding.example:${port}/` }, new Date(), never);
  expect(attempt).toMatchObject({ status: null, error: expect.stringMatching(/^refused: .*127\.0\.0\.1 is not a public address/) });
  // A literal address is never looked up, so it is judged by itself.
  expect(await sender.send({ ...outgoing, url: `https://127.0.0.1:${port}/` }, new Date(), never)).toMatchObject({ status: null, error: expect.stringMatching(/^refused: /) });
  expect(await sender.send({ ...outgoing, url: `http://127.0.0.1:${port}/` }, new Date(), never)).toMatchObject({ status: null, error: expect.stringMatching(/^refused: /) });
  expect(requests).toBe(0);
  await sender.close();
  server.close();
});
