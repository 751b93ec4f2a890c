// The state of a list: that of its type, and which filters and order it was asked with (decisions §10.3).

import { canonicalJson } from '../../base/canonical-json.ts'
import { conflict, ProductError } from '../../base/errors.ts'
import { sha256 } from '../../base/secrets.ts'

const FORM = /^([a-z][0-9a-z]{1,11})\.([0-9a-f]{8})(?:\.([0-9a-f]{8}))?$/
const SWITCHES = new Set(['collapse_threads', 'in_trash_or_junk'])
const PARAM = 'since_query_state'

/** A list: its filters and its order by name, what was asked of them, and what words in it stand for that its type does not tell of. */
export interface ListKey {
  fields: readonly string[]
  query: Readonly<Record<string, unknown>>
  /** "" mostly. */
  names: string
}

/** @param state of the type */
export function writeQueryState(state: string, { fields, query, names }: ListKey): string {
  // A switch that is off asks for nothing.
  const asked = fields.map((name) => [name, query[name]] as const).filter(([name, value]) => !isOff(name, value))
  const parts = [state, digest(canonicalJson(Object.fromEntries(asked)))]
  return (names === '' ? parts : [...parts, digest(names)]).join('.')
}

/**
 * The state of the type a list was read at.
 * @throws ProductError invalid_parameter when it is the state of another list, conflict when it is none or its words have another meaning now
 */
export function readQueryState(text: string, list: ListKey): string {
  const [, state, asked] = FORM.exec(text) ?? []
  if (state === undefined) throw conflict('State is too old; fetch the list again', PARAM)
  const expected = writeQueryState(state, list)
  if (expected === text) return state
  if (expected.split('.')[1] === asked) throw conflict('State is too old; fetch the list again', PARAM)
  const message = 'This is the state of a list with other filters or another order.'
  throw new ProductError('invalid_parameter', message, { issues: [{ field: PARAM, code: 'forbidden_value', message }] })
}

function isOff(name: string, value: unknown): boolean {
  return value === undefined || (value === false && SWITCHES.has(name))
}

function digest(text: string): string {
  return sha256(text).toString('hex').slice(0, 8)
}
