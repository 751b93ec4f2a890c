// What the operator reads with --help.

import type { Command, CommandOption } from './command.ts'
import { table } from './table.ts'

/** Options of every command. */
export const COMMON_OPTIONS: Readonly<Record<string, CommandOption>> = {
  json: { says: 'print JSON' },
  help: { says: 'print this text' },
}

/** Some commands under a title; null for none. */
interface Section {
  title: string | null
  commands: readonly Command[]
}

/** The list of commands, or of those that begin with a word. */
export function overview(sections: readonly Section[]): string[] {
  const rows = table(
    sections.flatMap(({ commands }) => commands.map((command) => [`  ${usage(command)}`, command.summary])),
  )
  const lines = sections.flatMap(({ title, commands }) => {
    const own = rows.splice(0, commands.length)
    return title === null ? [...own, ''] : [`${title}:`, ...own, '']
  })
  return [
    'Usage: mailstead <command> [options]',
    '',
    ...lines,
    'Every command takes --json and --help; mailstead --version prints the version. Settings come from the environment and',
    'config/mailstead.json; DATA_DIR names the data folder (./data unless set).',
  ]
}

/** Everything about one command. */
export function helpOf(command: Command): string[] {
  const options = Object.entries({ ...command.options, ...COMMON_OPTIONS })
  const examples = (command.examples ?? []).map((line) => `  ${line}`)
  return [
    `Usage: mailstead ${usage(command)} [options]`,
    '',
    command.summary,
    '',
    ...table(
      options.map(([name, { value, says }]) => [`  --${name}${value === undefined ? '' : ` <${value}>`}`, says]),
    ),
    ...(examples.length === 0 ? [] : ['', 'Examples:', ...examples]),
  ]
}

/** The same for a program. */
export function helpData({ words, summary, operands = [], options = {}, examples = [] }: Command): object {
  const described = Object.entries({ ...options, ...COMMON_OPTIONS }).map(([name, option]) => ({
    name: `--${name}`,
    value: option.value ?? null,
    values: option.words ?? null,
    repeatable: option.many === true,
    description: option.says,
  }))
  return { command: words, summary, operands, options: described, examples }
}

function usage(command: Command): string {
  return [command.words, ...(command.operands ?? []).map((name) => `<${name}>`)].join(' ')
}
