// `mailstead completion`: completion for shells, generated from the list of commands.

import type { Command } from '../frame/command.ts'
import { bashCompletion } from './bash.ts'
import { fishCompletion } from './fish.ts'
import { zshCompletion } from './zsh.ts'

const SHELLS = {
  bash: { script: bashCompletion, load: 'source <(mailstead completion bash)   # in ~/.bashrc' },
  zsh: { script: zshCompletion, load: 'mailstead completion zsh > "${fpath[1]}/_mailstead"' },
  fish: { script: fishCompletion, load: 'mailstead completion fish > ~/.config/fish/completions/mailstead.fish' },
} as const
type Shell = keyof typeof SHELLS
const NAMES = Object.keys(SHELLS) as Shell[]

/** @param commands read when the command runs: the list contains the command itself */
export function completionOf(commands: () => readonly Command[]): Command {
  return {
    words: 'completion',
    summary: 'Print a script that completes commands, options and values in a shell.',
    operands: [NAMES.join('|')],
    examples: NAMES.map((name) => SHELLS[name].load),
    async run({ operands }) {
      const shell = operands[0] as Shell
      const script = SHELLS[shell].script(commands())
      return { data: { shell, script }, lines: [script] }
    },
  }
}
