import { expect } from 'vitest';
import { z } from 'zod';
import { as, withKey } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { sharedServer } from '../harness/shared-server.ts';
import { expectBody, expectError, expectInvalid } from '../harness/shapes.ts';
import { uniqueWord } from '../harness/words.ts';

const server = sharedServer();
const learner = as(server, 'learner_user');

const Publisher = z.strictObject({ id: z.string().startsWith('pub_'), slug: z.string(), name: z.string(), token: z.string().regex(/^qp_[A-Za-z0-9_-]{43}$/) });

clause('PUBLISHER-001', 'decisions §3: POST /api/publishers by a signed-in user answers id, slug, name and token', async () => {
  const slug = uniqueWord();
  const made = expectBody(await learner.post('/api/publishers', { name: 'A Publisher', slug }), 201, Publisher);
  expect(made).toMatchObject({ slug, name: 'A Publisher' });
  expectError(await as(server, 'other_learner_user').post('/api/publishers', { name: 'Another', slug }), 409, 'already_exists');
});

clause('PUBLISHER-002', 'decisions §3: only a session makes a publisher', async () => {
  const body = { name: 'Never', slug: uniqueWord() };
  expectError(await as(server, 'nobody').post('/api/publishers', body), 401, 'unauthenticated');
  for (const actor of ['admin', 'publisher'] as const) expectError(await as(server, actor).post('/api/publishers', body), 403, 'permission_denied');
});

clause('PUBLISHER-003', 'decisions §3: a publisher token is a credential that reaches no memory and no session', async () => {
  for (const token of [server.credentials.publisher_token, expectBody(await learner.post('/api/publishers', { name: 'Reach', slug: uniqueWord() }), 201, Publisher).token]) {
    const publisher = withKey(server, token);
    expectError(await publisher.get('/v1/memory'), 403, 'permission_denied');
    expectError(await publisher.get('/v1/api-keys'), 403, 'permission_denied');
    expectError(await publisher.get('/auth/sessions/current'), 403, 'permission_denied');
  }
  expectError(await withKey(server, `qp_${'A'.repeat(43)}`).get('/v1/memory'), 401, 'unauthenticated');
});

clause('PUBLISHER-004', 'decisions §4: bad input names the path at fault', async () => {
  for (const slug of ['', 'With Space', 'UPPER', '-a', 'a-', 'a'.repeat(41), 'ü']) expectInvalid(await learner.post('/api/publishers', { name: 'x', slug }), 'slug');
  expectInvalid(await learner.post('/api/publishers', { slug: uniqueWord() }), 'name');
});

clause('PUBLISHER-005', 'decisions §6: the token is replayed whole under its Idempotency-Key', async () => {
  const headers = { 'idempotency-key': uniqueWord() };
  const body = { name: 'Once', slug: uniqueWord() };
  const first = await learner.post('/api/publishers', body, headers);
  const again = await learner.post('/api/publishers', body, headers);
  expect(again.text).toBe(first.text);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
});
