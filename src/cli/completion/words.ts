// What can be completed, independent of the shell.

import type { Command, CommandOption } from '../frame/command.ts'
import { COMMON_OPTIONS } from '../frame/help.ts'

/** A word that can follow, and what it means. */
export interface Completion {
  word: string
  says: string
}

/** The words that can follow the beginning of a command; `""` is the beginning of all. */
export function followers(commands: readonly Command[]): Map<string, Completion[]> {
  const found = new Map<string, Completion[]>()
  for (const { words, summary } of commands) {
    const parts = words.split(' ')
    for (const [index, word] of parts.entries()) {
      const before = parts.slice(0, index).join(' ')
      const list = found.get(before) ?? []
      found.set(before, list)
      if (list.some((one) => one.word === word)) continue
      list.push({ word, says: index === parts.length - 1 ? summary : familyOf(commands, `${before} ${word}`.trim()) })
    }
  }
  return found
}

/** The second words of commands with the same first word. */
function familyOf(commands: readonly Command[], start: string): string {
  const family = commands.filter(({ words }) => words.startsWith(`${start} `))
  return family.map(({ words }) => words.slice(start.length + 1)).join(', ')
}

/** The options of a command, with those that all have. */
export function optionsOf(command: Command): [name: string, option: CommandOption][] {
  return Object.entries({ ...command.options, ...COMMON_OPTIONS })
}

/** The words that its only operand can be; empty when it can be anything. */
export function operandWords({ operands = [] }: Command): string[] {
  return operands.length === 1 && operands[0]!.includes('|') ? operands[0]!.split('|') : []
}

/** Whether an operand or the value of an option is the name of a file. */
export function isFile(name: string | undefined): boolean {
  return name !== undefined && /^(?:file|folder)\b/.test(name)
}

/** A text in single quotes, for a POSIX shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** The `case` statements of bash and zsh: what can follow the words that were typed, their command, and the values of an option. */
export function caseStatements(cases: { starts: string[]; commands: string[]; values: string[] }): string[] {
  const of = (subject: string, lines: readonly string[]) => [`  case "${subject}" in`, ...lines, '  esac']
  return [...of('$typed', cases.starts), ...of('$typed', cases.commands), ...of('$command $previous', cases.values)]
}
