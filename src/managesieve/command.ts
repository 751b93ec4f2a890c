// What a command of ManageSieve is.

import { GrammarError, type SieveArg } from './reader.ts'
import type { SieveCode, SieveReply } from './replies.ts'

/** A command of sessions `S` with arguments `A`. */
export interface SieveCommandOf<S, A> {
  name: string
  /** Before or after the login. */
  state: 'any' | 'before' | 'after'
  /** The response code of a conflict. */
  onConflict?: SieveCode
  /** @throws GrammarError when the arguments are others */
  read(args: readonly SieveArg[]): A
  /** @returns null when it has answered itself */
  run(args: A, session: S): Promise<SieveReply | null> | SieveReply | null
}

/** @throws GrammarError when there are others */
export function noArguments(args: readonly SieveArg[]): null {
  if (args.length > 0) throw new GrammarError('The command takes no argument.')
  return null
}

/** @throws GrammarError when the arguments are not that many strings */
export function strings(args: readonly SieveArg[], least: number, most = least): string[] {
  if (args.length < least || args.length > most) throw new GrammarError('The command takes other arguments.')
  return args.map((arg) => {
    if (arg.kind === 'string') return arg.text
    throw new GrammarError(arg.kind === 'number' ? 'A string is missing.' : 'The string is too long.')
  })
}
