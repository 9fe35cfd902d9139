import { z } from 'zod';

/** Both processing jobs name objects; what is done with them depends on their content at that moment. */
export const processInput = z.strictObject({ ids: z.array(z.string()).min(1) });
