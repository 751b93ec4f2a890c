// Parses the arguments of one command by its signature: tagged arguments in any order, then positional ones (RFC 5228 2.6).

import type { Extension } from './extensions.ts'
import type { SieveArgument, SieveCommand } from './parser.ts'

export type ArgumentKind = 'string' | 'strings' | 'number'

/** A tag: at most one of a group may be given. */
export interface TagRule {
  group: string
  takes?: ArgumentKind
  needs?: Extension
}

/** The arguments, tests and block of a command. */
export interface Signature {
  needs?: Extension
  tags?: Readonly<Record<string, TagRule>>
  /** Positional arguments, each with its name for messages. */
  takes?: readonly (readonly [ArgumentKind, string])[]
  /** One more, which may be left out. */
  optional?: readonly [ArgumentKind, string]
  /** How many tests follow the arguments. */
  tests?: 'one' | 'list'
  block?: true
}

/** A value, and its offset in the script. */
export interface ArgumentValue {
  at: number
  strings: string[]
  number: number
}

/** The arguments by the signature of the command. */
export interface ParsedArguments {
  /** By group. */
  tags: Map<string, ArgumentValue & { tag: string }>
  positional: ArgumentValue[]
}

/** Collects problems and warnings, and knows the extensions the script requires. */
export interface ScriptChecker {
  wrong(at: number, message: string): void
  /** Notes a command that is valid and has no effect. */
  warn(at: number, message: string): void
  has(extension: Extension): boolean
  /** The values of variables are in the strings: nothing is left to be replaced. */
  readonly isExpanded: boolean
}

const KINDS: Record<ArgumentKind, string> = {
  string: 'one string',
  strings: 'a string or a list of strings',
  number: 'a number',
}

/** @returns null when something is wrong, which was reported to the checker */
export function readArguments(
  command: SieveCommand,
  signature: Signature,
  checker: ScriptChecker,
): ParsedArguments | null {
  const reading = new Reading(command, signature, checker)
  const read = reading.run()
  return reading.sound ? read : null
}

class Reading {
  sound = true
  #lost = false
  readonly #command: SieveCommand
  readonly #signature: Signature
  readonly #checker: ScriptChecker
  readonly #args: readonly SieveArgument[]
  #next = 0

  constructor(command: SieveCommand, signature: Signature, checker: ScriptChecker) {
    this.#command = command
    this.#signature = signature
    this.#checker = checker
    this.#args = command.args
  }

  run(): ParsedArguments {
    const { name, at } = this.#command
    const { needs } = this.#signature
    if (needs && !this.#checker.has(needs)) this.#wrong(at, needsRequire(`"${name}"`, needs))
    const tags: ParsedArguments['tags'] = new Map()
    for (let next = this.#here; next?.kind === 'tag'; next = this.#here) {
      this.#next++
      this.#tag(next.tag, next.at, tags)
    }
    const positional: ArgumentValue[] = []
    for (const [kind, called] of this.#signature.takes ?? []) {
      // After an argument of another kind the rest cannot be assigned.
      if (this.#lost) break
      const given = this.#value(kind, `"${name}" needs ${called}: ${KINDS[kind]}.`, at)
      if (given) positional.push(given)
    }
    const { optional } = this.#signature
    if (optional && this.sound && this.#here && this.#here.kind !== 'tag') {
      const given = this.#value(optional[0], `"${name}" takes ${optional[1]}: ${KINDS[optional[0]]}.`, at)
      if (given) positional.push(given)
    }
    const more = this.#here
    if (more && this.sound) {
      const late =
        more.kind === 'tag'
          ? 'Tagged arguments must come before positional arguments.'
          : `"${name}" takes no further argument.`
      this.#wrong(more.at, late)
    }
    this.#form()
    return { tags, positional }
  }

  #tag(tag: string, at: number, tags: ParsedArguments['tags']): void {
    const rules = this.#signature.tags ?? {}
    const rule = Object.hasOwn(rules, tag) ? rules[tag]! : undefined
    if (!rule) {
      this.#wrong(at, `"${this.#command.name}" takes no ":${tag}".`)
      return
    }
    if (rule.needs && !this.#checker.has(rule.needs)) this.#wrong(at, needsRequire(`":${tag}"`, rule.needs))
    const other = tags.get(rule.group)
    if (other) {
      this.#wrong(
        at,
        other.tag === tag ? `":${tag}" is given twice.` : `":${tag}" and ":${other.tag}" exclude each other.`,
      )
    }
    const given = rule.takes ? this.#value(rule.takes, `":${tag}" is followed by ${KINDS[rule.takes]}.`, at) : null
    tags.set(rule.group, { tag, at, strings: [], number: 0, ...given })
  }

  #value(kind: ArgumentKind, missing: string, behind: number): ArgumentValue | null {
    const next = this.#here
    if (next?.kind === 'number' && kind === 'number') {
      this.#next++
      return { at: next.at, strings: [], number: next.number }
    }
    if (next?.kind === 'strings' && (kind === 'strings' || (kind === 'string' && !next.isList))) {
      this.#next++
      return { at: next.at, strings: next.strings, number: 0 }
    }
    this.#lost = true
    this.#wrong(next?.at ?? behind, missing)
    return null
  }

  /** Checks the tests and the block that follow the arguments. */
  #form(): void {
    const { name, at, tests, hasTestList, block } = this.#command
    const { tests: wanted, block: wantsBlock = false } = this.#signature
    if (wanted === undefined && (tests.length > 0 || hasTestList)) this.#wrong(at, `"${name}" takes no test.`)
    if (wanted === 'list' && !hasTestList) this.#wrong(at, `"${name}" takes tests in parentheses.`)
    if (wanted === 'one' && (hasTestList || tests.length !== 1)) this.#wrong(at, `"${name}" takes one test.`)
    if (wantsBlock && block === null) this.#wrong(at, `"${name}" takes a block in braces.`)
    if (!wantsBlock && block !== null) this.#wrong(at, `"${name}" takes no block.`)
  }

  get #here(): SieveArgument | undefined {
    return this.#args[this.#next]
  }

  #wrong(at: number, message: string): void {
    this.sound = false
    this.#checker.wrong(at, message)
  }
}

function needsRequire(what: string, extension: Extension): string {
  return `${what} needs require "${extension}" at the start of the script.`
}
