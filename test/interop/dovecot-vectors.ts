// The messages that Dovecot and we are compared over.

import { fixtureNames } from '../support/fixtures.ts'

const FAMILIES = [
  ...['enmime', 'flanker', 'mail-parser', 'mailcore2', 'mime4j-testmsgs', 'mime4j-mimetools-testmsgs', 'python-email'],
  ...['ruby-mail', 'webklex'],
]

/** Messages, by their names below `mime`; the expected bodies of mime4j are none. */
export const VECTOR_NAMES = FAMILIES.flatMap((family) =>
  fixtureNames(`mime/${family}`).map((name) => `${family}/${name}`),
).filter((name) => /\.(?:eml|msg|txt|raw)$/.test(name) && !name.includes('_decoded'))
