// Changes of a list since a state (docs/design/mailbox.md §3 "Query-changes object").

import { Type } from 'typebox'
import { type IdKind, idPattern } from '../../base/ids.ts'
import { Default } from '../../http/schema.ts'
import { MAILBOX_LIMITS } from './limits.ts'
import { record } from './record.ts'

const CHANGES_PAGE = 100

export const QueryChanges = record(
  'QueryChanges',
  'Changes of a list since a state. A client that removes `removed` from its old list and inserts `added` one by one has the ' +
    'current list.',
  {
    old_query_state: Type.String({ description: 'The requested state.' }),
    new_query_state: Type.String({ description: 'The state after these changes.' }),
    total: Type.Integer({ minimum: 0, description: 'Length of the whole list now.' }),
    removed: Type.Array(Type.String(), {
      description: 'Entries that left the list, or may have another position in it; some may never have been in it.',
    }),
    added: Type.Array(
      record('ListPlace', 'Position of an entry in the list now.', {
        id: Type.String(),
        index: Type.Integer({ minimum: 0, description: 'Index, counted from 0.' }),
      }),
      { description: 'Entries that were added or returned to the list, by `index` ascending.' },
    ),
  },
  {
    old_query_state: 'm1k9.0a1b2c3d',
    new_query_state: 'm1ka.0a1b2c3d',
    total: 120,
    removed: ['msg_0a1b2c3d4e5f6g7h8i9j0k1l'],
    added: [{ id: 'msg_0a1b2c3d4e5f6g7h8i9j0k1l', index: 0 }],
  },
)

/** Parameters in addition to the filters and the order of the list. */
export const followQuery = {
  since_query_state: Type.String({
    minLength: 1,
    maxLength: 64,
    description: 'The last `query_state` of the same list the client knows.',
  }),
  limit: Default(
    Type.Integer({
      minimum: 1,
      maximum: MAILBOX_LIMITS.changes_limit_max,
      description: 'Maximum number of changes; when there are more, fetch the list again (409).',
    }),
    CHANGES_PAGE,
  ),
}

/** The last entry of the part of the list the client has. */
export function upTo(...kinds: IdKind[]) {
  const patterns = kinds.map((kind) => `(?:${idPattern(kind)})`)
  return Type.Optional(
    Type.String({
      pattern: patterns.join('|'),
      description: 'The last entry the client has: entries after it are not reported as added.',
    }),
  )
}
