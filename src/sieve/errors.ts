// Errors of Sieve scripts: problems with their position, and runtime errors.

/** One thing that is wrong with a script. */
export interface ScriptProblem {
  /** Both count from 1; columns count characters. */
  line: number
  column: number
  /** One English sentence. */
  message: string
}

/** An error in the text of a script, at an offset. */
export class SieveError extends Error {
  readonly at: number

  constructor(at: number, message: string) {
    super(message)
    this.at = at
  }
}

/** A valid script was aborted for a message; the error message is one English sentence. */
export class SieveRuntimeError extends Error {}

/** Maximum characters of a message; it may contain names from the script. */
const MESSAGE_MAX = 300

/** Converts an offset in a text with LF line ends to line and column. */
export function problemAt(text: string, at: number, message: string): ScriptProblem {
  const before = text.slice(0, at)
  const line = before.split('\n').length
  return {
    line,
    column: [...before.slice(before.lastIndexOf('\n') + 1)].length + 1,
    message: message.slice(0, MESSAGE_MAX).toWellFormed(),
  }
}
