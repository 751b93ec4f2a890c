// One command of the operator: its words, what it takes, what it does and what it tells.

import type { Config } from '../config/config.ts'
import type { Context } from '../context.ts'
import type { Progress } from './progress.ts'

export interface CommandOption {
  /** How its value is called in the help; a switch without a value when left out. */
  value?: string
  says: string
}

/** What a command is called with. */
export interface Call {
  config: Config
  /** Opens the house on the data folder, once; it is closed when the command has ended. */
  open(): Promise<Context>
  /** The words after the command, as many as it has operands. */
  operands: readonly string[]
  /** The value of an option, undefined when it was not given. */
  text(option: string): string | undefined
  /** Whether a switch was given. */
  has(option: string): boolean
  json: boolean
  /** Prints output before the end, for a command that continues. */
  print(output: CommandOutput): void
  /** Shows how far a long command is, on standard error. */
  progress: Progress
}

/** What a command tells: to a program with `--json`, to a person without. */
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
  operands?: readonly string[]
  options?: Readonly<Record<string, CommandOption>>
  /** @throws ProductError with a sentence for the operator */
  run(call: Call): Promise<CommandResult | undefined>
}

export const TEAM_OPTION = { team: { value: 'team', says: 'id or name of the team; required when there are several' } }
