// How far texts of earlier versions have been cut into words anew, and how many messages of each kind an account has.

import { statements } from '../migrate.ts'

// A job goes through the messages there are now, in pieces (store/text-renewal.ts): what their bodies say stands in blobs.db alone. The one
// row of text_renewal names the last message that is done and the last one to do; it goes with the end of the work.
//
// The totals are kept by triggers: no writer of messages can forget them, and they cost one row of a small table.
const add = (row: 'new' | 'old', sign: '+' | '-') =>
  `INSERT INTO message_totals (account, listed, seen, flagged, has_attachments, messages, size_bytes)
  VALUES (${row}.account, ${row}.listed, ${row}.seen, ${row}.flagged, ${row}.has_attachments, ${sign}1, ${sign}${row}.size_bytes)
  ON CONFLICT DO UPDATE SET messages = messages + excluded.messages, size_bytes = size_bytes + excluded.size_bytes`

// Nothing is left of an account without messages.
const tidy = 'DELETE FROM message_totals WHERE account = old.account AND messages = 0'

export const searchTextTables = statements(
  15,
  'search-text',
  `
CREATE TABLE text_renewal (
  place INTEGER NOT NULL,
  last INTEGER NOT NULL
) STRICT;
INSERT INTO text_renewal (place, last) SELECT 0, n FROM messages ORDER BY n DESC LIMIT 1;

CREATE TABLE message_totals (
  account INTEGER NOT NULL,
  listed INTEGER NOT NULL,
  seen INTEGER NOT NULL,
  flagged INTEGER NOT NULL,
  has_attachments INTEGER NOT NULL,
  messages INTEGER NOT NULL,
  size_bytes INTEGER NOT NULL,
  PRIMARY KEY (account, listed, seen, flagged, has_attachments)
) STRICT, WITHOUT ROWID;
INSERT INTO message_totals
  SELECT account, listed, seen, flagged, has_attachments, count(*), sum(size_bytes) FROM messages GROUP BY 1, 2, 3, 4, 5;
CREATE TRIGGER message_totals_come AFTER INSERT ON messages BEGIN ${add('new', '+')}; END;
CREATE TRIGGER message_totals_go AFTER DELETE ON messages BEGIN ${add('old', '-')}; ${tidy}; END;
CREATE TRIGGER message_totals_change AFTER UPDATE OF listed, seen, flagged, has_attachments, size_bytes ON messages
  BEGIN ${add('old', '-')}; ${add('new', '+')}; ${tidy}; END;
`,
)
