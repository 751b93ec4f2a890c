// Uploads, and the public names of contents where contents are kept, so that one is found by its name.

import { statements } from '../migrate.ts'

// Rows of earlier versions are named by a job in pieces (store/mailbox/contents.ts): the name needs the key of the mailbox. The two indexes of
// what has no name yet are empty from then on.
export const uploadTables = statements(
  10,
  'uploads',
  `
CREATE TABLE uploads (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  account INTEGER NOT NULL,
  blob_name TEXT NOT NULL,
  filename TEXT NOT NULL,
  content_type TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  sha256 BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX uploads_account ON uploads (account, created_at, n);
CREATE INDEX uploads_name ON uploads (account, blob_name);
CREATE INDEX uploads_content ON uploads (sha256);
CREATE INDEX uploads_expiry ON uploads (expires_at);

ALTER TABLE messages ADD COLUMN blob_name TEXT;
CREATE INDEX messages_name ON messages (account, blob_name);
CREATE INDEX messages_unnamed ON messages (account) WHERE blob_name IS NULL;

ALTER TABLE attachments ADD COLUMN blob_name TEXT;
CREATE INDEX attachments_name ON attachments (account, blob_name);
CREATE INDEX attachments_unnamed ON attachments (account) WHERE blob_name IS NULL;
`,
)
