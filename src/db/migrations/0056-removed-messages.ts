// Messages of outside accounts that were erased because they were removed at the server, until they are forgotten.

import { statements } from '../migrate.ts'

// folders: [{ id, path, role }] in JSON; keywords include those of the flags; addresses, envelope, authentication and spam as in messages.
// discarded: 1 when it was in Trash or Junk alone. content_at: when the row of the erased message was written.
export const removedMessages = statements(
  56,
  'removed messages',
  `
CREATE TABLE removed_messages (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  account INTEGER NOT NULL,
  removed_at INTEGER NOT NULL,
  discarded INTEGER NOT NULL,
  size_bytes INTEGER NOT NULL,
  received_at INTEGER NOT NULL,
  content_at INTEGER NOT NULL,
  blob BLOB NOT NULL,
  subject TEXT NOT NULL,
  from_email TEXT NOT NULL,
  from_name TEXT NOT NULL,
  addresses TEXT NOT NULL,
  envelope TEXT NOT NULL,
  authentication TEXT NOT NULL,
  spam TEXT NOT NULL,
  folders TEXT NOT NULL,
  keywords TEXT NOT NULL
) STRICT;
CREATE INDEX removed_messages_order ON removed_messages (account, removed_at, n, size_bytes);
CREATE INDEX removed_messages_bound ON removed_messages (account, discarded DESC, n, size_bytes);
CREATE INDEX removed_messages_age ON removed_messages (removed_at);
CREATE INDEX removed_messages_blob ON removed_messages (blob);
`,
)
