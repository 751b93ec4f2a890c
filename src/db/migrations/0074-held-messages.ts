// Messages of programs that wait for a person: policies of mailboxes, held messages, whom people have written to, and which messages of strangers were read.

import { statements } from '../migrate.ts'

// held_messages.email, held_links.email: key of the message in emails. known_contacts: an address that received a message which a person sent or approved.
export const heldMessages = statements(
  74,
  'held messages',
  `
CREATE TABLE send_policies (
  mailbox_id TEXT PRIMARY KEY,
  team_id TEXT NOT NULL,
  approval TEXT NOT NULL,
  allow_to TEXT NOT NULL,
  block_to TEXT NOT NULL,
  replies_only INTEGER NOT NULL,
  hourly_recipients INTEGER,
  daily_recipients INTEGER,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE TABLE held_messages (
  email INTEGER PRIMARY KEY,
  email_id TEXT NOT NULL UNIQUE,
  team_id TEXT NOT NULL,
  mailbox_id TEXT NOT NULL,
  credential TEXT,
  submission_id TEXT,
  stored_message_id TEXT,
  reason TEXT NOT NULL,
  detail TEXT NOT NULL,
  hash BLOB NOT NULL,
  state TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  noticed_at INTEGER,
  decided_at INTEGER,
  decided_by TEXT,
  note TEXT,
  sent_as TEXT
) STRICT;
CREATE INDEX held_messages_mailbox ON held_messages (mailbox_id, state);
CREATE INDEX held_messages_team ON held_messages (team_id, state, created_at);
CREATE INDEX held_messages_open ON held_messages (expires_at) WHERE state = 'held';
CREATE TABLE held_links (
  hash BLOB PRIMARY KEY,
  email INTEGER NOT NULL,
  person TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX held_links_email ON held_links (email);
CREATE TABLE known_contacts (
  mailbox_id TEXT NOT NULL,
  address TEXT NOT NULL,
  since INTEGER NOT NULL,
  PRIMARY KEY (mailbox_id, address)
) STRICT, WITHOUT ROWID;
CREATE TABLE stranger_reads (
  mailbox_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  author TEXT NOT NULL,
  subject TEXT NOT NULL,
  reason TEXT NOT NULL,
  read_at INTEGER NOT NULL,
  PRIMARY KEY (mailbox_id, message_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX stranger_reads_time ON stranger_reads (mailbox_id, read_at);
`,
)
