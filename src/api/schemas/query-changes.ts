// What became of a list since a state (decisions §10.3 "Query-changes object").

import { Type } from 'typebox'
import { type IdKind, idPattern } from '../../base/ids.ts'
import { Default } from '../../http/schema.ts'
import { MAILBOX_LIMITS } from '../mailbox/limits.ts'
import { record } from './record.ts'

const CHANGES_PAGE = 100

export const QueryChanges = record(
  'QueryChanges',
  'What became of a list since a state. Who holds the list of then, takes `removed` out of it and puts `added` in, one after the ' +
    'other, holds the list of now.',
  {
    old_query_state: Type.String({ description: 'The state that was asked for.' }),
    new_query_state: Type.String({ description: 'The state after these changes.' }),
    total: Type.Integer({ minimum: 0, description: 'Entries of the whole list now.' }),
    removed: Type.Array(Type.String(), {
      description: 'What is no longer in the list, or may stand elsewhere in it; some were never in it.',
    }),
    added: Type.Array(
      record('ListPlace', 'Where something stands in the list now.', {
        id: Type.String(),
        index: Type.Integer({ minimum: 0, description: 'Its place, counted from 0.' }),
      }),
      { description: 'What came into the list, or came back to it, by `index`, the lowest first.' },
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

/** What a query asks for beside the filters and the order of its list. */
export const followQuery = {
  since_query_state: Type.String({
    minLength: 1,
    maxLength: 64,
    description: 'The last `query_state` this client knows of the same list.',
  }),
  limit: Default(
    Type.Integer({
      minimum: 1,
      maximum: MAILBOX_LIMITS.changes_limit_max,
      description: 'Changes looked at; when there were more, the list has to be fetched again (409).',
    }),
    CHANGES_PAGE,
  ),
}

/** The last entry a client holds of a list it holds the beginning of. */
export function upTo(...kinds: IdKind[]) {
  const patterns = kinds.map((kind) => `(?:${idPattern(kind)})`)
  return Type.Optional(
    Type.String({
      pattern: patterns.join('|'),
      description: 'The last entry this client holds: what stands behind it is not told as added.',
    }),
  )
}
