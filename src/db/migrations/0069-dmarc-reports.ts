// Aggregate reports of DMARC about domains here: those that wait to be read, those that were read, and their counts by day and source.

import { statements } from '../migrate.ts'

// report_intake: messages to dmarc@ the mail host. reporter: the domain that DMARC has authenticated. day: days since 1970, UTC.
export const dmarcReports = statements(
  69,
  'DMARC reports',
  `
CREATE TABLE report_intake (
  n INTEGER PRIMARY KEY,
  content BLOB NOT NULL,
  size_bytes INTEGER NOT NULL,
  reporter TEXT NOT NULL,
  received_at INTEGER NOT NULL
) STRICT;
CREATE TABLE dmarc_reports (
  n INTEGER PRIMARY KEY,
  domain TEXT NOT NULL,
  reporter TEXT NOT NULL,
  report_id TEXT NOT NULL,
  organization TEXT NOT NULL,
  policy TEXT NOT NULL,
  begin_at INTEGER NOT NULL,
  end_at INTEGER NOT NULL,
  received_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX dmarc_reports_id ON dmarc_reports (domain, reporter, report_id);
CREATE INDEX dmarc_reports_end ON dmarc_reports (end_at);
CREATE TABLE dmarc_rows (
  domain TEXT NOT NULL,
  day INTEGER NOT NULL,
  source_ip TEXT NOT NULL,
  reporter TEXT NOT NULL,
  dkim TEXT NOT NULL,
  spf TEXT NOT NULL,
  disposition TEXT NOT NULL,
  messages INTEGER NOT NULL,
  PRIMARY KEY (domain, day, source_ip, reporter, dkim, spf, disposition)
) STRICT, WITHOUT ROWID;
CREATE INDEX dmarc_rows_day ON dmarc_rows (day);
`,
)
