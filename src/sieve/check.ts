// Finds out whether a script is right: every command and test known, its extensions asked for, its arguments as they have to be.

import { type Findings, type Read, readArguments, type Signature, type TagRule } from './arguments.ts'
import { checkTest } from './check-tests.ts'
import { decodeCharacters, octets } from './encoded.ts'
import { EXTENSIONS, type Extension, whyAbsent } from './extensions.ts'
import { flagsIn } from './flags.ts'
import { folderPath } from './folder-path.ts'
import type { Command } from './parser.ts'
import type { Step } from './script.ts'

/** Faults that are told of one script. */
export const PROBLEMS_MAX = 50

const FLAGS: Readonly<Record<string, TagRule>> = { flags: { group: 'flags', takes: 'strings', needs: 'imap4flags' } }
const FLAG_SIGNATURE: Signature = { needs: 'imap4flags', takes: [['strings', 'the flags']] }

/** Commands beside "require", "if", "elsif" and "else". */
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

/** What was found of a script; without faults, its steps are what it does. */
export interface Checked {
  steps: Step[]
  faults: { at: number; message: string }[]
}

export function checkScript(commands: readonly Command[]): Checked {
  const check = new Check()
  const steps = check.script(commands)
  return { steps, faults: check.faults }
}

class Check implements Findings {
  readonly faults: { at: number; message: string }[] = []
  readonly #extensions = new Set<string>()

  wrong(at: number, message: string): void {
    if (this.faults.length < PROBLEMS_MAX) this.faults.push({ at, message })
  }

  has(extension: Extension): boolean {
    return this.#extensions.has(extension)
  }

  script(commands: readonly Command[]): Step[] {
    const first = commands.findIndex(({ name }) => name !== 'require')
    const end = first < 0 ? commands.length : first
    for (const command of commands.slice(0, end)) this.#require(command)
    return this.#steps(commands.slice(end))
  }

  #require(command: Command): void {
    const read = readArguments(command, { takes: [['strings', 'the extensions']] }, this)
    const given = read?.places[0]
    for (const name of given?.strings ?? []) {
      if (EXTENSIONS.has(name)) this.#extensions.add(name)
      else this.wrong(given!.at, `There is no extension "${name}" here.${whyAbsent(name)}`)
    }
  }

  #steps(commands: readonly Command[]): Step[] {
    const steps: Step[] = []
    /** The choice that an "elsif" or "else" goes on with. */
    let open: (Step & { do: 'choose' }) | null = null
    for (const written of commands) {
      const command = this.#decoded(written)
      if (command.name === 'if') {
        open = { do: 'choose', branches: [] }
        steps.push(open)
        this.#branch(command, open)
      } else if (command.name === 'elsif' || command.name === 'else') {
        if (open === null) this.wrong(command.at, `"${command.name}" follows an "if" or "elsif".`)
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

  #branch(command: Command, choice: Step & { do: 'choose' }): void {
    const isElse = command.name === 'else'
    readArguments(command, isElse ? { block: true } : { tests: 'one', block: true }, this)
    const test = command.tests[0] && !isElse ? checkTest(command.tests[0], this) : null
    choice.branches.push({ test, steps: this.#steps(command.block ?? []) })
  }

  #action(command: Command): Step | null {
    const { name, at } = command
    if (name === 'require') {
      this.wrong(at, '"require" stands before all other commands.')
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

  #made(name: string, read: Read): Step | null {
    const { tags, places } = read
    const flags = tags.has('flags') ? flagsIn(tags.get('flags')!.strings) : null
    if (name === 'stop' || name === 'discard') return { do: name }
    if (name === 'keep') return { do: 'keep', flags }
    if (name !== 'fileinto') {
      return { do: 'flags', how: name.slice(0, -4) as 'set' | 'add' | 'remove', flags: flagsIn(places[0]!.strings) }
    }
    const folder = folderPath(places[0]!.strings[0]!)
    if (folder !== null && folder !== '') {
      return { do: 'fileinto', folder, copy: tags.has('copy'), create: tags.has('create'), flags }
    }
    this.wrong(places[0]!.at, 'This is the name of no folder.')
    return null
  }

  /** The same with its strings as octets, and what they hold in hexadecimal read where the script asked for that. */
  #decoded(command: Command): Command {
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
