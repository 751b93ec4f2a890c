// Digests of the chunks of large contents, so that a range can be verified without the rest, and contents that were found damaged.

import { statements } from '../migrate.ts'

// chunk_digests: the SHA-256 of each chunk, in their order, of content with several chunks; NULL for other contents, and for those of
// earlier versions, which are verified whole.
export const verifiedReads = statements(
  4,
  'verified-reads',
  `
ALTER TABLE blobs ADD COLUMN chunk_digests BLOB;

CREATE TABLE damaged_blobs (
  hash BLOB PRIMARY KEY,
  problem TEXT NOT NULL,
  found_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`,
)
