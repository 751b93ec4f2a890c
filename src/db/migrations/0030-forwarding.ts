// What has been forwarded to whom, and the ids that scripts have seen.

import { statements } from '../migrate.ts'

// digest: of the Message-ID and the address. content: of the bytes as received. Both tables forget with time.
export const forwardingTables = statements(
  30,
  'forwarding',
  `
CREATE TABLE forwarded (
  account INTEGER NOT NULL,
  digest BLOB NOT NULL,
  content BLOB NOT NULL,
  forwarded_at INTEGER NOT NULL,
  PRIMARY KEY (account, digest)
) STRICT, WITHOUT ROWID;
CREATE INDEX forwarded_age ON forwarded (account, forwarded_at);

CREATE TABLE script_ids (
  account INTEGER NOT NULL,
  id BLOB NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (account, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX script_ids_age ON script_ids (account, expires_at);
`,
)
