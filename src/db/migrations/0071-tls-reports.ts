// Reports about TLS with the mail servers of domains here (RFC 8460): those that were read, and their counts by day and result.

import { statements } from '../migrate.ts'

// result: "" for sessions with TLS as required, else a word of RFC 8460 §4.3. day: days since 1970, UTC.
export const tlsReports = statements(
  71,
  'TLS reports',
  `
CREATE TABLE tls_reports (
  n INTEGER PRIMARY KEY,
  domain TEXT NOT NULL,
  reporter TEXT NOT NULL,
  report_id TEXT NOT NULL,
  organization TEXT NOT NULL,
  begin_at INTEGER NOT NULL,
  end_at INTEGER NOT NULL,
  received_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX tls_reports_id ON tls_reports (domain, reporter, report_id);
CREATE INDEX tls_reports_end ON tls_reports (end_at);
CREATE TABLE tls_rows (
  domain TEXT NOT NULL,
  day INTEGER NOT NULL,
  reporter TEXT NOT NULL,
  policy_type TEXT NOT NULL,
  result TEXT NOT NULL,
  host TEXT NOT NULL,
  sessions INTEGER NOT NULL,
  PRIMARY KEY (domain, day, reporter, policy_type, result, host)
) STRICT, WITHOUT ROWID;
CREATE INDEX tls_rows_day ON tls_rows (day);
`,
)
