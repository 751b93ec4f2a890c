// Finds the intents of one message, those that are due, and those that wait for their answer, without reading all of an account.

import { statements } from '../migrate.ts'

export const intentIndexes = statements(
  44,
  'intent indexes',
  `
DROP INDEX remote_intents_remote;
CREATE INDEX remote_intents_message ON remote_intents (remote, message);
CREATE INDEX remote_intents_announced ON remote_intents (remote, folder) WHERE kind <> 'later';
CREATE INDEX remote_intents_due ON remote_intents (remote, detail ->> 'at') WHERE kind = 'later';
`,
)
