// Entries of the audit log for commands that give access to a team, to the messages of mailboxes or to the appliance.

import { userInfo } from 'node:os'
import type { Context } from '../../context.ts'
import type { Tx } from '../../db/db.ts'
import type { AuditEntry, NewAuditEntry } from '../../people/audit.ts'

/** What a command has changed. */
export interface CommandChange {
  /** Null for the appliance. */
  teamId: string | null
  target: AuditEntry['target']
  /** What it gives access to. */
  opens?: string | null
}

/** Records a command in its unit of work. @param words of the command @param person whom it concerns */
export function auditCommand(
  tx: Tx,
  { people }: Context,
  words: string,
  { email, teamId }: { email: string; teamId: string | null },
): void {
  people.audit.recordIn(tx, entryOf(words, { teamId, target: { type: 'member', id: null, label: email } }))
}

/** Records a command that has made a credential, after its unit of work. @param words of the command */
export function auditCredential({ people }: Context, words: string, change: CommandChange): Promise<void> {
  return people.audit.record(entryOf(words, change))
}

function entryOf(words: string, change: CommandChange): NewAuditEntry {
  const actor = { kind: 'command' as const, id: '', label: userName() }
  return { ...change, actor, action: words, source: '', requestId: '' }
}

/** The user who runs the command; in a container there may be no name for their number. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? '')
  }
}
