// Parses the tokens of a Sieve script to commands with arguments, tests and blocks (RFC 5228 8.2).

import { SieveError } from './errors.ts'
import { type SieveToken, tokensOf } from './lexer.ts'

/** One argument; `at` is its offset in the script. */
export type SieveArgument =
  | { kind: 'tag'; tag: string; at: number }
  | { kind: 'number'; number: number; at: number }
  | { kind: 'strings'; strings: string[]; isList: boolean; at: number }

/** A command or a test: both have the same syntax after the name. */
export interface SieveCommand {
  name: string
  at: number
  args: SieveArgument[]
  tests: SieveCommand[]
  /** True when the tests are in parentheses. */
  hasTestList: boolean
  /** Null when the command ends with a semicolon. */
  block: SieveCommand[] | null
}

/** RFC 5228 2.10.7 asks for fifteen levels of blocks and fifteen of tests. */
export const NESTING_MAX = 32
/** Of one command; the longest valid one has about ten. */
export const ARGUMENTS_MAX = 100
/** Commands and tests of one script. */
export const COMMANDS_MAX = 2000

/**
 * @param script with LF line ends
 * @throws SieveError at the first syntax error
 */
export function parseScript(script: string): SieveCommand[] {
  return new Parser(tokensOf(script)).script()
}

class Parser {
  readonly #tokens: SieveToken[]
  #next = 0
  #count = 0

  constructor(tokens: SieveToken[]) {
    this.#tokens = tokens
  }

  script(): SieveCommand[] {
    const commands = this.#commands(0)
    if (this.#here.kind !== 'end') throw this.#error('A command is missing here.')
    return commands
  }

  #commands(depth: number): SieveCommand[] {
    const commands: SieveCommand[] = []
    while (this.#here.kind !== 'end' && !this.#is('}')) {
      const command = this.#named(depth, 'A command is missing here.')
      if (this.#is('{')) {
        this.#next++
        command.block = this.#commands(depth + 1)
        this.#take('}')
      } else this.#take(';')
      commands.push(command)
    }
    return commands
  }

  #named(depth: number, missing: string): SieveCommand {
    const { kind, text: name, at } = this.#here
    if (kind !== 'word') throw this.#error(missing)
    if (depth > NESTING_MAX) throw this.#error(`Blocks and tests can be nested at most ${NESTING_MAX} levels deep.`)
    if (++this.#count > COMMANDS_MAX) throw this.#error(`A script has at most ${COMMANDS_MAX} commands and tests.`)
    this.#next++
    const args = this.#arguments()
    const hasTestList = this.#is('(')
    const tests = this.#tests(depth + 1)
    return { name, at, args, tests, hasTestList, block: null }
  }

  #tests(depth: number): SieveCommand[] {
    const missing = 'A test is missing here.'
    if (this.#here.kind === 'word') return [this.#named(depth, missing)]
    if (!this.#is('(')) return []
    return this.#listed(')', () => this.#named(depth, missing))
  }

  #arguments(): SieveArgument[] {
    const args: SieveArgument[] = []
    for (;;) {
      const { kind, text, value, at } = this.#here
      if (args.length > ARGUMENTS_MAX) throw this.#error(`A command has at most ${ARGUMENTS_MAX} arguments.`)
      if (kind === 'tag') args.push({ kind, tag: text, at })
      else if (kind === 'number') args.push({ kind, number: value, at })
      else if (kind === 'string') args.push({ kind: 'strings', strings: [text], isList: false, at })
      else if (!this.#is('[')) return args
      else {
        args.push({ kind: 'strings', strings: this.#listed(']', () => this.#string()), isList: true, at })
        continue
      }
      this.#next++
    }
  }

  #string(): string {
    const { kind, text } = this.#here
    if (kind !== 'string') throw this.#error('A string is missing here.')
    this.#next++
    return text
  }

  /** The items between the bracket that opens here and its closing bracket. */
  #listed<T>(close: string, item: () => T): T[] {
    const items: T[] = []
    do {
      this.#next++
      items.push(item())
    } while (this.#is(','))
    this.#take(close)
    return items
  }

  get #here(): SieveToken {
    return this.#tokens[this.#next]!
  }

  #is(mark: string): boolean {
    return this.#here.kind === 'mark' && this.#here.text === mark
  }

  #take(mark: string): void {
    if (!this.#is(mark)) throw this.#error(`A "${mark}" is missing here.`)
    this.#next++
  }

  #error(message: string): SieveError {
    return new SieveError(this.#here.at, message)
  }
}
