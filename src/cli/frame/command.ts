// One command of the operator: its words, operands and options, what it does and what it prints.

import type { Config } from '../../config/config.ts'
import type { Context } from '../../context.ts'
import type { Progress } from './progress.ts'

export interface CommandOption {
  /** How its value is called in the help; a switch without a value when left out. `file` is completed with names of files. */
  value?: string
  says: string
  /** The only values it can have: checked, and offered by completion. */
  words?: readonly string[]
  /** Former spellings of values: accepted, and not offered. */
  former?: readonly string[]
  /** It can be given several times. */
  many?: true
}

/** What a command is called with. */
export interface Call {
  config: Config
  /** Opens the appliance on the data folder, once; it is closed when the command has ended. */
  open(): Promise<Context>
  /** Loads the settings again, after some were stored; only before the appliance is opened. */
  reload(): Config
  /** The words after the command, as many as it has operands. */
  operands: readonly string[]
  /** The value of an option, undefined when it was not given. */
  text(option: string): string | undefined
  /** The values of an option that can be given several times. */
  all(option: string): readonly string[]
  /** Whether a switch was given. */
  has(option: string): boolean
  json: boolean
  /** A variable of the environment that is no setting, such as a key of this call alone. */
  variable(name: string): string | undefined
  /** Prints output before the end, for a command that continues. */
  print(output: CommandOutput): void
  /** Prints a line on standard error, for the person at a terminal. */
  note(line: string): void
  /** Standard input. It is opened by this call: a command that reads nothing must not wait for it. */
  input(): CommandInput
  /** Aborted when the user ends a command that runs until then (Ctrl-C); from the first call on the signal does not end the process. */
  untilStopped(): AbortSignal
  /** Shows how far a long command is, on standard error. */
  progress: Progress
}

/** Standard input. */
export interface CommandInput {
  isTerminal: boolean
  bytes: AsyncIterable<Uint8Array>
}

/** What a command prints: data to a program with `--json`, lines to a person without. */
export interface CommandOutput {
  data: object
  lines: readonly string[]
}

/** `failure` is a sentence that says why the aim was not reached although nothing went wrong. */
export interface CommandResult extends CommandOutput {
  failure?: string
}

export interface Command {
  /** Such as `domain add`. */
  words: string
  summary: string
  /** Names of its operands. The last one stands for one or more words when it ends with `…`; `on|off` lists all that are possible. */
  operands?: readonly string[]
  options?: Readonly<Record<string, CommandOption>>
  /** Command lines to show in the help. */
  examples?: readonly string[]
  /** @throws ProductError with a sentence for the operator */
  run(call: Call): Promise<CommandResult | undefined>
}

export const TEAM_OPTION = { team: { value: 'team', says: 'id or name of the team; required when there are several' } }
