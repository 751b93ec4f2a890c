// People: members of teams, links to sign in, sessions.

import { statements } from '../migrate.ts'

export const peopleTables = statements(5, 'people', '')
