import { z } from 'zod';
import { GetExportDocument, StartFullExportDocument } from '#schema/generated/documents.ts';
import { route } from '../route.ts';
import { timestamp, word } from '../shapes.ts';

const common = { area: 'base', tag: 'Exports', entrance: 'credential' } as const;

const job = z.object({ id: z.string(), state: z.enum(['queued', 'running', 'succeeded', 'failed']) });

export const exportRoutes = [
  route({
    ...common,
    method: 'POST',
    path: '/api/exports/full',
    summary: 'Start a full export of the organization; needs an Architect or an admin key',
    document: StartFullExportDocument,
    variables: () => ({}),
    status: 201,
    answer: job,
    present: ({ startFullExport: { id, state } }) => ({ id, state: word(state) }),
  }),
  route({
    ...common,
    method: 'GET',
    path: '/api/exports/:job_id',
    summary: 'How far an export has come, and where to download it',
    document: GetExportDocument,
    variables: ({ params }) => ({ id: params.job_id! }),
    status: 200,
    answer: job.extend({
      progress: z.number().min(0).max(1),
      download_url: z.url().optional().describe('A .tar.gz of JSON Lines. Needs no credential: whoever has the address can read it, until expires_at.'),
      expires_at: timestamp.nullable().describe('null until the export has succeeded'),
    }),
    present: ({ export: { id, state, progress, downloadPath, expiresAt } }, _request, origin) => ({
      id,
      state: word(state),
      progress,
      ...(downloadPath != null && { download_url: `${origin()}${downloadPath}` }),
      expires_at: expiresAt ?? null,
    }),
  }),
];
