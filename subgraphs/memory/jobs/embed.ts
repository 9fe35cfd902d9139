import { defineJob } from '#platform/jobs/job.ts';
import { processInput } from './process-input.ts';

/** Makes new contents findable by their meaning, and finds the entities in them. */
export const embed = defineJob({ name: 'memory.embed', input: processInput });
