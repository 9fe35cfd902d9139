import type { EntityManager } from '@mikro-orm/core';
import { query } from '#platform/database/query.ts';
import { newId } from '#platform/ids.ts';

export interface DemoOauthClient {
  readonly client_id: string;
  readonly redirect_uri: string;
}

/** A native application of the demo organization: public, with a loopback address whose port is free (RFC 8252). */
export async function createDemoOauthClient(em: EntityManager, organizationId: string, now: Date): Promise<DemoOauthClient> {
  const clientId = newId('oauthClient');
  const redirectUri = 'http://127.0.0.1:8910/callback';
  const metadata = {
    client_id: clientId,
    client_id_issued_at: Math.floor(now.getTime() / 1000),
    client_name: 'Demo Application',
    application_type: 'native',
    redirect_uris: [redirectUri],
    organization_id: organizationId,
  };
  await query(em, "insert into identity.oauth_record (model, id, payload) values ('Client', $1, $2)", [clientId, JSON.stringify(metadata)]);
  return { client_id: clientId, redirect_uri: redirectUri };
}
