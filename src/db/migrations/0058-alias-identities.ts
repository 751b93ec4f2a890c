// Every alias has an identity: aliases that were created before they brought one get it.

import { statements } from '../migrate.ts'

// Aliases of agents have none, because an agent writes as its own address only. A number that the ledger records is not assigned again.
export const aliasIdentities = statements(
  58,
  'alias identities',
  `
CREATE TEMP TABLE new_identities AS
  SELECT row_number() OVER (ORDER BY a.n, l.created_at, l.email) AS place, a.n AS account, l.email, l.created_at,
    'idn_' || lower(hex(randomblob(12))) AS id
  FROM (SELECT mailbox_id, email, created_at FROM aliases UNION ALL SELECT mailbox_id, email, created_at FROM deleted_aliases) AS l
  JOIN mailboxes m ON m.id = l.mailbox_id AND m.is_agent = 0
  JOIN accounts a ON a.mailbox_id = m.id
  WHERE NOT EXISTS (SELECT 1 FROM identities i WHERE i.account = a.n AND i.email = l.email);
CREATE TEMP TABLE last_identity AS
  SELECT max(coalesce((SELECT max(n) FROM identities), 0), coalesce((SELECT max(n) FROM changes WHERE type = 'identities'), 0)) AS n;
UPDATE accounts SET seq = seq + 1, identities_seq = seq + 1 WHERE n IN (SELECT account FROM new_identities);
INSERT INTO identities (n, id, account, email, is_primary, created_at, updated_at)
  SELECT l.n + i.place, i.id, i.account, i.email, 0, i.created_at, i.created_at FROM new_identities i, last_identity l;
INSERT INTO changes (account, type, n, object, created_seq, changed_seq, gone, changed_at)
  SELECT i.account, 'identities', l.n + i.place, i.id, a.seq, a.seq, 0, i.created_at
  FROM new_identities i JOIN accounts a ON a.n = i.account, last_identity l;
DROP TABLE new_identities;
DROP TABLE last_identity;
`,
)
