// Notifications that scripts ask for (RFC 5435): due ones, and those of a day for its limits.

import { statements } from '../migrate.ts'

export const scriptNotifications = statements(
  61,
  'script notifications',
  `CREATE TABLE script_notifications (
    n INTEGER PRIMARY KEY,
    account INTEGER NOT NULL,
    source TEXT NOT NULL,
    notification TEXT,
    author TEXT NOT NULL,
    subject TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX script_notifications_by_account ON script_notifications (account, created_at);
  CREATE INDEX script_notifications_due ON script_notifications (n) WHERE notification IS NOT NULL;`,
)
