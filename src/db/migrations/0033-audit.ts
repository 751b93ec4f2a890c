// The audit log: which person or key changed what, and from where.

import { statements } from '../migrate.ts'

export const auditTable = statements(
  33,
  'audit',
  `
CREATE TABLE audit_entries (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  team_id TEXT,
  at INTEGER NOT NULL,
  actor_kind TEXT NOT NULL,
  actor_id TEXT NOT NULL,
  actor_label TEXT NOT NULL,
  action TEXT NOT NULL,
  target_type TEXT,
  target_id TEXT,
  target_label TEXT,
  source TEXT NOT NULL,
  request_id TEXT NOT NULL
) STRICT;
CREATE INDEX audit_entries_team ON audit_entries (team_id, at, n);
CREATE INDEX audit_entries_age ON audit_entries (at);
`,
)
