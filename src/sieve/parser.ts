// Reads the tokens of a Sieve script as commands with their arguments, tests and blocks (RFC 5228 8.2).

import { ScriptFault } from './errors.ts'
import { type Token, tokensOf } from './lexer.ts'

/** One argument; `at` is its offset in the script. */
export type Argument =
  | { kind: 'tag'; tag: string; at: number }
  | { kind: 'number'; number: number; at: number }
  | { kind: 'strings'; strings: string[]; isList: boolean; at: number }

/** A command or a test: what follows its name is the same for both. */
export interface Command {
  name: string
  at: number
  args: Argument[]
  tests: Command[]
  /** True for tests in parentheses, however many. */
  hasTestList: boolean
  /** Null where a semicolon ends it. */
  block: Command[] | null
}

/** RFC 5228 2.10.7 asks for fifteen levels of blocks and fifteen of tests. */
export const NESTING_MAX = 32
/** Of one command; the longest there is has some ten. */
export const ARGUMENTS_MAX = 100
/** Commands and tests of one script. */
export const COMMANDS_MAX = 2000

/**
 * @param script with LF line ends
 * @throws ScriptFault at the first thing that is no Sieve
 */
export function parseScript(script: string): Command[] {
  return new Parser(tokensOf(script)).script()
}

class Parser {
  readonly #tokens: Token[]
  #next = 0
  #count = 0

  constructor(tokens: Token[]) {
    this.#tokens = tokens
  }

  script(): Command[] {
    const commands = this.#commands(0)
    if (this.#here.kind !== 'end') throw this.#fault('A command is missing here.')
    return commands
  }

  #commands(depth: number): Command[] {
    const commands: Command[] = []
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

  #named(depth: number, missing: string): Command {
    const { kind, text: name, at } = this.#here
    if (kind !== 'word') throw this.#fault(missing)
    if (depth > NESTING_MAX) throw this.#fault(`Blocks and tests lie in one another ${NESTING_MAX} deep at most.`)
    if (++this.#count > COMMANDS_MAX) throw this.#fault(`A script has at most ${COMMANDS_MAX} commands and tests.`)
    this.#next++
    const args = this.#arguments()
    const hasTestList = this.#is('(')
    const tests = this.#tests(depth + 1)
    return { name, at, args, tests, hasTestList, block: null }
  }

  #tests(depth: number): Command[] {
    const missing = 'A test is missing here.'
    if (this.#here.kind === 'word') return [this.#named(depth, missing)]
    if (!this.#is('(')) return []
    return this.#listed(')', () => this.#named(depth, missing))
  }

  #arguments(): Argument[] {
    const args: Argument[] = []
    for (;;) {
      const { kind, text, value, at } = this.#here
      if (args.length > ARGUMENTS_MAX) throw this.#fault(`A command has at most ${ARGUMENTS_MAX} arguments.`)
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
    if (kind !== 'string') throw this.#fault('A string is missing here.')
    this.#next++
    return text
  }

  /** What stands between the bracket that opens here and the one that closes it. */
  #listed<T>(close: string, item: () => T): T[] {
    const items: T[] = []
    do {
      this.#next++
      items.push(item())
    } while (this.#is(','))
    this.#take(close)
    return items
  }

  get #here(): Token {
    return this.#tokens[this.#next]!
  }

  #is(mark: string): boolean {
    return this.#here.kind === 'mark' && this.#here.text === mark
  }

  #take(mark: string): void {
    if (!this.#is(mark)) throw this.#fault(`A "${mark}" is missing here.`)
    this.#next++
  }

  #fault(message: string): ScriptFault {
    return new ScriptFault(this.#here.at, message)
  }
}
