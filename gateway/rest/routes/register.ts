import type { AnyRoute } from '../route.ts';
import { auditLogRoutes } from './audit-log.ts';
import { exportRoutes } from './exports.ts';
import { identityRoutes } from './identity.ts';
import { memoryRoutes } from './memory.ts';
import { signInRoutes } from './sign-in.ts';
import { webhookRoutes } from './webhooks.ts';

/** Every row of the REST contract, in the order of the interface. */
export const routes: readonly AnyRoute[] = [...memoryRoutes, ...identityRoutes, ...signInRoutes, ...auditLogRoutes, ...exportRoutes, ...webhookRoutes];
