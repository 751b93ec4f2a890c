// The content that is kept for resending is bounded for each team.

import { statements } from '../migrate.ts'

export const keptContentSizes = statements(
  42,
  'kept content sizes',
  `
ALTER TABLE kept_contents ADD COLUMN team_id TEXT NOT NULL DEFAULT '';
ALTER TABLE kept_contents ADD COLUMN size_bytes INTEGER NOT NULL DEFAULT 0;
UPDATE kept_contents SET (team_id, size_bytes) = (SELECT team_id, size_bytes FROM emails WHERE n = kept_contents.email)
  WHERE EXISTS (SELECT 1 FROM emails WHERE n = kept_contents.email);
CREATE INDEX kept_contents_team ON kept_contents (team_id, until, size_bytes);
`,
)
