import { defineJob } from '#platform/jobs/job.ts';
import { processInput } from './process-input.ts';

/** Makes new contents findable by their words. */
export const indexKeywords = defineJob({ name: 'memory.index-keywords', input: processInput });
