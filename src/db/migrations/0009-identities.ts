// Identities, the limits people set themselves, and what was sent by the hour.

import { statements } from '../migrate.ts'

// Every mailbox there is gets what a new one has from its first day (docs/design/directory.md §6.3): a primary identity, and its quotas.
export const identityTables = statements(
  9,
  'identities',
  `
CREATE TABLE identities (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  account INTEGER NOT NULL REFERENCES accounts(n),
  email TEXT NOT NULL,
  name TEXT NOT NULL DEFAULT '',
  reply_to TEXT,
  bcc TEXT,
  text_signature TEXT NOT NULL DEFAULT '',
  html_signature TEXT NOT NULL DEFAULT '',
  is_primary INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX identities_account ON identities (account, n);
CREATE UNIQUE INDEX identities_primary ON identities (account) WHERE is_primary = 1;

CREATE TABLE account_quotas (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  account INTEGER NOT NULL REFERENCES accounts(n),
  name TEXT NOT NULL,
  soft_limit INTEGER,
  warn_limit INTEGER,
  updated_at INTEGER NOT NULL,
  UNIQUE (account, name)
) STRICT;

CREATE TABLE sent_hours (
  account INTEGER NOT NULL,
  hour INTEGER NOT NULL,
  mails INTEGER NOT NULL,
  recipients INTEGER NOT NULL,
  PRIMARY KEY (account, hour)
) STRICT, WITHOUT ROWID;

ALTER TABLE accounts ADD COLUMN attachment_bytes INTEGER NOT NULL DEFAULT 0;
UPDATE accounts SET attachment_bytes = sums.bytes
  FROM (SELECT account, sum(size_bytes) AS bytes FROM attachments GROUP BY account) AS sums WHERE sums.account = accounts.n;

ALTER TABLE changes ADD COLUMN altered_seq INTEGER;

UPDATE accounts SET seq = seq + 1, identities_seq = seq + 1, quotas_seq = seq + 1;
INSERT INTO identities (id, account, email, is_primary, created_at, updated_at)
  SELECT 'idn_' || lower(hex(randomblob(12))), a.n, m.email, 1, a.created_at, a.created_at
  FROM accounts a JOIN mailboxes m ON m.id = a.mailbox_id ORDER BY a.n;
INSERT INTO account_quotas (id, account, name, updated_at)
  SELECT 'quo_' || lower(hex(randomblob(12))), a.n, names.name, a.created_at
  FROM accounts a
  JOIN (SELECT 'storage' AS name UNION ALL SELECT 'messages' UNION ALL SELECT 'daily_recipients') AS names ORDER BY a.n;
INSERT INTO changes (account, type, n, object, created_seq, changed_seq, gone, changed_at)
  SELECT i.account, 'identities', i.n, i.id, a.seq, a.seq, 0, i.created_at
  FROM identities i JOIN accounts a ON a.n = i.account;
INSERT INTO changes (account, type, n, object, created_seq, changed_seq, gone, changed_at)
  SELECT q.account, 'quotas', q.n, q.id, a.seq, a.seq, 0, q.updated_at
  FROM account_quotas q JOIN accounts a ON a.n = q.account;
`,
)
