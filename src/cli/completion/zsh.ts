// Completion for zsh 5 and newer.

import type { Command } from '../frame/command.ts'
import { type Completion, caseStatements, followers, isFile, operandWords, optionsOf, quoted } from './words.ts'

export function zshCompletion(commands: readonly Command[]): string {
  const starts = [...followers(commands)].map(([before, next]) => `    '${before}') found=(${described(next)}) ;;`)
  return [
    '#compdef mailstead',
    '# zsh completion for mailstead, made by "mailstead completion zsh".',
    '_mailstead() {',
    '  local typed="" command="" previous="${words[CURRENT-1]}" i',
    '  local -a found options',
    '  for ((i = 2; i < CURRENT; i++)); do',
    '    [[ $words[i] == -* ]] && break',
    '    typed="${typed:+$typed }$words[i]"',
    '  done',
    ...caseStatements({ starts, commands: commands.map(commandCase), values: commands.flatMap(valueCases) }),
    '  if [[ $words[CURRENT] == -* ]]; then _describe option options; else _describe command found; fi',
    '}',
    'if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _mailstead "$@"; else compdef _mailstead mailstead; fi',
  ].join('\n')
}

function commandCase(command: Command): string {
  const options = optionsOf(command).map(([name, { says }]) => ({ word: `--${name}`, says }))
  const words = operandWords(command)
  const files = isFile(command.operands?.[0]) ? ' [[ $words[CURRENT] == -* ]] || { _files; return };' : ''
  const found = words.length === 0 ? '' : ` found=(${words.map(quoted).join(' ')});`
  return `    '${command.words}'|'${command.words} '*) command='${command.words}'; options=(${described(options)});${found}${files} ;;`
}

function valueCases(command: Command): string[] {
  return optionsOf(command).flatMap(([name, { value, words }]) => {
    if (value === undefined) return []
    const reply = isFile(value) ? '_files' : `found=(${(words ?? []).map(quoted).join(' ')}); _describe value found`
    return [`    '${command.words} --${name}') ${reply}; return ;;`]
  })
}

/** `word:meaning` for _describe. */
function described(candidates: readonly Completion[]): string {
  return candidates.map(({ word, says }) => quoted(`${word.replaceAll(':', '\\:')}:${says}`)).join(' ')
}
