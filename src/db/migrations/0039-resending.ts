// Resending: the content of messages whose delivery failed is kept for some days, and a message names the delivery it repeats.

import { statements } from '../migrate.ts'

export const resendingTables = statements(
  39,
  'resending',
  `
CREATE TABLE kept_contents (
  email INTEGER PRIMARY KEY,
  mailbox_id TEXT,
  blob BLOB NOT NULL,
  until INTEGER NOT NULL
) STRICT;
CREATE INDEX kept_contents_until ON kept_contents (until);
CREATE INDEX kept_contents_blob ON kept_contents (blob);
CREATE TRIGGER kept_contents_email_deleted AFTER DELETE ON emails
  BEGIN DELETE FROM kept_contents WHERE email = old.n; END;

ALTER TABLE emails ADD COLUMN resent_from TEXT;
CREATE INDEX emails_resent ON emails (resent_from) WHERE resent_from IS NOT NULL;
`,
)
