// MTA-STS policies of the domains that messages are sent to.

import { statements } from '../migrate.ts'

// policy: JSON, NULL when none was ever fetched. looked_at: when it was last fetched, or its fetch failed.
export const tlsPolicies = statements(
  65,
  'TLS policies',
  `
CREATE TABLE tls_policies (
  domain TEXT PRIMARY KEY,
  record_id TEXT,
  policy TEXT,
  fetched_at INTEGER,
  expires_at INTEGER,
  failures INTEGER NOT NULL DEFAULT 0,
  retry_at INTEGER,
  failure TEXT,
  problem TEXT,
  looked_at INTEGER NOT NULL
) STRICT;
CREATE INDEX tls_policies_looked ON tls_policies (looked_at);
`,
)
