/** The part of DATA_DIR/credentials.json (decisions §2) that these tests rely on. */
export interface Credentials {
  readonly base_url: string;
  readonly organization_id: string;
  readonly vault_id: string;
  readonly workspace_id: string;
  readonly workspaces: { readonly default: string; readonly research: string };
  readonly oauth_client: { readonly client_id: string; readonly redirect_uri: string };
  readonly api_keys: { readonly read_only: string; readonly read_write: string; readonly admin: string };
  readonly other_tenant: {
    readonly organization_id: string;
    readonly api_keys: { readonly read_write: string; readonly admin: string };
  };
}
