// The version of the features that labels and models of the spam filter are made of.

import { statements } from '../migrate.ts'

// taught: the value of is_spam that another filter has learned; NULL when none has.
export const spamFeatureSets = statements(
  66,
  'spam feature sets',
  `
ALTER TABLE spam_labels ADD COLUMN feature_set INTEGER NOT NULL DEFAULT 1;
ALTER TABLE spam_labels ADD COLUMN taught INTEGER;
ALTER TABLE spam_models ADD COLUMN feature_set INTEGER NOT NULL DEFAULT 1;
CREATE INDEX spam_labels_untaught ON spam_labels (n) WHERE taught IS NOT is_spam AND source <> 'kept';
CREATE INDEX spam_labels_feature_set ON spam_labels (feature_set, account);
DROP INDEX spam_models_version;
CREATE INDEX spam_models_version ON spam_models (owner, feature_set, version);
`,
)
