// Aliases, when mail was put where it lies, how far back changes are told, and what ends with a mailbox.

import { statements } from '../migrate.ts'

// When mail was put into Trash or Junk before this version nobody wrote down. UIDs grow with time: a message was put there no earlier
// than what had come in before those with a smaller UID. Elsewhere nobody asks.
export const mailboxLifeTables = statements(
  12,
  'mailbox-life',
  `
ALTER TABLE mailboxes ADD COLUMN purged_at INTEGER;
CREATE INDEX mailboxes_kept ON mailboxes (deleted_at, n) WHERE deleted_at IS NOT NULL AND purged_at IS NULL;

CREATE TABLE aliases (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  mailbox_id TEXT NOT NULL,
  domain_id TEXT NOT NULL,
  email TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX aliases_address ON aliases (domain_id, email);
CREATE INDEX aliases_mailbox ON aliases (mailbox_id, created_at DESC, n DESC);

ALTER TABLE message_folders ADD COLUMN filed_at INTEGER;
UPDATE message_folders SET filed_at = known.at FROM (
  SELECT folder, uid, max(received_at) OVER (PARTITION BY folder ORDER BY uid) AS at FROM message_folders
  WHERE folder IN (SELECT n FROM folders WHERE role IN ('junk', 'trash'))
) AS known WHERE known.folder = message_folders.folder AND known.uid = message_folders.uid;

CREATE INDEX folders_parent ON folders (parent) WHERE parent IS NOT NULL;

CREATE TABLE change_floors (
  account INTEGER NOT NULL,
  type TEXT NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (account, type)
) STRICT, WITHOUT ROWID;
`,
)
