// Certificates from an authority by ACME: one row for each set of names, its keys and versions, and the order under way.

import { statements } from '../migrate.ts'

// look_at: when the next step is due. failed_at: times of the latest failures, ms, in JSON. ari_*: what the authority suggests (RFC 9773).
export const certificateTables = statements(
  62,
  'certificates',
  `
CREATE TABLE acme_accounts (
  n INTEGER PRIMARY KEY,
  directory TEXT NOT NULL UNIQUE,
  url TEXT,
  key_sealed BLOB NOT NULL,
  email TEXT NOT NULL,
  external_kid TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE TABLE certificates (
  n INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  names TEXT NOT NULL,
  state TEXT NOT NULL,
  look_at INTEGER NOT NULL,
  reason TEXT,
  failures INTEGER NOT NULL DEFAULT 0,
  failed_at TEXT NOT NULL,
  method TEXT,
  rehearsed_at INTEGER,
  due_at INTEGER,
  new_key INTEGER NOT NULL DEFAULT 0,
  revoke INTEGER NOT NULL DEFAULT 0,
  ari_start INTEGER,
  ari_end INTEGER,
  ari_url TEXT,
  ari_at INTEGER
) STRICT;
CREATE INDEX certificates_due ON certificates (look_at);
CREATE TABLE certificate_keys (
  n INTEGER PRIMARY KEY,
  certificate INTEGER NOT NULL,
  key_sealed BLOB NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX certificate_keys_certificate ON certificate_keys (certificate);
CREATE TABLE certificate_versions (
  n INTEGER PRIMARY KEY,
  certificate INTEGER NOT NULL,
  key INTEGER NOT NULL,
  key_digest TEXT NOT NULL,
  directory TEXT NOT NULL,
  names TEXT NOT NULL,
  chain TEXT NOT NULL,
  state TEXT NOT NULL,
  not_before INTEGER NOT NULL,
  not_after INTEGER NOT NULL,
  issued_at INTEGER NOT NULL,
  proven_at INTEGER
) STRICT;
CREATE INDEX certificate_versions_certificate ON certificate_versions (certificate, n);
CREATE TABLE acme_orders (
  certificate INTEGER PRIMARY KEY,
  directory TEXT NOT NULL,
  url TEXT NOT NULL,
  names TEXT NOT NULL,
  key INTEGER NOT NULL,
  rehearsal INTEGER NOT NULL,
  polls INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE TABLE acme_challenges (
  token TEXT PRIMARY KEY,
  certificate INTEGER NOT NULL,
  name TEXT NOT NULL,
  type TEXT NOT NULL,
  key_authorization TEXT NOT NULL
) STRICT;
CREATE INDEX acme_challenges_name ON acme_challenges (name, type);
`,
)
