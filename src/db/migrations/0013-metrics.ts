// What happened to mail, counted by the hour.

import { statements } from '../migrate.ts'

export const metricTables = statements(
  13,
  'metrics',
  `
CREATE TABLE mail_counts (
  hours INTEGER NOT NULL,
  start INTEGER NOT NULL,
  team_id TEXT NOT NULL,
  provider_id TEXT NOT NULL,
  mailbox_id TEXT NOT NULL,
  domain TEXT NOT NULL,
  own_domain INTEGER NOT NULL,
  recipient_domain TEXT NOT NULL,
  event_reason TEXT NOT NULL,
  provider_name TEXT NOT NULL,
  accepted INTEGER NOT NULL,
  sent INTEGER NOT NULL,
  delivered INTEGER NOT NULL,
  delayed INTEGER NOT NULL,
  bounced_hard INTEGER NOT NULL,
  bounced_soft INTEGER NOT NULL,
  complained INTEGER NOT NULL,
  rejected INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  received INTEGER NOT NULL,
  received_spam INTEGER NOT NULL,
  received_blocked INTEGER NOT NULL,
  PRIMARY KEY (hours, start, team_id, provider_id, mailbox_id, domain, own_domain, recipient_domain, event_reason)
) STRICT, WITHOUT ROWID;
`,
)
