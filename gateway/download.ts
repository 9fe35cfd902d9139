import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Config } from '#platform/config.ts';
import { notFound } from '#platform/errors.ts';
import { openArchive } from '#platform/exports/download.ts';
import type { Process } from '#platform/process.ts';
import { hostGuard } from './rest/mount.ts';

const params = z.object({ job_id: z.string() });
const query = z.object({ token: z.string().catch('') });

/** The one answer that is no JSON: an archive, streamed from the database to whoever holds its address. */
export function mountDownload(http: FastifyInstance, { platform, database }: Process, config: Config): void {
  const refuseForeignHost = hostGuard(config);
  http.get('/api/exports/:job_id/download', async (request, reply) => {
    refuseForeignHost('base', request);
    const id = params.parse(request.params).job_id;
    const archive = await openArchive(platform, database, id, query.parse(request.query).token);
    if (!archive) throw notFound('export', id);
    return reply
      .type('application/gzip')
      .headers({ 'content-length': archive.byteSize, 'content-disposition': `attachment; filename="${id}.tar.gz"`, 'cache-control': 'no-store' })
      .send(Readable.from(archive.bytes));
  });
}
