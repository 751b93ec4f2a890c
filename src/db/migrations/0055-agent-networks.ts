// Registrations of agents are counted by the networks of their address too.

import { statements } from '../migrate.ts'

export const agentNetworks = statements(
  55,
  'agent networks',
  `
ALTER TABLE agent_registrations ADD COLUMN network BLOB;
ALTER TABLE agent_registrations ADD COLUMN wide_network BLOB;
CREATE INDEX agent_registrations_network ON agent_registrations (network, created_at) WHERE network IS NOT NULL;
CREATE INDEX agent_registrations_wide_network ON agent_registrations (wide_network, created_at) WHERE wide_network IS NOT NULL;
`,
)
