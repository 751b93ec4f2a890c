// The search index is merged by the program, in small steps (store/search/segments.ts).

import { statements } from '../migrate.ts'

// crisismerge: so many segments of a level are merged at once inside a transaction. The steps keep below it.
export const searchMerges = statements(
  45,
  'search merges',
  `
INSERT INTO message_text (message_text, rank) VALUES ('automerge', 0);
INSERT INTO message_text (message_text, rank) VALUES ('crisismerge', 500);
`,
)
