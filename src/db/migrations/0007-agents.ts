// Agents: registrations, proofs that were used, tokens, invitations of owners, and the appliance's own team beside the others.

import { statements } from '../migrate.ts'

export const agentTables = statements(
  7,
  'agents',
  `
ALTER TABLE teams ADD COLUMN kind TEXT NOT NULL DEFAULT 'team';
INSERT INTO teams (id, name, kind, created_at) VALUES ('team_appliance000000000000000', 'Mailstead', 'system', 0);

CREATE TABLE agent_registrations (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  team_id TEXT NOT NULL,
  mailbox_id TEXT NOT NULL UNIQUE,
  email TEXT NOT NULL,
  client_name TEXT,
  source BLOB,
  request_scope BLOB NOT NULL UNIQUE,
  state TEXT NOT NULL,
  claim_hash BLOB UNIQUE,
  claim_expires_at INTEGER,
  durable_hash BLOB UNIQUE,
  created_at INTEGER NOT NULL,
  provisioned_at INTEGER,
  last_used_at INTEGER,
  ended_at INTEGER,
  delete_at INTEGER
) STRICT;
CREATE INDEX agent_registrations_time ON agent_registrations (created_at);
CREATE INDEX agent_registrations_source ON agent_registrations (source, created_at) WHERE source IS NOT NULL;
CREATE INDEX agent_registrations_new ON agent_registrations (n) WHERE provisioned_at IS NULL;
CREATE INDEX agent_registrations_team ON agent_registrations (team_id);
CREATE INDEX agent_registrations_delete ON agent_registrations (delete_at) WHERE delete_at IS NOT NULL;
CREATE INDEX agent_registrations_claims ON agent_registrations (claim_expires_at) WHERE state IN ('unclaimed', 'invited');

CREATE TABLE agent_proofs (
  nonce BLOB PRIMARY KEY,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX agent_proofs_age ON agent_proofs (expires_at);

CREATE TABLE agent_tokens (
  hash BLOB PRIMARY KEY,
  registration INTEGER NOT NULL REFERENCES agent_registrations(n),
  audience TEXT NOT NULL,
  scope TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX agent_tokens_registration ON agent_tokens (registration);
CREATE INDEX agent_tokens_age ON agent_tokens (expires_at);

CREATE TABLE agent_keys (
  kid TEXT PRIMARY KEY,
  public TEXT NOT NULL,
  private_sealed BLOB NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE agent_sends (
  registration INTEGER NOT NULL,
  hour INTEGER NOT NULL,
  recipients INTEGER NOT NULL,
  PRIMARY KEY (registration, hour)
) STRICT, WITHOUT ROWID;

CREATE TABLE agent_switches (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE owner_invites (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  registration INTEGER NOT NULL REFERENCES agent_registrations(n),
  email TEXT NOT NULL,
  token_hash BLOB NOT NULL UNIQUE,
  state TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  decided_at INTEGER
) STRICT;
CREATE INDEX owner_invites_registration ON owner_invites (registration, n);
CREATE INDEX owner_invites_email ON owner_invites (email, n);
CREATE INDEX owner_invites_live ON owner_invites (expires_at) WHERE state = 'pending';

CREATE TABLE invite_dispatches (
  n INTEGER PRIMARY KEY,
  registration INTEGER NOT NULL,
  email TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX invite_dispatches_registration ON invite_dispatches (registration, at);
CREATE INDEX invite_dispatches_email ON invite_dispatches (email, at);
CREATE INDEX invite_dispatches_time ON invite_dispatches (at);

CREATE INDEX deliveries_waiting ON deliveries (mailbox_id, n) WHERE status = 'pending' AND mailbox_id IS NOT NULL;

CREATE TABLE invite_opt_outs (
  email TEXT PRIMARY KEY,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`,
)
