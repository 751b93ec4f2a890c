// Rules by which messages to some recipient domains leave through one sending account, through a group, or straight.

import { statements } from '../migrate.ts'

// match: 'domain' for the domain of the address, 'operator' for the registered domain of its mail servers. target_id: an account or a group.
export const routingRules = statements(
  72,
  'routing rules',
  `
CREATE TABLE routing_rules (
  n INTEGER PRIMARY KEY,
  team_id TEXT NOT NULL,
  match TEXT NOT NULL,
  domain TEXT NOT NULL,
  via TEXT NOT NULL,
  target_id TEXT,
  UNIQUE (team_id, match, domain)
) STRICT;
CREATE INDEX routing_rules_target ON routing_rules (target_id);
`,
)
