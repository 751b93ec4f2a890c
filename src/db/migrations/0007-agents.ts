// Agents: registrations, tokens, invitations.

import { statements } from '../migrate.ts'

export const agentTables = statements(7, 'agents', '')
