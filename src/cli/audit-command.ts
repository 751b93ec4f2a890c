// Entries of the audit log for commands that give people access.

import { userInfo } from 'node:os'
import type { Context } from '../context.ts'
import type { Tx } from '../db/db.ts'

/** Records a command in its unit of work. @param words of the command @param person whom it concerns */
export function auditCommand(
  tx: Tx,
  { people }: Context,
  words: string,
  person: { email: string; teamId: string | null },
): void {
  people.audit.recordIn(tx, {
    teamId: person.teamId,
    actor: { kind: 'command', id: '', label: userName() },
    action: words,
    target: { type: 'member', id: null, label: person.email },
    source: '',
    requestId: '',
  })
}

/** The user who runs the command; in a container there may be no name for their number. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? '')
  }
}
