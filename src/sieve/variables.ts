// Variables of scripts (RFC 5229): references in strings, values within bounds, and the modifiers of "set".

import { SieveRuntimeError } from './errors.ts'

/** RFC 5229 §3: at least 128 variables of 4,000 octets must be possible. */
export const VARIABLES_MAX = 128
export const VALUE_MAX = 8192
/** Match variables `${0}` to `${9}`, and further ones up to this. */
const MATCHES_MAX = 32

export const VARIABLE_NAME = /^[a-z_][a-z0-9_]*$/i
/** Identifiers, numbers and names in the namespace `global` (RFC 6609 §3.3). */
const REFERENCE = /\$\{(?:(global)\.)?([a-z_][a-z0-9_]*|[0-9]+)\}/gi

export function hasReference(text: string): boolean {
  REFERENCE.lastIndex = 0
  return REFERENCE.test(text)
}

/** The variables of one script of a run. Values are octets. */
export class ScriptVariables {
  readonly #own = new Map<string, string>()
  readonly #global: Map<string, string>
  /** Names that `global` makes those of all scripts. */
  readonly #shared = new Set<string>()
  #matches: readonly string[] = []

  constructor(global: Map<string, string>) {
    this.#global = global
  }

  /** @throws SieveRuntimeError when a string gets too long */
  expand(text: string): string {
    const most = Math.max(VALUE_MAX, text.length)
    let inserted = 0
    const expanded = text.replace(REFERENCE, (_, namespace: string | undefined, name: string) => {
      const value = this.#valueOf(namespace, name)
      inserted += value.length
      // Before the text is built: references alone could make it thousands of times as long.
      if (inserted > most) throw tooLong()
      return value
    })
    if (expanded.length > most) throw tooLong()
    return expanded
  }

  #valueOf(namespace: string | undefined, name: string): string {
    if (namespace !== undefined) return this.#global.get(name.toLowerCase()) ?? ''
    if (/^[0-9]/.test(name)) return this.#matches[Number(name)] ?? ''
    return this.#get(name.toLowerCase())
  }

  /** @param name as written, maybe with the namespace `global` @throws SieveRuntimeError with too many variables */
  set(name: string, value: string): void {
    const lower = name.toLowerCase()
    const isGlobal = lower.startsWith('global.')
    const key = isGlobal ? lower.slice('global.'.length) : lower
    const values = isGlobal || this.#shared.has(key) ? this.#global : this.#own
    // RFC 5229 §4: longer values may be cut.
    values.set(key, value.slice(0, VALUE_MAX))
    if (values.size > VARIABLES_MAX) throw new SieveRuntimeError(`A script has at most ${VARIABLES_MAX} variables.`)
  }

  /** The value of a name as written, maybe with the namespace `global`. */
  get(name: string): string {
    return this.expand(`\${${name}}`)
  }

  share(names: readonly string[]): void {
    for (const name of names) this.#shared.add(name.toLowerCase())
  }

  /** What the wildcards of a test matched; the whole value first. */
  matched(values: readonly string[]): void {
    this.#matches = values.slice(0, MATCHES_MAX)
  }

  #get(name: string): string {
    return (this.#shared.has(name) ? this.#global : this.#own).get(name) ?? ''
  }
}

function tooLong(): SieveRuntimeError {
  return new SieveRuntimeError(`A string with variables has at most ${VALUE_MAX} octets.`)
}

/** RFC 5229 §4.1: modifiers with their precedence; those with the higher one come first. */
export const MODIFIERS: ReadonlyMap<string, { precedence: number; apply(value: string): string }> = new Map([
  ['lower', { precedence: 40, apply: lower }],
  ['upper', { precedence: 40, apply: upper }],
  ['lowerfirst', { precedence: 30, apply: (value: string) => lower(value.slice(0, 1)) + value.slice(1) }],
  ['upperfirst', { precedence: 30, apply: (value: string) => upper(value.slice(0, 1)) + value.slice(1) }],
  ['quotewildcard', { precedence: 20, apply: (value: string) => value.replace(/[*?\\]/g, '\\$&') }],
  // RFC 5435 §6: the unreserved characters of RFC 3986 stay.
  ['encodeurl', { precedence: 15, apply: (value: string) => value.replace(/[^A-Za-z0-9._~-]/g, percentEncoded) }],
  // In characters, not octets.
  ['length', { precedence: 10, apply: (value: string) => String([...Buffer.from(value, 'latin1').toString()].length) }],
])

function percentEncoded(octet: string): string {
  return `%${octet.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
}

/** ASCII letters only: values are octets. */
function lower(value: string): string {
  return value.replace(/[A-Z]+/g, (part) => part.toLowerCase())
}

function upper(value: string): string {
  return value.replace(/[a-z]+/g, (part) => part.toUpperCase())
}
