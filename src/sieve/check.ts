// Validates a script (known commands and tests, required extensions, arguments) and compiles it to steps.

import { type ParsedArguments, readArguments, type ScriptChecker, type Signature, type TagRule } from './arguments.ts'
import { checkTest } from './check-tests.ts'
import { decodeCharacters, octets } from './encoded.ts'
import { EXTENSIONS, type Extension, whyAbsent } from './extensions.ts'
import { flagsIn } from './flags.ts'
import { folderPath } from './folder-path.ts'
import type { SieveCommand } from './parser.ts'
import type { SieveStep } from './script.ts'

/** Maximum number of problems reported for one script. */
export const PROBLEMS_MAX = 50

const FLAGS: Readonly<Record<string, TagRule>> = { flags: { group: 'flags', takes: 'strings', needs: 'imap4flags' } }
const FLAG_SIGNATURE: Signature = { needs: 'imap4flags', takes: [['strings', 'the flags']] }

/** All commands other than "require", "if", "elsif" and "else". */
const ACTIONS: Readonly<Record<string, Signature>> = {
  stop: {},
  discard: {},
  keep: { tags: FLAGS },
  fileinto: {
    needs: 'fileinto',
    tags: {
      ...FLAGS,
      copy: { group: 'copy', needs: 'copy' },
      create: { group: 'create', needs: 'mailbox' },
    },
    takes: [['string', 'the folder']],
  },
  setflag: FLAG_SIGNATURE,
  addflag: FLAG_SIGNATURE,
  removeflag: FLAG_SIGNATURE,
}

/** The result: the steps are complete only when there are no problems. */
export interface CheckedScript {
  steps: SieveStep[]
  problems: { at: number; message: string }[]
}

export function checkScript(commands: readonly SieveCommand[]): CheckedScript {
  const check = new Check()
  const steps = check.script(commands)
  return { steps, problems: check.problems }
}

class Check implements ScriptChecker {
  readonly problems: { at: number; message: string }[] = []
  readonly #extensions = new Set<string>()

  wrong(at: number, message: string): void {
    if (this.problems.length < PROBLEMS_MAX) this.problems.push({ at, message })
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
    choice.branches.push({ test, steps: this.#steps(command.block ?? []) })
  }

  #action(command: SieveCommand): SieveStep | null {
    const { name, at } = command
    if (name === 'require') {
      this.wrong(at, '"require" must come before all other commands.')
      return null
    }
    const signature = Object.hasOwn(ACTIONS, name) ? ACTIONS[name]! : undefined
    if (!signature) {
      this.wrong(at, `There is no command "${name}" here.${whyAbsent(name)}`)
      return null
    }
    const read = readArguments(command, signature, this)
    return read && this.#made(name, read)
  }

  #made(name: string, read: ParsedArguments): SieveStep | null {
    const { tags, positional } = read
    const flags = tags.has('flags') ? flagsIn(tags.get('flags')!.strings) : null
    if (name === 'stop' || name === 'discard') return { do: name }
    if (name === 'keep') return { do: 'keep', flags }
    if (name !== 'fileinto') {
      return { do: 'flags', how: name.slice(0, -4) as 'set' | 'add' | 'remove', flags: flagsIn(positional[0]!.strings) }
    }
    const folder = folderPath(positional[0]!.strings[0]!)
    if (folder !== null && folder !== '') {
      return { do: 'fileinto', folder, copy: tags.has('copy'), create: tags.has('create'), flags }
    }
    this.wrong(positional[0]!.at, 'This is not a valid folder name.')
    return null
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
