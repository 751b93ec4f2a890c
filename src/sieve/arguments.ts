// The arguments of one command, told apart by what the command takes: tags in any order, then what has its place (RFC 5228 2.6).

import type { Extension } from './extensions.ts'
import type { Argument, Command } from './parser.ts'

export type Kind = 'string' | 'strings' | 'number'

/** A tag: only one of a group may be given. */
export interface TagRule {
  group: string
  takes?: Kind
  needs?: Extension
}

/** What a command takes. */
export interface Signature {
  needs?: Extension
  tags?: Readonly<Record<string, TagRule>>
  /** Arguments by place, each with what it is called in a sentence. */
  takes?: readonly (readonly [Kind, string])[]
  /** How many tests stand behind the arguments. */
  tests?: 'one' | 'list'
  block?: true
}

/** A value, and where it stands. */
export interface Given {
  at: number
  strings: string[]
  number: number
}

/** Arguments as a command asked for them. */
export interface Read {
  /** By group. */
  tags: Map<string, Given & { tag: string }>
  places: Given[]
}

/** Who is told what is wrong, and which extensions the script has asked for. */
export interface Findings {
  wrong(at: number, message: string): void
  has(extension: Extension): boolean
}

const KINDS: Record<Kind, string> = {
  string: 'one string',
  strings: 'a string or a list of strings',
  number: 'a number',
}

/** @returns null where something is wrong, which then was told */
export function readArguments(command: Command, signature: Signature, findings: Findings): Read | null {
  const reading = new Reading(command, signature, findings)
  const read = reading.run()
  return reading.sound ? read : null
}

class Reading {
  sound = true
  #lost = false
  readonly #command: Command
  readonly #signature: Signature
  readonly #findings: Findings
  readonly #args: readonly Argument[]
  #next = 0

  constructor(command: Command, signature: Signature, findings: Findings) {
    this.#command = command
    this.#signature = signature
    this.#findings = findings
    this.#args = command.args
  }

  run(): Read {
    const { name, at } = this.#command
    const { needs } = this.#signature
    if (needs && !this.#findings.has(needs)) this.#wrong(at, needsRequire(`"${name}"`, needs))
    const tags: Read['tags'] = new Map()
    for (let next = this.#here; next?.kind === 'tag'; next = this.#here) {
      this.#next++
      this.#tag(next.tag, next.at, tags)
    }
    const places: Given[] = []
    for (const [kind, called] of this.#signature.takes ?? []) {
      // Behind an argument of another kind nobody knows which is which.
      if (this.#lost) break
      const given = this.#value(kind, `"${name}" needs ${called}: ${KINDS[kind]}.`, at)
      if (given) places.push(given)
    }
    const more = this.#here
    if (more && this.sound) {
      const late = more.kind === 'tag' ? 'Tags stand before other arguments.' : `"${name}" takes no further argument.`
      this.#wrong(more.at, late)
    }
    this.#form()
    return { tags, places }
  }

  #tag(tag: string, at: number, tags: Read['tags']): void {
    const rules = this.#signature.tags ?? {}
    const rule = Object.hasOwn(rules, tag) ? rules[tag]! : undefined
    if (!rule) {
      this.#wrong(at, `"${this.#command.name}" takes no ":${tag}".`)
      return
    }
    if (rule.needs && !this.#findings.has(rule.needs)) this.#wrong(at, needsRequire(`":${tag}"`, rule.needs))
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

  #value(kind: Kind, missing: string, behind: number): Given | null {
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

  /** What stands behind the arguments. */
  #form(): void {
    const { name, at, tests, hasTestList, block } = this.#command
    const { tests: wanted, block: wantsBlock = false } = this.#signature
    if (wanted === undefined && (tests.length > 0 || hasTestList)) this.#wrong(at, `"${name}" takes no test.`)
    if (wanted === 'list' && !hasTestList) this.#wrong(at, `"${name}" takes tests in parentheses.`)
    if (wanted === 'one' && (hasTestList || tests.length !== 1)) this.#wrong(at, `"${name}" takes one test.`)
    if (wantsBlock && block === null) this.#wrong(at, `"${name}" takes a block in braces.`)
    if (!wantsBlock && block !== null) this.#wrong(at, `"${name}" takes no block.`)
  }

  get #here(): Argument | undefined {
    return this.#args[this.#next]
  }

  #wrong(at: number, message: string): void {
    this.sound = false
    this.#findings.wrong(at, message)
  }
}

function needsRequire(what: string, extension: Extension): string {
  return `${what} needs require "${extension}" at the start of the script.`
}
