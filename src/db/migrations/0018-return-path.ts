// The envelope sender of sending accounts on SMTP; keys of reserved domains are looked for in DNS.

import { statements } from '../migrate.ts'

// return_path: the address the operator of the account has set; NULL: from_email. takes_verp: 1 once a check has shown that the server takes
// an envelope sender of ours for each message. Earlier versions used such senders without asking: every account that is in use is checked
// again, and sends with its own address until then. Reserved domains (.test and the like) were never looked at before.
export const returnPathColumns = statements(
  18,
  'return-path',
  `
ALTER TABLE providers ADD COLUMN return_path TEXT;
ALTER TABLE providers ADD COLUMN takes_verp INTEGER NOT NULL DEFAULT 0;
UPDATE providers SET check_due_at = 0 WHERE type = 'smtp' AND status = 'active' AND check_due_at IS NULL;
UPDATE domains SET next_check_at = 0 WHERE verification_status = 'verified' AND next_check_at IS NULL;
`,
)
