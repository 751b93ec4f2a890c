// The console: API requests of teams, devices that people signed in with, what agents asked for, and who began to connect an account.

import { statements } from '../migrate.ts'

export const consoleTables = statements(
  35,
  'console',
  `
CREATE TABLE api_requests (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  team_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  method TEXT NOT NULL,
  route TEXT,
  operation TEXT,
  status INTEGER NOT NULL,
  ms INTEGER NOT NULL,
  key_id TEXT NOT NULL,
  error_code TEXT
) STRICT;
CREATE INDEX api_requests_team ON api_requests (team_id, n);
CREATE INDEX api_requests_age ON api_requests (at);

CREATE TABLE known_devices (
  n INTEGER PRIMARY KEY,
  email TEXT NOT NULL,
  hash BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  UNIQUE (email, hash)
) STRICT;
CREATE INDEX known_devices_hash ON known_devices (hash);
CREATE INDEX known_devices_age ON known_devices (last_seen_at);

ALTER TABLE agent_registrations ADD COLUMN sending_asked_at INTEGER;
ALTER TABLE agent_registrations ADD COLUMN sending_refused_at INTEGER;
ALTER TABLE oauth_states ADD COLUMN session_id TEXT;
ALTER TABLE oauth_states ADD COLUMN created_by TEXT;
`,
)
