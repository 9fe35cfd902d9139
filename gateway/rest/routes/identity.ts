import { z } from 'zod';
import { CreateApiKeyDocument, ListApiKeysDocument, ListWorkspacesDocument, RevokeApiKeyDocument } from '#schema/generated/documents.ts';
import { camelize, present } from '../present.ts';
import { route } from '../route.ts';
import { dateTime, page, pageQuery, pageVariables, presentPage, timestamp, word } from '../shapes.ts';

const level = z.enum(['read-only', 'read-write', 'admin']);

const apiKey = z.object({
  id: z.string(),
  name: z.string(),
  level,
  workspace_id: z.string(),
  prefix: z.string(),
  created_at: timestamp,
  expires_at: timestamp.nullable(),
});

const common = { area: 'base', tag: 'Identity', entrance: 'credential' } as const;

const upper = (value: z.output<typeof level>) => value.toUpperCase().replaceAll('-', '_') as 'READ_ONLY' | 'READ_WRITE' | 'ADMIN';

export const identityRoutes = [
  route({
    ...common,
    method: 'POST',
    path: '/v1/api-keys',
    summary: 'Create an API key; the key itself is shown in this answer only',
    document: CreateApiKeyDocument,
    body: z.strictObject({
      name: z.string(),
      level: z.enum(level.options, 'must be read-only, read-write or admin'),
      workspace_id: z.string().optional(),
      service_account: z.boolean().optional(),
      expires_at: dateTime.nullish(),
    }),
    variables: ({ body: { level: asked, ...rest } }) => ({ input: { ...camelize(rest), level: upper(asked) } }),
    status: 201,
    answer: apiKey.extend({ key: z.string() }),
    present: ({ createApiKey }) => ({ ...present(createApiKey), level: word(createApiKey.level), expires_at: createApiKey.expiresAt ?? null }),
  }),
  route({
    ...common,
    method: 'GET',
    path: '/v1/api-keys',
    summary: 'List the live keys that the credential manages',
    document: ListApiKeysDocument,
    query: pageQuery,
    variables: ({ query }) => pageVariables(query),
    status: 200,
    answer: page(apiKey.extend({ service_account: z.boolean() })),
    present: ({ apiKeys }) => ({
      data: apiKeys.edges.map(({ node }) => ({ ...present(node), level: word(node.level), expires_at: node.expiresAt ?? null })),
      ...presentPage(apiKeys),
    }),
  }),
  route({
    ...common,
    method: 'DELETE',
    path: '/v1/api-keys/:id',
    summary: 'Revoke a key, at once',
    document: RevokeApiKeyDocument,
    variables: ({ params }) => ({ id: params.id! }),
    status: 200,
    answer: z.object({ id: z.string(), status: z.literal('revoked'), revoked_at: timestamp }),
    present: ({ revokeApiKey }) => ({ ...present(revokeApiKey), status: 'revoked' as const }),
  }),
  route({
    ...common,
    method: 'GET',
    path: '/v1/workspaces',
    summary: 'List the workspaces that the credential reaches',
    document: ListWorkspacesDocument,
    query: pageQuery,
    variables: ({ query }) => pageVariables(query),
    status: 200,
    answer: page(z.object({ id: z.string(), name: z.string(), vault_id: z.string(), is_default: z.boolean(), created_at: timestamp })),
    present: ({ workspaces }) => ({
      data: workspaces.edges.map(({ node: { vault, ...rest } }) => present({ ...rest, vaultId: vault.id })),
      ...presentPage(workspaces),
    }),
  }),
];
