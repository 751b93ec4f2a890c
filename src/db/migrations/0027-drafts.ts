// Drafts, and the number of threads of each kind of an account.

import { statements } from '../migrate.ts'

// The totals are maintained by triggers, as those of messages are (migration 15).
const count = (row: 'new' | 'old', sign: '+' | '-') =>
  `INSERT INTO thread_totals (account, listed, unread, has_attachments, threads)
  VALUES (${row}.account, ${row}.listed, ${row}.unread_count > 0, ${row}.has_attachments, ${sign}1)
  ON CONFLICT DO UPDATE SET threads = threads + excluded.threads`

// No row remains of an account without threads.
const tidy = 'DELETE FROM thread_totals WHERE account = old.account AND threads = 0'

// A draft belongs to one message, which is replaced with each edit, and is deleted with it by a trigger, whatever deletes the message.
// bodies: SHA-256 of the texts as given, in blobs.db; NULL without any. sent_until: until when the sent message can be cancelled (ms).
export const draftTables = statements(
  27,
  'drafts',
  `
CREATE TABLE drafts (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  account INTEGER NOT NULL,
  message_id TEXT NOT NULL UNIQUE,
  revision INTEGER NOT NULL,
  members TEXT NOT NULL,
  bodies BLOB,
  sent_until INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX drafts_order ON drafts (account, updated_at, n);
CREATE INDEX drafts_bodies ON drafts (bodies) WHERE bodies IS NOT NULL;
CREATE TRIGGER drafts_message_deleted AFTER DELETE ON messages
  BEGIN DELETE FROM drafts WHERE message_id = old.id; END;

CREATE TABLE thread_totals (
  account INTEGER NOT NULL,
  listed INTEGER NOT NULL,
  unread INTEGER NOT NULL,
  has_attachments INTEGER NOT NULL,
  threads INTEGER NOT NULL,
  PRIMARY KEY (account, listed, unread, has_attachments)
) STRICT, WITHOUT ROWID;
INSERT INTO thread_totals
  SELECT account, listed, unread_count > 0, has_attachments, count(*) FROM threads GROUP BY 1, 2, 3, 4;
CREATE TRIGGER thread_totals_insert AFTER INSERT ON threads BEGIN ${count('new', '+')}; END;
CREATE TRIGGER thread_totals_delete AFTER DELETE ON threads BEGIN ${count('old', '-')}; ${tidy}; END;
CREATE TRIGGER thread_totals_update AFTER UPDATE OF listed, unread_count, has_attachments ON threads
  WHEN old.listed <> new.listed OR (old.unread_count > 0) <> (new.unread_count > 0)
    OR old.has_attachments <> new.has_attachments
  BEGIN ${count('old', '-')}; ${count('new', '+')}; ${tidy}; END;
`,
)
