// The state of a list: the state of its type, and a digest of its filters and order (docs/design/mailbox.md §3).

import { canonicalJson } from '../../base/canonical-json.ts'
import { conflict, ProductError } from '../../base/errors.ts'
import { sha256 } from '../../base/secrets.ts'

const FORM = /^([a-z][0-9a-z]{1,11})\.([0-9a-f]{8})(?:\.([0-9a-f]{8}))?$/
const SWITCHES = new Set(['collapse_threads', 'in_trash_or_junk'])
const PARAM = 'since_query_state'

/** A list: the names of its filters and order, their values, and the ids of names in the search that can be renamed. */
export interface ListKey {
  fields: readonly string[]
  query: Readonly<Record<string, unknown>>
  /** Usually "". */
  names: string
}

/** @param state of the type */
export function writeQueryState(state: string, { fields, query, names }: ListKey): string {
  // A switch that is off does not filter.
  const filters: Record<string, unknown> = {}
  for (const name of fields) if (!isOff(name, query[name])) filters[name] = query[name]
  const list = `${state}.${keptDigest(canonicalJson(filters))}`
  return names === '' ? list : `${list}.${digest(names)}`
}

/**
 * The state of the type at which a list was read.
 * @throws ProductError invalid_parameter for the state of another list, conflict for a malformed one or when names in the search changed
 */
export function readQueryState(text: string, list: ListKey): string {
  const [, state, listDigest] = FORM.exec(text) ?? []
  if (state === undefined) throw conflict('State is too old; fetch the list again', PARAM)
  const expected = writeQueryState(state, list)
  if (expected === text) return state
  if (expected.split('.')[1] === listDigest) throw conflict('State is too old; fetch the list again', PARAM)
  const message = 'This state belongs to a list with other filters or another order. Fetch the list again.'
  throw new ProductError('invalid_parameter', message, { issues: [{ field: PARAM, code: 'forbidden_value', message }] })
}

function isOff(name: string, value: unknown): boolean {
  return value === undefined || (value === false && SWITCHES.has(name))
}

/** Digests of filters and orders: few of them are in use. */
const digests = new Map<string, string>()
const DIGESTS_MAX = 500
/** Longer texts are not kept, characters. */
const KEPT_MAX = 500

function keptDigest(text: string): string {
  const known = digests.get(text)
  if (known !== undefined) return known
  const made = digest(text)
  if (digests.size >= DIGESTS_MAX) digests.clear()
  if (text.length <= KEPT_MAX) digests.set(text, made)
  return made
}

function digest(text: string): string {
  return sha256(text).toString('hex').slice(0, 8)
}
