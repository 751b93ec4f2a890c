// The audit log names what a change opens and is bounded by rows; who was removed from a team and made what is left there.

import { statements } from '../migrate.ts'

// former_members: members who were removed and left something in use. webhooks.set_by: who decided what it is sent, and where.
export const auditOpens = statements(
  41,
  'audit opens',
  `
ALTER TABLE audit_entries ADD COLUMN opens TEXT;
CREATE INDEX audit_entries_actor ON audit_entries (team_id, actor_id);

CREATE TABLE former_members (
  member_id TEXT PRIMARY KEY,
  team_id TEXT NOT NULL,
  email TEXT NOT NULL,
  removed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
ALTER TABLE webhooks ADD COLUMN set_by TEXT;
CREATE INDEX former_members_team ON former_members (team_id, removed_at);
CREATE INDEX keys_created_by ON keys (created_by);
CREATE INDEX forwards_created_by ON forwards (created_by);
CREATE INDEX app_passwords_created_by ON app_passwords (created_by);
`,
)
