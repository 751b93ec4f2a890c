// What happened since a state, of one type or of several at once (decisions §10.11).

import { Type } from 'typebox'
import { type ErrorCode, invalid, ProductError } from '../../base/errors.ts'
import { route } from '../../http/route.ts'
import { CommaList, Words } from '../../http/schema.ts'
import { Changes, CountedChanges, changesQuery } from '../schemas/changes.ts'
import { record } from '../schemas/record.ts'
import { accountOf } from './account.ts'
import { changesOf } from './typed-changes.ts'

/** The types whose changes are told. */
export const SYNC_TYPES = ['messages', 'folders', 'threads', 'submissions', 'identities', 'quotas'] as const
type SyncType = (typeof SYNC_TYPES)[number]

const SINCE_MAX = 6
/** Those that tell when nothing but counts changed. */
const COUNTED: ReadonlySet<SyncType> = new Set(['folders', 'quotas'])

const ChangesByType = record('ChangesByType', 'What happened since several states.', {
  changes: record(
    'ChangesOfTypes',
    'By type; those that were asked for.',
    Object.fromEntries(SYNC_TYPES.map((type) => [type, Type.Optional(COUNTED.has(type) ? CountedChanges : Changes)])),
  ),
})

const listSyncChanges = route({
  method: 'GET',
  path: '/mailbox/sync/changes',
  operation: 'listSyncChanges',
  tag: 'Sync',
  summary: 'Tells what happened since a state, of one type or of several at once.',
  description:
    'Either `type` with `since_state`, or `since` for several. A state that is too old is answered with 409.',
  as: 'mailbox',
  permission: 'mailbox.read',
  query: Type.Object({
    type: Type.Optional(Words(SYNC_TYPES, 'Of what.')),
    since_state: Type.Optional(changesQuery.properties.since_state),
    since: Type.Optional({
      ...CommaList(Type.String({ minLength: 3, maxLength: 80 }), SINCE_MAX),
      description: 'Types with the last state known of each, as `type:state`.',
      examples: [['messages:m0']],
    }),
    limit: changesQuery.properties.limit,
  }),
  reply: Type.Union([Changes, CountedChanges, ChangesByType]),
  // Both forms at once.
  errors: ['validation_error'],
  async handle({ query, principal, app }) {
    const asked = readSince(query)
    const account = await accountOf(app, principal)
    const told = async ([type, state]: [SyncType, string]) =>
      [type, await changesOf(app, account, type, { since: state, limit: query.limit })] as const
    const pages = await Promise.all([...asked].map(told))
    return query.since === undefined ? pages[0]![1] : { changes: Object.fromEntries(pages) }
  },
})

interface Asked {
  type?: SyncType
  since_state?: string
  since?: readonly string[]
}

/** @throws ProductError missing_parameter for neither form, validation_error for both, invalid_parameter for a type unknown or named twice */
function readSince({ type, since_state: state, since }: Asked): Map<SyncType, string> {
  if (since === undefined) {
    if (type === undefined)
      throw wrong('missing_parameter', 'type', 'required', 'Name `type` with `since_state`, or `since`.')
    if (state === undefined)
      throw wrong('missing_parameter', 'since_state', 'required', 'Name the last state this client knows.')
    return new Map([[type, state]])
  }
  if (type !== undefined || state !== undefined) {
    throw invalid('since', 'forbidden_value', 'Either `type` with `since_state`, or `since`: not both.')
  }
  const asked = new Map<SyncType, string>()
  for (const pair of since) {
    const [name, value] = split(pair)
    const known = SYNC_TYPES.find((one) => one === name)
    if (known === undefined)
      throw wrong('invalid_parameter', 'since', 'invalid_format', 'Written as `type:state`, of a known type.')
    if (asked.has(known)) throw wrong('invalid_parameter', 'since', 'duplicate', 'A type is named once.')
    asked.set(known, value)
  }
  return asked
}

function wrong(status: ErrorCode, field: string, code: string, message: string): ProductError {
  return new ProductError(status, message, { issues: [{ field, code, message }] })
}

function split(pair: string): [string, string] {
  const colon = pair.indexOf(':')
  return [pair.slice(0, Math.max(colon, 0)), pair.slice(colon + 1)]
}

export const sync = [listSyncChanges]
