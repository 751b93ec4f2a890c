// What the operator reads with --help.

import type { Command, CommandOption } from './command.ts'
import { table } from './table.ts'

const COMMON: Record<string, CommandOption> = {
  json: { says: 'print one JSON value' },
  help: { says: 'print this text' },
}

/** The list of commands, or of those that begin with a word. */
export function overview(commands: readonly Command[]): string[] {
  return [
    'Usage: mailstead <command> [options]',
    '',
    ...table(commands.map((command) => [`  ${usage(command)}`, command.summary])),
    '',
    'Every command takes --json and --help; mailstead --version prints the version. Settings come from the environment and',
    'config/mailstead.json; DATA_DIR names the data folder (./data unless set).',
  ]
}

/** Everything about one command. */
export function helpOf(command: Command): string[] {
  const options = Object.entries({ ...command.options, ...COMMON })
  return [
    `Usage: mailstead ${usage(command)} [options]`,
    '',
    command.summary,
    '',
    ...table(
      options.map(([name, { value, says }]) => [`  --${name}${value === undefined ? '' : ` <${value}>`}`, says]),
    ),
  ]
}

function usage(command: Command): string {
  return [command.words, ...(command.operands ?? []).map((name) => `<${name}>`)].join(' ')
}
