// Commands and tests with variables in their strings: checked by their form, and made when they run (RFC 5229 §3).

import type { ScriptChecker } from './arguments.ts'
import { SieveRuntimeError } from './errors.ts'
import type { Extension } from './extensions.ts'
import type { SieveCommand } from './parser.ts'
import type { Expand } from './script.ts'
import { hasReference } from './variables.ts'

/** Whether it must wait for the values of variables. */
export function isLate(command: SieveCommand, checker: ScriptChecker): boolean {
  if (checker.isExpanded || !checker.has('variables')) return false
  return command.args.some((arg) => arg.kind === 'strings' && arg.strings.some(hasReference))
}

/** Makes a command from its strings as they are now. @throws SieveRuntimeError when they make it wrong */
export function makeLate<T>(
  command: SieveCommand,
  checker: ScriptChecker,
  expand: Expand,
  make: (command: SieveCommand, checker: ScriptChecker) => T | null,
): T {
  const args = command.args.map((arg) => (arg.kind === 'strings' ? { ...arg, strings: arg.strings.map(expand) } : arg))
  const strict: ScriptChecker = {
    isExpanded: true,
    has: (extension: Extension) => checker.has(extension),
    // Warnings are for the upload; the script is running.
    warn: () => {},
    wrong(_, message) {
      throw new SieveRuntimeError(message)
    },
  }
  const made = make({ ...command, args }, strict)
  if (made === null) throw new SieveRuntimeError(`"${command.name}" is not valid with the values of its variables.`)
  return made
}
