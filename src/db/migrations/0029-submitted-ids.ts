// Recognises a repeated submission of a mail program.

import { statements } from '../migrate.ts'

// fingerprint: SHA-256 of the message as submitted and of its recipients; NULL when the program gave no Message-ID, and for submissions
// over the API.
export const submittedIds = statements(
  29,
  'submitted ids',
  `
ALTER TABLE submissions ADD COLUMN fingerprint BLOB;
CREATE INDEX submissions_internet_id ON submissions (account, internet_message_id) WHERE internet_message_id IS NOT NULL;
`,
)
