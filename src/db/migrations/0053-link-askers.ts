// Messages with sign-in links are counted by those who asked for them.

import { statements } from '../migrate.ts'

export const linkAskers = statements(
  53,
  'link askers',
  `
ALTER TABLE sign_in_mails ADD COLUMN kind TEXT NOT NULL DEFAULT 'stranger';
ALTER TABLE sign_in_mails ADD COLUMN asker TEXT NOT NULL DEFAULT '';
`,
)
