// The bytes of mail, by the SHA-256 of their content, in chunks.

import { statements } from '../migrate.ts'

export const blobTables = statements(
  1,
  'blobs',
  `
CREATE TABLE blobs (
  hash BLOB PRIMARY KEY,
  size_bytes INTEGER NOT NULL,
  stored_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX blobs_age ON blobs (stored_at);

CREATE TABLE chunks (
  n INTEGER PRIMARY KEY,
  hash BLOB NOT NULL,
  start INTEGER NOT NULL,
  size_bytes INTEGER NOT NULL,
  zstd INTEGER NOT NULL,
  data BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX chunks_place ON chunks (hash, start);
`,
)
