// Teams, keys, domains, mailboxes and their rules.

import { statements } from '../migrate.ts'

export const directoryTables = statements(
  1,
  'directory',
  `
CREATE TABLE teams (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  suspended_at INTEGER,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE keys (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  team_id TEXT NOT NULL REFERENCES teams(id),
  mailbox_id TEXT,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  role TEXT,
  permissions TEXT,
  hash BLOB NOT NULL UNIQUE,
  previous_hash BLOB,
  previous_until INTEGER,
  prefix TEXT NOT NULL,
  last4 TEXT NOT NULL,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  last_used_at INTEGER,
  revoked_at INTEGER
) STRICT;
CREATE INDEX keys_previous ON keys (previous_hash) WHERE previous_hash IS NOT NULL;
CREATE INDEX keys_mailbox ON keys (mailbox_id, created_at DESC, n DESC) WHERE mailbox_id IS NOT NULL;
CREATE INDEX keys_team ON keys (team_id, created_at DESC, n DESC);

CREATE TABLE domains (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  team_id TEXT NOT NULL REFERENCES teams(id),
  name TEXT NOT NULL,
  verification_status TEXT NOT NULL,
  verification_token TEXT NOT NULL,
  ses_dkim_status TEXT NOT NULL DEFAULT 'not_started',
  dkim_selector TEXT NOT NULL,
  dkim_public TEXT NOT NULL,
  dkim_private_sealed BLOB NOT NULL,
  dkim_ok INTEGER NOT NULL DEFAULT 0,
  receives INTEGER NOT NULL DEFAULT 0,
  missing_days INTEGER NOT NULL DEFAULT 0,
  verified_at INTEGER,
  next_check_at INTEGER,
  created_at INTEGER NOT NULL,
  UNIQUE (team_id, name)
) STRICT;
CREATE UNIQUE INDEX domains_receiving ON domains (name) WHERE receives = 1;
CREATE INDEX domains_name ON domains (name);
CREATE INDEX domains_due ON domains (next_check_at) WHERE next_check_at IS NOT NULL;
CREATE INDEX domains_team ON domains (team_id, created_at DESC, n DESC);

CREATE TABLE mailboxes (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  team_id TEXT NOT NULL REFERENCES teams(id),
  domain_id TEXT NOT NULL,
  email TEXT NOT NULL,
  display_name TEXT,
  search_text TEXT NOT NULL,
  quota_bytes INTEGER NOT NULL,
  send_scope TEXT NOT NULL,
  status TEXT NOT NULL,
  status_reason TEXT,
  is_agent INTEGER NOT NULL DEFAULT 0,
  agent_registration_id TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  suspended_at INTEGER,
  deleted_at INTEGER
) STRICT;
CREATE UNIQUE INDEX mailboxes_address ON mailboxes (domain_id, email) WHERE status <> 'deleted';
CREATE INDEX mailboxes_domain ON mailboxes (domain_id, status);
CREATE INDEX mailboxes_team ON mailboxes (team_id, created_at DESC, n DESC);

CREATE TABLE filters (
  owner_id TEXT PRIMARY KEY,
  mode TEXT NOT NULL,
  rules TEXT NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE replays (
  scope TEXT PRIMARY KEY,
  fingerprint BLOB NOT NULL,
  state TEXT NOT NULL,
  status INTEGER,
  body BLOB,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX replays_expiry ON replays (expires_at);

CREATE TABLE rate_counts (
  subject TEXT PRIMARY KEY,
  window_start INTEGER NOT NULL,
  count INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`,
)
