// Mail programs of a mailbox under a send policy: which messages of strangers they read (docs/design/agents.md §14).

import type { FolderEntry } from '../../store/entries/folders-views.ts'
import type { ImapSession } from '../session/session.ts'

/** Notes messages of which the program is about to get words. Costs nothing without a policy. */
export async function noteReads(
  { app, signedIn }: ImapSession,
  entries: readonly Pick<FolderEntry, 'message'>[],
): Promise<void> {
  const { policies, reads } = app.outbound.held
  const { principal } = signedIn.access
  if (!policies.isUnder(principal.mailboxId)) return
  const rows = app.store.programs.mail.rows(entries.map(({ message }) => message))
  await reads.note(principal, { messages: [...rows.values()].map(({ id }) => id), threads: [] })
}
