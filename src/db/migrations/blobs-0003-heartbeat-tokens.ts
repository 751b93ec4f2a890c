// Random tokens of the last two heartbeats (see 0020-heartbeat-tokens.ts), and content that mail.db may be too old to reference.

import { statements } from '../migrate.ts'

// unclaimed_blobs: content stored after the last heartbeat of the mail.db that was found at a start. token: the newest heartbeat of blobs.db
// then, when mail.db was one behind: a mail.db with this token may reference the content. kept_until: set by the first sweep.
export const contentHeartbeatTokens = statements(
  3,
  'heartbeat-tokens',
  `
ALTER TABLE content_owner RENAME COLUMN beat TO generation;
ALTER TABLE content_owner ADD COLUMN token TEXT;
ALTER TABLE content_owner ADD COLUMN previous_token TEXT;

CREATE TABLE unclaimed_blobs (
  hash BLOB PRIMARY KEY,
  token TEXT,
  kept_until INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX unclaimed_blobs_token ON unclaimed_blobs (token) WHERE token IS NOT NULL;
`,
)
