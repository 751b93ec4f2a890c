// Completion for bash 3.2 and newer.

import type { Command } from '../frame/command.ts'
import { caseStatements, followers, isFile, operandWords, optionsOf } from './words.ts'

/** Names of files may contain spaces. */
const FILES = `local IFS=$'\\n'; COMPREPLY=($(compgen -f -- "$current")); compopt -o filenames 2>/dev/null; return`

export function bashCompletion(commands: readonly Command[]): string {
  const starts = [...followers(commands)].map(
    ([before, next]) => `    '${before}') words='${next.map(({ word }) => word).join(' ')}' ;;`,
  )
  return [
    '# bash completion for mailstead, made by "mailstead completion bash".',
    '_mailstead() {',
    '  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}"',
    '  local typed="" command="" words="" options="" i',
    '  for ((i = 1; i < COMP_CWORD; i++)); do',
    '    [[ ${COMP_WORDS[i]} == -* ]] && break',
    '    typed="${typed:+$typed }${COMP_WORDS[i]}"',
    '  done',
    '  COMPREPLY=()',
    ...caseStatements({ starts, commands: commands.map(commandCase), values: commands.flatMap(valueCases) }),
    '  [[ $current == -* ]] && words="$options"',
    `  ${repliesOf('"$words"')}`,
    '}',
    'complete -F _mailstead mailstead',
  ].join('\n')
}

function commandCase(command: Command): string {
  const options = optionsOf(command).map(([name]) => `--${name}`)
  const words = operandWords(command)
  const set = words.length === 0 ? '' : ` words='${words.join(' ')}';`
  const files = isFile(command.operands?.[0]) ? ` [[ $current == -* ]] || { ${FILES}; };` : ''
  return `    '${command.words}' | '${command.words} '*) command='${command.words}'; options='${options.join(' ')}';${set}${files} ;;`
}

/** After an option with a value only its values are completed. */
function valueCases(command: Command): string[] {
  return optionsOf(command).flatMap(([name, { value, words = [] }]) => {
    if (value === undefined) return []
    const reply = isFile(value) ? FILES : `${repliesOf(`'${words.filter(isPlain).join(' ')}'`)}; return`
    return [`    '${command.words} --${name}') ${reply} ;;`]
  })
}

function repliesOf(words: string): string {
  return `COMPREPLY=($(compgen -W ${words} -- "$current"))`
}

/** The shell would replace `*` by names of files. */
function isPlain(word: string): boolean {
  return !/[*?[:]/.test(word)
}
