// What happened, kept until everybody who asked has been told, and who asked.

import { statements } from '../migrate.ts'

export const eventTables = statements(
  4,
  'events',
  `
CREATE TABLE events (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  team_id TEXT NOT NULL,
  type TEXT NOT NULL,
  mailbox_id TEXT,
  domain_id TEXT,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  told INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX events_untold ON events (n) WHERE told = 0;
CREATE INDEX events_age ON events (created_at);

CREATE TABLE webhooks (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  team_id TEXT NOT NULL REFERENCES teams(id),
  url TEXT NOT NULL,
  description TEXT,
  event_types TEXT NOT NULL,
  mailbox_ids TEXT,
  domain_ids TEXT,
  status TEXT NOT NULL,
  disabled_reason TEXT,
  secret_sealed BLOB NOT NULL,
  secret_hint TEXT NOT NULL,
  previous_secret_sealed BLOB,
  previous_until INTEGER,
  secret_rotated_at INTEGER,
  consecutive_failures INTEGER NOT NULL DEFAULT 0,
  failing_since INTEGER,
  last_delivery_at INTEGER,
  last_success_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX webhooks_team ON webhooks (team_id, created_at DESC, n DESC);

CREATE TABLE webhook_queue (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  webhook INTEGER NOT NULL,
  event INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  ends_at INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  lease TEXT
) STRICT;
CREATE INDEX webhook_queue_event ON webhook_queue (event);
CREATE INDEX webhook_queue_lease ON webhook_queue (lease) WHERE lease IS NOT NULL;
CREATE INDEX webhook_queue_due ON webhook_queue (webhook, due_at);

CREATE TABLE webhook_attempts (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  webhook INTEGER NOT NULL,
  event INTEGER NOT NULL,
  event_id TEXT NOT NULL,
  event_type TEXT NOT NULL,
  result TEXT NOT NULL,
  response_status INTEGER NOT NULL,
  response_ms INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  max_attempts INTEGER NOT NULL,
  next_retry_at INTEGER,
  error_message TEXT,
  response_body TEXT,
  request_headers TEXT NOT NULL,
  payload_expires_at INTEGER NOT NULL,
  payload_bytes INTEGER NOT NULL,
  payload_sha256 BLOB NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX webhook_attempts_webhook ON webhook_attempts (webhook, created_at DESC, n DESC);
CREATE INDEX webhook_attempts_event ON webhook_attempts (webhook, event_id);
CREATE INDEX webhook_attempts_age ON webhook_attempts (created_at);
`,
)
