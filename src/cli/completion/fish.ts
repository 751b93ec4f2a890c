// Completion for fish 3 and newer.

import type { Command } from '../frame/command.ts'
import { followers, isFile, operandWords, optionsOf } from './words.ts'

export function fishCompletion(commands: readonly Command[]): string {
  const starts = [...followers(commands)].flatMap(([before, next]) =>
    next.map(
      ({ word, says }) =>
        `complete -c mailstead -n ${text(`__mailstead_typed ${text(before)}`)} -a ${word} -d ${text(says)}`,
    ),
  )
  return [
    '# fish completion for mailstead, made by "mailstead completion fish".',
    '# The words typed so far, up to the first option.',
    'function __mailstead_words',
    '  for word in (commandline -opc)[2..]',
    "    string match -q -- '-*' $word; and break",
    '    echo -- $word',
    '  end',
    'end',
    'function __mailstead_typed',
    '  test "$(__mailstead_words | string join \' \')" = "$argv[1]"',
    'end',
    'function __mailstead_runs',
    '  string match -q -- "$argv[1] *" "$(__mailstead_words | string join \' \') "',
    'end',
    'complete -c mailstead -f',
    ...starts,
    ...commands.flatMap(linesOf),
  ].join('\n')
}

function linesOf(command: Command): string[] {
  const runs = `complete -c mailstead -n ${text(`__mailstead_runs ${text(command.words)}`)}`
  const options = optionsOf(command).map(([name, { value, words, says }]) => {
    const values =
      value === undefined
        ? ''
        : isFile(value)
          ? ' -r -F'
          : words === undefined
            ? ' -x'
            : ` -x -a ${text(words.join(' '))}`
    return `${runs} -l ${name}${values} -d ${text(says)}`
  })
  const operands = operandWords(command)
  const typed = `complete -c mailstead -n ${text(`__mailstead_typed ${text(command.words)}`)}`
  return [
    ...options,
    ...(operands.length === 0 ? [] : [`${typed} -a ${text(operands.join(' '))}`]),
    ...(isFile(command.operands?.[0]) ? [`${runs} -F`] : []),
  ]
}

/** A text in single quotes, as fish reads them. */
function text(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
