// What people have said of messages, and the models that are made of it.

import { statements } from '../migrate.ts'

// spam_labels: one label for each content of a mailbox. sender: the authenticated author, "" for one that nothing proves. was_spam: what
// the filter had said. facts: names of facts, JSON. features: NULL until the content has been read, empty when it cannot be.
// spam_models: owner is a mailbox or a team; team_id is that of a mailbox, NULL for the model of a team.
export const spamLearning = statements(
  64,
  'spam learning',
  `
CREATE TABLE spam_labels (
  n INTEGER PRIMARY KEY,
  account INTEGER NOT NULL,
  content BLOB NOT NULL,
  is_spam INTEGER NOT NULL,
  was_spam INTEGER NOT NULL,
  source TEXT NOT NULL,
  sender TEXT NOT NULL,
  facts TEXT NOT NULL,
  labeled_at INTEGER NOT NULL,
  prior REAL,
  features BLOB
);
CREATE UNIQUE INDEX spam_labels_content ON spam_labels (account, content);
CREATE INDEX spam_labels_sender ON spam_labels (account, sender, is_spam);
CREATE TABLE spam_due (
  account INTEGER PRIMARY KEY
);
CREATE TABLE spam_models (
  owner TEXT NOT NULL PRIMARY KEY,
  team_id TEXT,
  version INTEGER NOT NULL,
  ham INTEGER NOT NULL,
  spam INTEGER NOT NULL,
  trained_at INTEGER NOT NULL,
  weights BLOB NOT NULL
);
CREATE INDEX spam_models_version ON spam_models (owner, version);
CREATE INDEX spam_models_team ON spam_models (team_id, owner) WHERE team_id IS NOT NULL;
`,
)
