// Figures: the money of teams, and what is to be paid for.

import { statements } from '../migrate.ts'

export const figureTables = statements(
  6,
  'figures',
  `
CREATE TABLE billing_accounts (
  team_id TEXT PRIMARY KEY,
  balance_micro INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE billing_transactions (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  team_id TEXT NOT NULL,
  type TEXT NOT NULL,
  amount_micro INTEGER NOT NULL,
  balance_micro INTEGER NOT NULL,
  currency TEXT NOT NULL,
  quantity INTEGER,
  unit_price_micro INTEGER,
  description TEXT NOT NULL,
  reference TEXT,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX billing_transactions_team ON billing_transactions (team_id, created_at DESC, n DESC);

CREATE TABLE billing_meters (
  team_id TEXT NOT NULL,
  hour INTEGER NOT NULL,
  provider_id TEXT NOT NULL,
  provider_name TEXT NOT NULL,
  quantity INTEGER NOT NULL,
  PRIMARY KEY (team_id, hour, provider_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX billing_meters_hour ON billing_meters (hour);

INSERT INTO billing_meters (team_id, hour, provider_id, provider_name, quantity)
  SELECT d.team_id, 0, '', '', count(*) FROM deliveries d JOIN emails e ON e.n = d.email
  WHERE d.status = 'pending' AND e.source <> 'system' GROUP BY d.team_id;
`,
)
