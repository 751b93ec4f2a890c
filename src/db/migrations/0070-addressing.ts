// Addresses of a domain beyond mailboxes and aliases: patterns that lead to a mailbox, separators of sub-addresses, and addresses that ended.

import { statements } from '../migrate.ts'

// separators: characters that begin a sub-address (RFC 5233). pattern: of a local part, with `*`; "*" alone is the catch-all.
// retired_addresses: of deleted mailboxes and removed aliases, which no pattern matches. pattern_addresses: at which messages arrived by a pattern.
export const addressing = statements(
  70,
  'addressing',
  `
ALTER TABLE domains ADD COLUMN separators TEXT NOT NULL DEFAULT '+';
CREATE TABLE address_patterns (
  n INTEGER PRIMARY KEY,
  domain_id TEXT NOT NULL,
  pattern TEXT NOT NULL,
  mailbox_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (domain_id, pattern)
) STRICT;
CREATE INDEX address_patterns_mailbox ON address_patterns (mailbox_id);
CREATE TABLE retired_addresses (
  n INTEGER PRIMARY KEY,
  domain_id TEXT NOT NULL,
  email TEXT NOT NULL,
  retired_at INTEGER NOT NULL,
  UNIQUE (domain_id, email)
) STRICT;
CREATE TABLE pattern_addresses (
  domain_id TEXT NOT NULL,
  email TEXT NOT NULL,
  first_at INTEGER NOT NULL,
  PRIMARY KEY (domain_id, email)
) STRICT, WITHOUT ROWID;
CREATE INDEX pattern_addresses_first ON pattern_addresses (domain_id, first_at);
`,
)
