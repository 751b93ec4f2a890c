// Sending: accounts and groups, the queue, the log of deliveries, and who gets no more mail.

import { statements } from '../migrate.ts'

export const outboundTables = statements(
  3,
  'outbound',
  `
CREATE TABLE providers (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  team_id TEXT NOT NULL REFERENCES teams(id),
  name TEXT NOT NULL,
  type TEXT NOT NULL,
  status TEXT NOT NULL,
  status_reason TEXT,
  is_shared INTEGER NOT NULL DEFAULT 0,
  smtp_host TEXT,
  smtp_port INTEGER,
  smtp_protocol TEXT,
  smtp_username TEXT,
  smtp_password_sealed BLOB,
  from_email TEXT,
  from_name TEXT,
  reply_to_email TEXT,
  reply_to_name TEXT,
  oauth_email TEXT,
  refresh_token_sealed BLOB,
  quotas TEXT NOT NULL,
  percentage INTEGER,
  tracking_domain TEXT,
  connection_version INTEGER NOT NULL DEFAULT 1,
  failures INTEGER NOT NULL DEFAULT 0,
  checked_ok_at INTEGER,
  check_due_at INTEGER,
  check_wait_ms INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  last_tested_at INTEGER,
  last_used_at INTEGER
) STRICT;
CREATE INDEX providers_team ON providers (team_id, created_at DESC, n DESC);
CREATE INDEX providers_due ON providers (check_due_at) WHERE check_due_at IS NOT NULL;
CREATE UNIQUE INDEX providers_shared ON providers (team_id) WHERE is_shared = 1;

CREATE TABLE quota_counts (
  provider INTEGER NOT NULL,
  window TEXT NOT NULL,
  start INTEGER NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (provider, window)
) STRICT, WITHOUT ROWID;

CREATE TABLE oauth_states (
  hash BLOB PRIMARY KEY,
  team_id TEXT NOT NULL,
  type TEXT NOT NULL,
  name TEXT NOT NULL,
  verifier_sealed BLOB NOT NULL,
  redirect_after TEXT,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_states_end ON oauth_states (expires_at);

CREATE TABLE delivery_groups (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  team_id TEXT NOT NULL REFERENCES teams(id),
  name TEXT NOT NULL,
  strategy TEXT NOT NULL,
  turn INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (team_id, name)
) STRICT;
CREATE INDEX delivery_groups_team ON delivery_groups (team_id, created_at DESC, n DESC);

CREATE TABLE delivery_group_members (
  delivery_group INTEGER NOT NULL,
  position INTEGER NOT NULL,
  provider_id TEXT NOT NULL,
  weight INTEGER,
  PRIMARY KEY (delivery_group, provider_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX delivery_group_members_provider ON delivery_group_members (provider_id);

CREATE TABLE shared_limits (
  team_id TEXT PRIMARY KEY,
  enabled INTEGER NOT NULL,
  daily_limit INTEGER,
  day INTEGER NOT NULL DEFAULT 0,
  taken_count INTEGER NOT NULL DEFAULT 0,
  sent_count INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE limit_requests (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  team_id TEXT NOT NULL,
  status TEXT NOT NULL,
  reason TEXT,
  requested_daily_limit INTEGER,
  current_daily_limit INTEGER NOT NULL,
  current_daily_sent INTEGER NOT NULL,
  approved_daily_limit INTEGER,
  decision_note TEXT,
  created_at INTEGER NOT NULL,
  decided_at INTEGER
) STRICT;
CREATE INDEX limit_requests_age ON limit_requests (created_at DESC, n DESC);
CREATE INDEX limit_requests_team ON limit_requests (team_id, created_at DESC, n DESC);
CREATE UNIQUE INDEX limit_requests_pending ON limit_requests (team_id) WHERE status = 'pending';

CREATE TABLE emails (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  team_id TEXT NOT NULL,
  mailbox_id TEXT,
  domain_id TEXT,
  source TEXT NOT NULL,
  scope TEXT NOT NULL,
  from_email TEXT NOT NULL,
  from_name TEXT NOT NULL,
  return_path TEXT,
  subject TEXT NOT NULL,
  internet_message_id TEXT NOT NULL,
  blob BLOB,
  size_bytes INTEGER NOT NULL,
  open_deliveries INTEGER NOT NULL,
  queued_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX emails_blob ON emails (blob) WHERE blob IS NOT NULL;

CREATE TABLE deliveries (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  email INTEGER NOT NULL REFERENCES emails(n),
  team_id TEXT NOT NULL,
  mailbox_id TEXT,
  to_email TEXT NOT NULL,
  domain TEXT NOT NULL,
  provider_id TEXT,
  provider_name TEXT,
  sent_from_email TEXT NOT NULL,
  status TEXT NOT NULL,
  status_reason TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  sent_at INTEGER,
  delay_told_at INTEGER,
  notice_due INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  words TEXT NOT NULL,
  timeline TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX deliveries_email ON deliveries (email);
CREATE INDEX deliveries_team ON deliveries (team_id, created_at DESC, n DESC);
CREATE INDEX deliveries_mailbox ON deliveries (mailbox_id, created_at DESC, n DESC) WHERE mailbox_id IS NOT NULL;
CREATE INDEX deliveries_notice ON deliveries (email) WHERE notice_due = 1;

CREATE TABLE remote_ids (
  remote_id TEXT NOT NULL,
  email INTEGER NOT NULL,
  PRIMARY KEY (remote_id, email)
) STRICT, WITHOUT ROWID;
CREATE INDEX remote_ids_email ON remote_ids (email);

CREATE TABLE queue (
  delivery INTEGER PRIMARY KEY,
  email INTEGER NOT NULL,
  team_id TEXT NOT NULL,
  origin TEXT NOT NULL,
  lane TEXT NOT NULL,
  due_at INTEGER NOT NULL,
  lease TEXT,
  handed INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX queue_due ON queue (due_at, delivery, lane, origin, team_id, email);
CREATE INDEX queue_leased ON queue (lease) WHERE lease IS NOT NULL;
CREATE INDEX queue_email ON queue (email);

CREATE TABLE suppressions (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  team_id TEXT NOT NULL,
  email TEXT NOT NULL,
  reason TEXT NOT NULL,
  note TEXT,
  source_message_id TEXT,
  created_at INTEGER NOT NULL,
  UNIQUE (team_id, email)
) STRICT;
CREATE INDEX suppressions_team ON suppressions (team_id, created_at DESC, n DESC);

CREATE TABLE submissions (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  account INTEGER NOT NULL,
  email_id TEXT NOT NULL UNIQUE,
  message_id TEXT,
  thread_id TEXT,
  identity_id TEXT,
  mail_from TEXT NOT NULL,
  rcpt_to TEXT NOT NULL,
  subject TEXT NOT NULL,
  send_at INTEGER NOT NULL,
  canceled_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX submissions_account ON submissions (account, created_at DESC, n DESC);
CREATE INDEX submissions_message ON submissions (message_id) WHERE message_id IS NOT NULL;

CREATE TABLE operator_keys (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  hash BLOB NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER
) STRICT;

CREATE TABLE dkim_keys (
  n INTEGER PRIMARY KEY,
  domain_id TEXT NOT NULL,
  selector TEXT NOT NULL,
  algorithm TEXT NOT NULL,
  public TEXT NOT NULL,
  private_sealed BLOB NOT NULL,
  dns_ok INTEGER NOT NULL DEFAULT 0,
  found_at INTEGER,
  created_at INTEGER NOT NULL,
  retired_at INTEGER,
  UNIQUE (domain_id, selector)
) STRICT;

INSERT INTO dkim_keys (domain_id, selector, algorithm, public, private_sealed, dns_ok, found_at, created_at)
  SELECT id, dkim_selector, 'rsa', dkim_public, dkim_private_sealed, found, CASE found WHEN 1 THEN created_at END, created_at
  FROM (
    SELECT *, CASE WHEN dkim_ok = 1 OR name LIKE '%.test' OR name LIKE '%.example' OR name LIKE '%.invalid'
      OR name LIKE '%.localhost' THEN 1 ELSE 0 END AS found
    FROM domains
  ) AS known
  ORDER BY n;
ALTER TABLE domains DROP COLUMN dkim_selector;
ALTER TABLE domains DROP COLUMN dkim_public;
ALTER TABLE domains DROP COLUMN dkim_private_sealed;
ALTER TABLE domains DROP COLUMN dkim_ok;
ALTER TABLE domains ADD COLUMN ses_tokens TEXT;
`,
)
