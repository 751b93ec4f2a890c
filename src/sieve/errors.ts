// What is wrong with a Sieve script and where, and how a script ends that cannot be carried through.

/** One thing that is wrong with a script. */
export interface Problem {
  /** Both count from 1; columns count characters. */
  line: number
  column: number
  /** One English sentence. */
  message: string
}

/** A fault in the text of a script, at an offset in it. */
export class ScriptFault extends Error {
  readonly at: number

  constructor(at: number, message: string) {
    super(message)
    this.at = at
  }
}

/** Why a script that is right in itself was given up over a mail; its message is one English sentence. */
export class RunFault extends Error {}

/** Characters of a sentence; names from the script stand in it. */
const MESSAGE_MAX = 300

/** Where an offset lies in a text whose lines end in LF. */
export function problemAt(text: string, at: number, message: string): Problem {
  const before = text.slice(0, at)
  const line = before.split('\n').length
  return {
    line,
    column: [...before.slice(before.lastIndexOf('\n') + 1)].length + 1,
    message: message.slice(0, MESSAGE_MAX).toWellFormed(),
  }
}
