// A command as one object, and how it is found and read: name, arguments, and the literals that are messages.

import type { Right } from '../../access/rights.ts'
import { type CommandPiece, Cursor, ImapSyntaxError } from '../grammar/cursor.ts'
import type { CommandSegment, ReadError } from '../grammar/reader.ts'
import { bad, type CommandFailure, type TaggedAnswer } from './answers.ts'
import type { Enableable } from './capabilities.ts'

/** States of RFC 9051 §3 in which a command is allowed; `authenticated` includes `selected`. */
export type CommandState = 'any' | 'not-authenticated' | 'authenticated' | 'selected'

/** How a command was called. */
export interface Invocation {
  tag: string
  /** With the prefix UID (RFC 9051 §6.4.9). */
  isUid: boolean
  /** Set when the command, as far as it was read, ends before the content of a message. */
  segment: CommandSegment
}

export type CommandOutcome = TaggedAnswer | 'answered' | undefined

/** One command, as a route is one object: its grammar, and what it does. */
export interface CommandOf<S, A = unknown> {
  /** In upper case. */
  name: string
  in: CommandState
  /** What the credential must allow; `NO [NOPERM]` otherwise. */
  needs?: Right
  /** May be called with the prefix UID; `only` when it cannot be called without. */
  uid?: boolean | 'only'
  /** Takes or returns sequence numbers, unless it is called with UID. */
  usesNumbers?: boolean
  /** Sequence numbers must stay as they are until its tagged answer, unless it is called with UID (RFC 9051 §7.5.1). */
  keepsNumbers?: boolean
  /** Its message literals are not collected: `run` reads them. */
  takesContent?: boolean
  /** Grammar only, behind the name. @throws ImapSyntaxError */
  read(cursor: Cursor, isUid: boolean): A
  /** @returns the tagged answer; OK for nothing; `answered` when `run` has sent it */
  run(args: A, session: S, invocation: Invocation): Promise<CommandOutcome> | CommandOutcome
}

/** Commands by name. */
export type TableOf<S> = ReadonlyMap<string, CommandOf<S>>

/** Reads the name of a command, with the prefix UID. @throws ImapSyntaxError */
export function readCommandName<S>(cursor: Cursor, commands: TableOf<S>): { found: CommandOf<S>; isUid: boolean } {
  let name = cursor.word()
  const isUid = name === 'UID'
  if (isUid) {
    cursor.space()
    name = cursor.word()
  }
  const found = commands.get(name)
  const isAllowed = isUid ? found?.uid !== undefined && found.uid !== false : found?.uid !== 'only'
  if (found === undefined || !isAllowed) throw new ImapSyntaxError('Unknown command.')
  return { found, isUid }
}

/** What the state of a session consists of. */
export interface SessionState {
  user: object | null
  selected: object | null
  enabled: ReadonlySet<Enableable>
}

/** Why a command is not allowed in this state of the session; null when it is. */
export function stateProblem<S>(
  { in: state, usesNumbers }: CommandOf<S>,
  isUid: boolean,
  { user, selected, enabled }: SessionState,
): CommandFailure | null {
  if (state === 'any') return null
  if (state === 'not-authenticated') return user === null ? null : bad('Already logged in.')
  if (user === null) return bad('Log in first.')
  if (state === 'selected' && selected === null) return bad('Select a mailbox first.')
  const isRefused = enabled.has('UIDONLY') && usesNumbers === true && !isUid
  return isRefused ? bad('Use the command with UID.', 'UIDREQUIRED') : null
}

/** Reads the arguments of a command up to its end, or to the content of a message. @throws ImapSyntaxError */
export function readArguments<S>(found: CommandOf<S>, cursor: Cursor, isUid: boolean): unknown {
  const args = found.read(cursor, isUid)
  if (cursor.isAtContent) {
    if (found.takesContent !== true) throw new ImapSyntaxError('A message is not expected here.')
  } else cursor.end()
  return args
}

/** Whether a literal behind these pieces of a command is the content of a message. */
export function isContentOf<S>(pieces: readonly CommandPiece[], commands: TableOf<S>): boolean {
  try {
    const cursor = new Cursor(pieces, true)
    cursor.tag()
    cursor.space()
    const { found, isUid } = readCommandName(cursor, commands)
    if (found.takesContent !== true) return false
    readArguments(found, cursor, isUid)
    return true
  } catch {
    return false
  }
}

/** The answer to a command that could not be read. */
export function answerToReadError({ problem }: ReadError): TaggedAnswer {
  if (problem === 'literal_too_large') return { condition: 'BAD', code: 'TOOBIG', text: 'The literal is too large.' }
  const text = problem === 'line_too_long' ? 'The line is too long.' : 'CR and NUL are not allowed in a line.'
  return { condition: 'BAD', code: null, text }
}

/** The tag at the beginning of a command that could not be read; `*` without one. */
export function tagOf(begin: Buffer): string {
  return /^[!#$&',\-./0-9:;<=>?@A-Z[\]^_`a-z|}~]{1,64}(?= )/.exec(begin.toString('latin1'))?.[0] ?? '*'
}
