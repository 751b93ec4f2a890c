// Tags and metadata of sent messages, counts by tag, cancellation, and lists of messages and events of a team.

import { statements } from '../migrate.ts'

// send_at: earliest time of the first attempt; NULL in messages accepted before: then queued_at is shown.
export const messageLabels = statements(
  23,
  'message-labels',
  `
ALTER TABLE emails ADD COLUMN tags TEXT;
ALTER TABLE emails ADD COLUMN metadata TEXT;
ALTER TABLE emails ADD COLUMN send_at INTEGER;
ALTER TABLE emails ADD COLUMN canceled_at INTEGER;
CREATE INDEX emails_team ON emails (team_id, queued_at DESC, n DESC);

CREATE TABLE tag_counts (
  day INTEGER NOT NULL,
  team_id TEXT NOT NULL,
  tag TEXT NOT NULL,
  accepted INTEGER NOT NULL,
  sent INTEGER NOT NULL,
  delivered INTEGER NOT NULL,
  delayed INTEGER NOT NULL,
  bounced_hard INTEGER NOT NULL,
  bounced_soft INTEGER NOT NULL,
  complained INTEGER NOT NULL,
  rejected INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  PRIMARY KEY (team_id, day, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX tag_counts_age ON tag_counts (day);

CREATE INDEX events_team ON events (team_id, n);
`,
)
