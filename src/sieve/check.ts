// Validates a script (known commands and tests, required extensions, arguments) and compiles it to steps.

import { readArguments, type ScriptChecker, type Signature, type TagRule } from './arguments.ts'
import { checkAction } from './check-actions.ts'
import { checkTest } from './check-tests.ts'
import { decodeCharacters, octets } from './encoded.ts'
import { EXTENSIONS, type Extension, whyAbsent } from './extensions.ts'
import type { SieveCommand } from './parser.ts'
import type { SieveStep, SieveTest } from './script.ts'

/** Maximum number of problems reported for one script, and of warnings. */
export const PROBLEMS_MAX = 50

/** Of a loop, and of the loop that `break` ends: as written, without variables. */
const LOOP_NAME: Readonly<Record<string, TagRule>> = { name: { group: 'name', takes: 'string' } }

/** A sentence about a place of the script, by its offset. */
export interface PlacedText {
  at: number
  message: string
}

/** The result: the steps are complete only when there are no problems. */
export interface CheckedScript {
  steps: SieveStep[]
  problems: PlacedText[]
  warnings: PlacedText[]
}

export function checkScript(commands: readonly SieveCommand[]): CheckedScript {
  const check = new Check()
  const steps = check.script(commands)
  return { steps, problems: check.problems, warnings: check.warnings }
}

class Check implements ScriptChecker {
  readonly isExpanded = false
  readonly problems: PlacedText[] = []
  readonly warnings: PlacedText[] = []
  readonly #extensions = new Set<string>()
  /** Within a block that never runs, because it asks for what there is not (RFC 5463 §4). */
  #isIgnored = false
  /** Names of the loops around a command, outermost first; null for one without a name. */
  readonly #loops: (string | null)[] = []

  wrong(at: number, message: string): void {
    if (!this.#isIgnored && this.problems.length < PROBLEMS_MAX) this.problems.push({ at, message })
  }

  warn(at: number, message: string): void {
    if (!this.#isIgnored && this.warnings.length < PROBLEMS_MAX) this.warnings.push({ at, message })
  }

  has(extension: Extension): boolean {
    return this.#extensions.has(extension)
  }

  script(commands: readonly SieveCommand[]): SieveStep[] {
    const first = commands.findIndex(({ name }) => name !== 'require')
    const end = first < 0 ? commands.length : first
    for (const command of commands.slice(0, end)) this.#require(command)
    return this.#steps(commands.slice(end))
  }

  #require(command: SieveCommand): void {
    const read = readArguments(command, { takes: [['strings', 'the extensions']] }, this)
    const given = read?.positional[0]
    for (const name of given?.strings ?? []) {
      if (EXTENSIONS.has(name)) this.#extensions.add(name)
      else this.wrong(given!.at, `There is no extension "${name}" here.${whyAbsent(name)}`)
    }
  }

  #steps(commands: readonly SieveCommand[]): SieveStep[] {
    const steps: SieveStep[] = []
    /** The "if" that an "elsif" or "else" continues. */
    let open: (SieveStep & { do: 'choose' }) | null = null
    for (const written of commands) {
      const command = this.#decoded(written)
      if (command.name === 'if') {
        open = { do: 'choose', branches: [] }
        steps.push(open)
        this.#branch(command, open)
      } else if (command.name === 'elsif' || command.name === 'else') {
        if (open === null) this.wrong(command.at, `"${command.name}" must follow an "if" or "elsif".`)
        this.#branch(command, open ?? { do: 'choose', branches: [] })
        if (command.name === 'else') open = null
      } else {
        open = null
        const step = this.#action(command)
        if (step) steps.push(step)
      }
    }
    return steps
  }

  #branch(command: SieveCommand, choice: SieveStep & { do: 'choose' }): void {
    const isElse = command.name === 'else'
    readArguments(command, isElse ? { block: true } : { tests: 'one', block: true }, this)
    const test = command.tests[0] && !isElse ? checkTest(command.tests[0], this) : null
    const wasIgnored = this.#isIgnored
    if (isNever(test)) this.#isIgnored = true
    else this.#learn(command.tests[0])
    choice.branches.push({ test, steps: this.#steps(command.block ?? []) })
    this.#isIgnored = wasIgnored
  }

  /** RFC 5463 §4: what `ihave` finds needs no `require` from then on. */
  #learn(test: SieveCommand | undefined): void {
    if (test === undefined) return
    if (test.name === 'ihave' && this.has('ihave')) {
      for (const arg of test.args) {
        if (arg.kind === 'strings') for (const name of arg.strings) if (EXTENSIONS.has(name)) this.#extensions.add(name)
      }
    }
    if (test.name === 'allof') for (const one of test.tests) this.#learn(one)
  }

  #action(command: SieveCommand): SieveStep | null {
    if (command.name === 'foreverypart') return this.#loop(command)
    if (command.name === 'break') return this.#break(command)
    if (command.name !== 'require') return checkAction(command, this)
    this.wrong(command.at, '"require" must come before all other commands.')
    return null
  }

  /** RFC 5703 §3. */
  #loop(command: SieveCommand): SieveStep {
    const name = this.#loopName(command, { needs: 'foreverypart', tags: LOOP_NAME, block: true })
    this.#loops.push(name)
    const steps = this.#steps(command.block ?? [])
    this.#loops.pop()
    return { do: 'foreverypart', name, steps }
  }

  #break(command: SieveCommand): SieveStep {
    const name = this.#loopName(command, { needs: 'foreverypart', tags: LOOP_NAME })
    if (this.#loops.length === 0) this.wrong(command.at, '"break" must be within a "foreverypart".')
    else if (name !== null && !this.#loops.includes(name)) {
      this.wrong(command.at, `"break" is not within a "foreverypart" with the name "${name}".`)
    }
    return { do: 'break', name }
  }

  #loopName(command: SieveCommand, signature: Signature): string | null {
    return readArguments(command, signature, this)?.tags.get('name')?.strings[0] ?? null
  }

  /** The command with its strings as octets, and encoded characters decoded when the script requires that extension. */
  #decoded(command: SieveCommand): SieveCommand {
    const args = command.args.map((arg) => {
      if (arg.kind !== 'strings') return arg
      return { ...arg, strings: arg.strings.map((text) => this.#octets(text, arg.at)) }
    })
    return { ...command, args, tests: command.tests.map((test) => this.#decoded(test)) }
  }

  #octets(text: string, at: number): string {
    const plain = octets(text)
    if (!this.has('encoded-character')) return plain
    const decoded = decodeCharacters(plain)
    if (decoded === null) this.wrong(at, 'This string names a character that does not exist.')
    return decoded ?? plain
  }
}

/** Whether a test asks for an extension that does not exist: its block never runs, and is not checked. */
function isNever(test: SieveTest | null): boolean {
  if (test?.is === 'constant') return test.isAbsent === true
  return test?.is === 'all' && test.tests.some(isNever)
}
