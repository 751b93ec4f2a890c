// Vacation responses, whom they have been sent to, and those that are still to be written.

import { statements } from '../migrate.ts'

// Whether a mailbox answers by itself stands with its account, which every delivery reads anyway.
export const vacationTables = statements(
  14,
  'vacation',
  `
ALTER TABLE accounts ADD COLUMN is_away INTEGER NOT NULL DEFAULT 0;

CREATE TABLE vacation_responses (
  account INTEGER PRIMARY KEY REFERENCES accounts(n),
  is_enabled INTEGER NOT NULL,
  from_date INTEGER,
  to_date INTEGER,
  subject TEXT,
  text_body TEXT,
  html_body TEXT,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE vacation_senders (
  account INTEGER NOT NULL,
  sender TEXT NOT NULL,
  answered_at INTEGER NOT NULL,
  PRIMARY KEY (account, sender)
) STRICT, WITHOUT ROWID;
CREATE INDEX vacation_senders_age ON vacation_senders (answered_at);

CREATE TABLE vacation_due (
  n INTEGER PRIMARY KEY,
  account INTEGER NOT NULL,
  identity_id TEXT NOT NULL,
  to_email TEXT NOT NULL,
  subject TEXT NOT NULL,
  message_id TEXT,
  refs TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX vacation_due_account ON vacation_due (account);
`,
)
