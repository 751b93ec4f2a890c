// Outside accounts: their settings and states, their folders and messages as last seen there, and changes that were sent without an answer.

import { statements } from '../migrate.ts'

// domain_id is '' for a mailbox that is an outside account: two teams may attach the same address, so it is unique in a team.
// providers.remote_account_id: the outside account that a sending account belongs to; it is edited there.
// remote_messages.flags: what the server was last known to say, as a bit set of the system flags; keywords: the others, JSON or null.
// message: n of the message here, null when it is not here (yet); message_key: 16 bytes that find it again under another UID. A negative
// uid stands for one that is gone from its folder: until the round has looked at the other folders, it may have moved there.
// local_path: path of the folder here when both sides were last equal.
export const outsideAccounts = statements(
  36,
  'outside accounts',
  `
DROP INDEX mailboxes_address;
CREATE UNIQUE INDEX mailboxes_address ON mailboxes (domain_id, email) WHERE status <> 'deleted' AND domain_id <> '';
CREATE UNIQUE INDEX mailboxes_outside_address ON mailboxes (email, team_id) WHERE status <> 'deleted' AND domain_id = '';

ALTER TABLE providers ADD COLUMN remote_account_id TEXT;

CREATE TABLE remote_accounts (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  team_id TEXT NOT NULL,
  mailbox_id TEXT NOT NULL,
  account INTEGER NOT NULL,
  mode TEXT NOT NULL,
  name TEXT NOT NULL,
  email TEXT NOT NULL,
  auth TEXT NOT NULL,
  imap_host TEXT,
  imap_port INTEGER,
  imap_protocol TEXT,
  imap_username TEXT,
  secret_sealed BLOB,
  provider_id TEXT,
  folder_id TEXT,
  since INTEGER,
  status TEXT NOT NULL,
  status_reason TEXT,
  error_kind TEXT,
  status_since INTEGER NOT NULL,
  resumes_as TEXT,
  next_try_at INTEGER,
  failures INTEGER NOT NULL,
  settings_version INTEGER NOT NULL,
  kind TEXT,
  push TEXT NOT NULL,
  facts TEXT,
  lease_token TEXT,
  lease_until INTEGER,
  wanted_at INTEGER NOT NULL,
  pushed_seq INTEGER NOT NULL,
  tree_at INTEGER,
  synced_at INTEGER,
  removal TEXT,
  import_state TEXT NOT NULL,
  import_total INTEGER NOT NULL,
  import_done INTEGER NOT NULL,
  import_bytes INTEGER NOT NULL,
  import_folders_total INTEGER NOT NULL,
  import_folders_done INTEGER NOT NULL,
  import_started_at INTEGER,
  import_finished_at INTEGER,
  day INTEGER NOT NULL,
  day_bytes INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX remote_accounts_mirror ON remote_accounts (mailbox_id) WHERE mode = 'mirror';
CREATE INDEX remote_accounts_mailbox ON remote_accounts (mailbox_id);
CREATE INDEX remote_accounts_team ON remote_accounts (team_id, created_at DESC, n DESC);
CREATE INDEX remote_accounts_due ON remote_accounts (next_try_at);

CREATE TABLE remote_folders (
  n INTEGER PRIMARY KEY,
  remote INTEGER NOT NULL,
  path TEXT NOT NULL,
  object_id TEXT,
  folder INTEGER,
  local_path TEXT,
  role TEXT,
  state TEXT NOT NULL,
  reason TEXT,
  uid_validity INTEGER,
  uid_next INTEGER,
  mod_seq INTEGER,
  lowest INTEGER,
  total INTEGER NOT NULL,
  done INTEGER NOT NULL,
  flags_at INTEGER,
  looked_at INTEGER,
  suspect_at INTEGER,
  UNIQUE (remote, path)
) STRICT;
CREATE INDEX remote_folders_folder ON remote_folders (folder);

CREATE TABLE remote_messages (
  remote_folder INTEGER NOT NULL,
  uid INTEGER NOT NULL,
  message INTEGER,
  flags INTEGER NOT NULL,
  keywords TEXT,
  labels TEXT,
  message_key BLOB NOT NULL,
  state INTEGER NOT NULL,
  tries INTEGER NOT NULL,
  tried_at INTEGER,
  PRIMARY KEY (remote_folder, uid)
) STRICT, WITHOUT ROWID;
CREATE INDEX remote_messages_message ON remote_messages (message);
CREATE INDEX remote_messages_key ON remote_messages (message_key);
CREATE INDEX remote_messages_open ON remote_messages (remote_folder, state) WHERE state <> 0;

CREATE TABLE remote_intents (
  n INTEGER PRIMARY KEY,
  remote INTEGER NOT NULL,
  kind TEXT NOT NULL,
  message INTEGER,
  folder INTEGER,
  detail TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX remote_intents_remote ON remote_intents (remote);
`,
)
