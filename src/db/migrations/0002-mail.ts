// The mail model: accounts, folders, threads, messages, their search text, and the ledger of changes.

import { statements } from '../migrate.ts'

export const mailTables = statements(
  2,
  'mail',
  `
CREATE TABLE accounts (
  n INTEGER PRIMARY KEY,
  mailbox_id TEXT NOT NULL UNIQUE,
  seq INTEGER NOT NULL DEFAULT 0,
  messages_seq INTEGER NOT NULL DEFAULT 0,
  threads_seq INTEGER NOT NULL DEFAULT 0,
  folders_seq INTEGER NOT NULL DEFAULT 0,
  submissions_seq INTEGER NOT NULL DEFAULT 0,
  identities_seq INTEGER NOT NULL DEFAULT 0,
  quotas_seq INTEGER NOT NULL DEFAULT 0,
  used_bytes INTEGER NOT NULL DEFAULT 0,
  message_count INTEGER NOT NULL DEFAULT 0,
  full_since INTEGER,
  last_activity_at INTEGER,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE folders (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  account INTEGER NOT NULL REFERENCES accounts(n),
  parent INTEGER REFERENCES folders(n),
  name TEXT NOT NULL,
  role TEXT,
  sort_order INTEGER NOT NULL,
  uid_validity INTEGER NOT NULL,
  uid_next INTEGER NOT NULL DEFAULT 1,
  total_messages INTEGER NOT NULL DEFAULT 0,
  unread_messages INTEGER NOT NULL DEFAULT 0,
  total_threads INTEGER NOT NULL DEFAULT 0,
  unread_threads INTEGER NOT NULL DEFAULT 0,
  is_subscribed INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX folders_name ON folders (account, coalesce(parent, 0), name);
CREATE UNIQUE INDEX folders_role ON folders (account, role) WHERE role IS NOT NULL;

CREATE TABLE threads (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  account INTEGER NOT NULL REFERENCES accounts(n),
  subject TEXT NOT NULL,
  subject_key TEXT NOT NULL,
  listed INTEGER NOT NULL,
  message_count INTEGER NOT NULL,
  unread_count INTEGER NOT NULL,
  has_attachments INTEGER NOT NULL,
  last_message INTEGER NOT NULL,
  last_received_at INTEGER NOT NULL,
  participants TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX threads_order ON threads (account, listed, last_received_at, n);
CREATE INDEX threads_unread ON threads (account, listed, last_received_at, n) WHERE unread_count > 0;
CREATE INDEX threads_attachments ON threads (account, listed, last_received_at, n) WHERE has_attachments = 1;
CREATE INDEX threads_subject ON threads (account, subject_key, last_received_at);

CREATE TABLE thread_refs (
  account INTEGER NOT NULL,
  ref BLOB NOT NULL,
  thread INTEGER NOT NULL,
  PRIMARY KEY (account, ref, thread)
) STRICT, WITHOUT ROWID;
CREATE INDEX thread_refs_thread ON thread_refs (thread);

CREATE TABLE thread_folders (
  thread INTEGER NOT NULL,
  folder INTEGER NOT NULL,
  messages INTEGER NOT NULL,
  unread INTEGER NOT NULL,
  last_received_at INTEGER NOT NULL,
  PRIMARY KEY (thread, folder)
) STRICT, WITHOUT ROWID;
CREATE INDEX thread_folders_order ON thread_folders (folder, last_received_at, thread);

CREATE TABLE messages (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  account INTEGER NOT NULL,
  thread INTEGER NOT NULL,
  received_at INTEGER NOT NULL,
  listed INTEGER NOT NULL,
  seen INTEGER NOT NULL,
  flagged INTEGER NOT NULL,
  draft INTEGER NOT NULL,
  answered INTEGER NOT NULL,
  has_attachments INTEGER NOT NULL,
  size_bytes INTEGER NOT NULL,
  sent_at INTEGER,
  people TEXT NOT NULL,
  keywords TEXT NOT NULL,
  subject TEXT NOT NULL,
  preview TEXT NOT NULL,
  from_email TEXT NOT NULL,
  from_name TEXT NOT NULL,
  addresses TEXT NOT NULL,
  blob BLOB NOT NULL,
  internet_message_id TEXT,
  in_reply_to TEXT NOT NULL,
  refs TEXT NOT NULL,
  parsed INTEGER NOT NULL,
  envelope TEXT NOT NULL,
  authentication TEXT NOT NULL,
  spam TEXT NOT NULL,
  structure TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX messages_order ON messages (account, listed, received_at, n);
CREATE INDEX messages_thread ON messages (thread, received_at, n, listed);
CREATE INDEX messages_blob ON messages (blob);
CREATE INDEX messages_unread ON messages (account, received_at, n) WHERE seen = 0;
CREATE INDEX messages_flagged ON messages (account, received_at, n) WHERE flagged = 1;
CREATE INDEX messages_attachments ON messages (account, received_at, n) WHERE has_attachments = 1;

CREATE TABLE message_folders (
  folder INTEGER NOT NULL,
  uid INTEGER NOT NULL,
  message INTEGER NOT NULL,
  received_at INTEGER NOT NULL,
  PRIMARY KEY (folder, uid)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX message_folders_message ON message_folders (message, folder);
CREATE INDEX message_folders_order ON message_folders (folder, received_at, message);

CREATE TABLE message_keywords (
  account INTEGER NOT NULL,
  keyword TEXT NOT NULL,
  message INTEGER NOT NULL,
  PRIMARY KEY (account, keyword, message)
) STRICT, WITHOUT ROWID;
CREATE INDEX message_keywords_message ON message_keywords (message);

CREATE TABLE correspondents (
  n INTEGER PRIMARY KEY,
  account INTEGER NOT NULL,
  folded TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX correspondents_person ON correspondents (account, folded);

CREATE TABLE attachments (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  account INTEGER NOT NULL,
  message INTEGER NOT NULL,
  part_id TEXT NOT NULL,
  filename TEXT NOT NULL,
  content_type TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  sha256 BLOB NOT NULL,
  disposition TEXT NOT NULL,
  content_id TEXT,
  inline INTEGER NOT NULL
) STRICT;
CREATE INDEX attachments_message ON attachments (message, n);

CREATE VIRTUAL TABLE message_text USING fts5 (
  keys, subject, from_text, to_text, cc_text, bcc_text, body, filenames,
  content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2', detail = 'full'
);

CREATE TABLE changes (
  account INTEGER NOT NULL,
  type TEXT NOT NULL,
  n INTEGER NOT NULL,
  object TEXT NOT NULL,
  created_seq INTEGER NOT NULL,
  changed_seq INTEGER NOT NULL,
  gone INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  PRIMARY KEY (account, type, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX changes_created ON changes (account, type, created_seq);
CREATE INDEX changes_changed ON changes (account, type, changed_seq);

CREATE TABLE recent_deliveries (
  account INTEGER NOT NULL,
  digest BLOB NOT NULL,
  message_id TEXT NOT NULL,
  delivered_at INTEGER NOT NULL,
  PRIMARY KEY (account, digest)
) STRICT, WITHOUT ROWID;
CREATE INDEX recent_deliveries_age ON recent_deliveries (delivered_at);

CREATE TABLE inbound_log (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  team_id TEXT NOT NULL,
  mailbox_id TEXT,
  domain TEXT NOT NULL,
  status TEXT NOT NULL,
  reason TEXT,
  detail TEXT NOT NULL,
  smtp_reply TEXT NOT NULL,
  mail_from TEXT NOT NULL,
  rcpt_to TEXT NOT NULL,
  header_from TEXT,
  subject TEXT,
  remote_address TEXT NOT NULL,
  remote_name TEXT,
  helo TEXT NOT NULL,
  tls TEXT,
  size_bytes INTEGER,
  authentication TEXT,
  spam_score REAL,
  message_id TEXT,
  words TEXT NOT NULL,
  evidence TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX inbound_log_team ON inbound_log (team_id, created_at DESC, n DESC);
CREATE INDEX inbound_log_mailbox ON inbound_log (mailbox_id, created_at DESC, n DESC) WHERE mailbox_id IS NOT NULL;
CREATE INDEX inbound_log_age ON inbound_log (created_at);
`,
)
