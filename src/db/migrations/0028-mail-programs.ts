// What mail programs leave: annotations of mailboxes and folders (RFC 5464), and their copies of what they have submitted.

import { statements } from '../migrate.ts'

// annotations.folder: its number; 0 for the account itself. entry: lower-case.
// submissions.keeps_copy: 1 when the message in message_id is a copy the appliance keeps, 0 when a mail program has stored it.
export const mailProgramTables = statements(
  28,
  'mail-programs',
  `
CREATE TABLE annotations (
  account INTEGER NOT NULL,
  folder INTEGER NOT NULL,
  entry TEXT NOT NULL,
  value BLOB NOT NULL,
  PRIMARY KEY (account, folder, entry)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER annotations_folder_deleted AFTER DELETE ON folders
  BEGIN DELETE FROM annotations WHERE account = old.account AND folder = old.n; END;

ALTER TABLE submissions ADD COLUMN internet_message_id TEXT;
ALTER TABLE submissions ADD COLUMN keeps_copy INTEGER NOT NULL DEFAULT 0;
UPDATE submissions SET keeps_copy = 1 WHERE message_id IS NOT NULL;
UPDATE submissions SET internet_message_id = (SELECT internet_message_id FROM emails WHERE id = email_id)
  WHERE created_at > (SELECT max(created_at) FROM submissions) - 86400000;
`,
)
