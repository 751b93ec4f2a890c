// UIDONLY (RFC 9586): a client that has enabled it neither sends nor gets sequence numbers.

import { bad } from './answers.ts'
import type { ImapSession } from './session.ts'

/** Whether the session has no sequence numbers. */
export function isUidOnly({ enabled }: Pick<ImapSession, 'enabled'>): boolean {
  return enabled.has('UIDONLY')
}

/** How the answer about one message begins: `* n FETCH`, or `* uid UIDFETCH` (RFC 9586 §3.3). */
export function fetchName(session: ImapSession, sequence: number, uid: number): string {
  return isUidOnly(session) ? `* ${uid} UIDFETCH` : `* ${sequence} FETCH`
}

/** Refuses a search, or known state, with sequence numbers. @throws CommandFailure UIDREQUIRED */
export function assertNumbersAllowed(session: ImapSession, usesNumbers: boolean): void {
  if (usesNumbers && isUidOnly(session))
    throw bad('Sequence numbers cannot be used after ENABLE UIDONLY.', 'UIDREQUIRED')
}
