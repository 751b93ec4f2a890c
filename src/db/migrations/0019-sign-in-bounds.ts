// Links and sessions say what they are bound to: one team, the mailbox a link was mailed through, the owner who was shown it.

import { statements } from '../migrate.ts'

// Links made before could be read with the key of a mailbox they were mailed to. They end here, with the sessions made through them; people
// ask for a new link. Invitations to become the owner of an agent stay open, without the link.
export const signInBounds = statements(
  19,
  'sign-in-bounds',
  `
DELETE FROM sign_in_links;
DELETE FROM sessions;
ALTER TABLE sign_in_links ADD COLUMN team_id TEXT;
ALTER TABLE sign_in_links ADD COLUMN mailbox_id TEXT;
ALTER TABLE sign_in_links ADD COLUMN shown_by TEXT;
ALTER TABLE sessions ADD COLUMN team_id TEXT;
ALTER TABLE sessions ADD COLUMN mailbox_id TEXT;
ALTER TABLE sessions ADD COLUMN shown_by TEXT;
ALTER TABLE owner_invites ADD COLUMN mailbox_id TEXT;
ALTER TABLE owner_invites ADD COLUMN shown INTEGER NOT NULL DEFAULT 0;
UPDATE owner_invites SET token_hash = randomblob(32)
  WHERE state = 'pending' AND substr(email, instr(email, '@') + 1) IN (SELECT name FROM domains WHERE receives = 1);
CREATE INDEX sign_in_links_email ON sign_in_links (email);
CREATE INDEX sign_in_links_mailbox ON sign_in_links (mailbox_id) WHERE mailbox_id IS NOT NULL;
CREATE INDEX sessions_mailbox ON sessions (mailbox_id) WHERE mailbox_id IS NOT NULL;
CREATE INDEX owner_invites_mailbox ON owner_invites (mailbox_id) WHERE mailbox_id IS NOT NULL;
`,
)
