// How far texts of earlier versions have been cut into words anew.

import { statements } from '../migrate.ts'

// A job goes through the messages there are now, in pieces (store/text-renewal.ts): what their bodies say stands in blobs.db alone. The one
// row names the last message that is done and the last one to do; it goes with the end of the work.
export const searchTextTables = statements(
  15,
  'search-text',
  `
CREATE TABLE text_renewal (
  place INTEGER NOT NULL,
  last INTEGER NOT NULL
) STRICT;
INSERT INTO text_renewal (place, last) SELECT 0, n FROM messages ORDER BY n DESC LIMIT 1;
`,
)
