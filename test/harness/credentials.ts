/** DATA_DIR/credentials.json (decisions §2). */
export interface Credentials {
  readonly base_url: string;
  readonly organization_id: string;
  readonly vault_id: string;
  readonly workspace_id: string;
  readonly workspaces: { readonly default: string; readonly research: string };
  readonly oauth_client: { readonly client_id: string; readonly redirect_uri: string };
  readonly api_keys: { readonly read_only: string; readonly read_write: string; readonly admin: string };
  readonly service_account_key: string;
  readonly publisher_token: string;
  readonly users: Readonly<Record<Role, DemoUser>>;
  readonly other_tenant: {
    readonly organization_id: string;
    readonly api_keys: { readonly read_write: string; readonly admin: string };
    readonly users: Readonly<Record<Role, DemoUser>>;
  };
}

export const roles = ['sovereign', 'architect', 'admin', 'editor', 'viewer', 'learner'] as const;
export type Role = (typeof roles)[number];

export interface DemoUser {
  readonly id: string;
  readonly numeric_id: number;
  readonly email: string;
  readonly password: string;
  readonly totp_secret?: string;
  readonly session_token: string;
}
