// Aliases, and what ends with a mailbox.

import { statements } from '../migrate.ts'

export const mailboxLifeTables = statements(12, 'mailbox-life', '')
