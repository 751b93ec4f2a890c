// What mail programs need of a message in a folder: flags, modification number and size beside its UID, and the UIDs that left.

import type { Fill, Migration } from '../migrate.ts'
import { statements } from '../migrate.ts'

// mod_seq = 0 stands for an entry of an earlier version that is not filled yet: see `fill`.
//
// No client has read a UIDVALIDITY before this migration, therefore each folder can get one of its own: a renamed folder takes its own along, and must not
// bring that of another folder under the same name (RFC 9051 §2.3.1.1).
//
// No UIDs that left a folder before this version are known: the floors say so.
//
// RFC 9051 §5.1: INBOX in any letter case is the Inbox. Other folders of this name get a number; the ledger has their new paths.
const SHADOWS_INBOX = `parent IS NULL AND lower(name) = 'inbox' AND role IS NOT 'inbox'`
const SHADOWED_ACCOUNTS = `SELECT account FROM folders WHERE ${SHADOWS_INBOX}`

const schema = statements(
  24,
  'folder-entries',
  `
ALTER TABLE message_folders ADD COLUMN mod_seq INTEGER NOT NULL DEFAULT 0;
ALTER TABLE message_folders ADD COLUMN flags INTEGER NOT NULL DEFAULT 0;
ALTER TABLE message_folders ADD COLUMN size_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE folders ADD COLUMN mod_seq INTEGER NOT NULL DEFAULT 1;
ALTER TABLE folders ADD COLUMN recent_from INTEGER NOT NULL DEFAULT 1;
ALTER TABLE accounts ADD COLUMN last_uid_validity INTEGER NOT NULL DEFAULT 0;

CREATE TABLE expunged_uids (
  folder INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (folder, seq, first)
) STRICT, WITHOUT ROWID;
CREATE INDEX expunged_uids_age ON expunged_uids (at);
CREATE TABLE expunged_floors (
  folder INTEGER PRIMARY KEY,
  seq INTEGER NOT NULL
) STRICT;
CREATE TABLE subscribed_names (
  account INTEGER NOT NULL,
  path TEXT NOT NULL,
  PRIMARY KEY (account, path)
) STRICT, WITHOUT ROWID;

UPDATE accounts SET seq = seq + 1, folders_seq = seq + 1 WHERE n IN (${SHADOWED_ACCOUNTS});
INSERT INTO changes (account, type, n, object, created_seq, changed_seq, gone, changed_at, altered_seq)
  SELECT f.account, 'folders', f.n, f.id, 0, a.seq, 0, unixepoch() * 1000, a.seq FROM folders f JOIN accounts a ON a.n = f.account
  WHERE f.account IN (${SHADOWED_ACCOUNTS})
  ON CONFLICT DO UPDATE SET changed_seq = excluded.changed_seq, changed_at = excluded.changed_at, altered_seq = excluded.altered_seq;
UPDATE folders SET name = (
  WITH RECURSIVE numbers (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM numbers WHERE i < 2000)
  SELECT folders.name || ' (' || i || ')' FROM numbers WHERE NOT EXISTS (
    SELECT 1 FROM folders o WHERE o.account = folders.account AND o.parent IS NULL AND o.name = folders.name || ' (' || i || ')')
  LIMIT 1
) WHERE ${SHADOWS_INBOX};

UPDATE folders SET recent_from = uid_next, mod_seq = (SELECT max(1, seq) FROM accounts WHERE accounts.n = folders.account),
  uid_validity = own.uid_validity FROM (
    SELECT n, max(uid_validity) OVER (PARTITION BY account) + row_number() OVER (PARTITION BY account ORDER BY n) - 1 AS uid_validity
    FROM folders
  ) AS own WHERE own.n = folders.n;
UPDATE accounts SET last_uid_validity = coalesce((SELECT max(uid_validity) FROM folders WHERE account = accounts.n), 0);
INSERT INTO expunged_floors (folder, seq) SELECT n, mod_seq FROM folders;
`,
)

const ENTRIES_PER_PIECE = 10_000

/** Fills the entries of earlier versions from their messages, in order of the primary key. */
const fill: Fill = {
  total: (reader) => reader.get<{ n: number }>('SELECT count(*) AS n FROM message_folders WHERE mod_seq = 0')!.n,
  piece(tx, after) {
    const [folder, uid] = after ?? [0, 0]
    const rows = tx.all<{ folder: number; uid: number }>(
      'SELECT folder, uid FROM message_folders WHERE (folder, uid) > (?, ?) AND mod_seq = 0 ORDER BY folder, uid LIMIT ?',
      [folder, uid, ENTRIES_PER_PIECE],
    )
    const last = rows.at(-1)
    if (last === undefined) return null
    tx.run(
      `UPDATE message_folders SET size_bytes = m.size_bytes, mod_seq = (SELECT max(1, seq) FROM accounts WHERE n = m.account),
         flags = m.seen + 2 * m.flagged + 4 * m.draft + 8 * m.answered + 32 * (m.keywords <> '[]')
       FROM messages m WHERE m.n = message_folders.message AND message_folders.mod_seq = 0
         AND (folder, uid) > (?, ?) AND (folder, uid) <= (?, ?)`,
      [folder, uid, last.folder, last.uid],
    )
    return { after: [last.folder, last.uid], rows: rows.length }
  },
}

export const folderEntries: Migration = { ...schema, fill }
