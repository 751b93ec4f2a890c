// Messages that the server of an outside account does not give, and what identifies a message where its key does not.

import { statements } from '../migrate.ts'

// remote_messages.skip_reason: why a message is not here, null when it is; see SKIP_REASONS in sync/model/records.ts. digest: 16 bytes over the
// first bytes of its content, null where they are not known.
// remote_accounts.skipped: the sum of the skipped messages, JSON or null, written at the end of each round.
// Messages that were given up are asked for again: their heads first, because state 2 also stood for those that had none.
export const skippedMessages = statements(
  49,
  'skipped messages',
  `
ALTER TABLE remote_messages ADD COLUMN skip_reason TEXT;
ALTER TABLE remote_messages ADD COLUMN digest BLOB;
ALTER TABLE remote_accounts ADD COLUMN skipped TEXT;
UPDATE remote_messages SET skip_reason = 'large' WHERE state <> 0 AND state = 2 AND tries = 0;
UPDATE remote_messages SET state = 3, skip_reason = 'absent' WHERE state <> 0 AND state = 2 AND tries > 0;
UPDATE remote_messages SET skip_reason = 'absent' WHERE state <> 0 AND state IN (1, 3);
`,
)
