import { z } from 'zod';
import { defineJob } from '../jobs/job.ts';

const input = z.object({ exportId: z.string() });

/** An area's part of a full export. The handler counts its attempts itself, across crashes; a run may take hours. */
export const exportJobOf = (area: string) => defineJob({ name: `${area}.export`, input, retryLimit: 2 ** 31 - 1, expireInSeconds: 43_200 });
