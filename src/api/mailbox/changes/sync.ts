// Changes since a state, of one type or of several at once (docs/design/mailbox.md §11).

import { Type } from 'typebox'
import { type ErrorCode, invalid, ProductError } from '../../../base/errors.ts'
import { route } from '../../../http/route.ts'
import { CommaList, Words } from '../../../http/schema.ts'
import { accountOf } from '../../rules/account.ts'
import { Changes, CountedChanges, changesQuery } from '../../schemas/changes.ts'
import { record } from '../../schemas/record.ts'
import { changesOf } from './typed-changes.ts'

/** Types with changes. */
export const SYNC_TYPES = ['messages', 'folders', 'threads', 'submissions', 'identities', 'quotas'] as const
type SyncType = (typeof SYNC_TYPES)[number]

const SINCE_MAX = 6
/** Types that report when only counts changed. */
const COUNTED: ReadonlySet<SyncType> = new Set(['folders', 'quotas'])

const ChangesByType = record('ChangesByType', 'Changes since several states.', {
  changes: record(
    'ChangesOfTypes',
    'By type; only the requested types.',
    Object.fromEntries(SYNC_TYPES.map((type) => [type, Type.Optional(COUNTED.has(type) ? CountedChanges : Changes)])),
  ),
})

const listSyncChanges = route({
  method: 'GET',
  path: '/mailbox/sync/changes',
  docs: {
    operation: 'listSyncChanges',
    tag: 'Sync',
    summary: 'List the changes of one or several types since a state',
    description:
      'Either `type` with `since_state`, or `since` for several. A state that is too old is answered with 409.',
    // For both forms at once.
    errors: ['validation_error'],
  },
  access: { as: 'mailbox', permission: 'mailbox.read' },
  query: Type.Object({
    type: Type.Optional(Words(SYNC_TYPES, 'Of what.')),
    since_state: Type.Optional(changesQuery.properties.since_state),
    since: Type.Optional({
      ...CommaList(Type.String({ minLength: 3, maxLength: 80 }), SINCE_MAX),
      description: 'Types with the last known state of each, as `type:state`.',
      examples: [['messages:m0']],
    }),
    limit: changesQuery.properties.limit,
  }),
  reply: { schema: Type.Union([Changes, CountedChanges, ChangesByType]) },
  async handle({ query, principal, app }) {
    const sinceByType = readSince(query)
    const account = accountOf(app, principal)
    const readPage = ([type, state]: [SyncType, string]) =>
      [type, changesOf(app, account, type, { since: state, limit: query.limit })] as const
    const pages = await Promise.all([...sinceByType].map(readPage))
    return query.since === undefined ? pages[0]![1] : { changes: Object.fromEntries(pages) }
  },
})

interface SinceQuery {
  type?: SyncType
  since_state?: string
  since?: readonly string[]
}

/** @throws ProductError missing_parameter for neither form, validation_error for both, invalid_parameter for a type unknown or named twice */
function readSince({ type, since_state: state, since }: SinceQuery): Map<SyncType, string> {
  if (since === undefined) {
    if (type === undefined)
      throw wrong('missing_parameter', 'type', 'required', 'Name `type` with `since_state`, or `since`.')
    if (state === undefined)
      throw wrong(
        'missing_parameter',
        'since_state',
        'required',
        'since_state is missing. Send the last known state of the type.',
      )
    return new Map([[type, state]])
  }
  if (type !== undefined || state !== undefined) {
    throw invalid('since', 'forbidden_value', 'since cannot be combined with type and since_state. Send one form only.')
  }
  const sinceByType = new Map<SyncType, string>()
  for (const pair of since) {
    const [name, value] = split(pair)
    const known = SYNC_TYPES.find((one) => one === name)
    if (known === undefined)
      throw wrong(
        'invalid_parameter',
        'since',
        'invalid_format',
        'Unknown type or format. Write `type:state` with a known type.',
      )
    if (sinceByType.has(known))
      throw wrong('invalid_parameter', 'since', 'duplicate', 'A type is given more than once. Name each type once.')
    sinceByType.set(known, value)
  }
  return sinceByType
}

function wrong(status: ErrorCode, field: string, code: string, message: string): ProductError {
  return new ProductError(status, message, { issues: [{ field, code, message }] })
}

function split(pair: string): [string, string] {
  const colon = pair.indexOf(':')
  return [pair.slice(0, Math.max(colon, 0)), pair.slice(colon + 1)]
}

export const sync = [listSyncChanges]
