// The state of a list: the state of its type, and a digest of its filters and order (decisions §10.3).

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
  const filters = fields.map((name) => [name, query[name]] as const).filter(([name, value]) => !isOff(name, value))
  const parts = [state, digest(canonicalJson(Object.fromEntries(filters)))]
  return (names === '' ? parts : [...parts, digest(names)]).join('.')
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

function digest(text: string): string {
  return sha256(text).toString('hex').slice(0, 8)
}
