// COPY of a message into a folder that has it already, or of one that is in ten folders: a second message over the same content.

import type { FolderStatus } from '../store/folders-views.ts'
import { ENTRY_FLAGS, FLAG_KEYWORDS } from '../store/messages/keywords.ts'
import type { CopiedUid } from '../store/messages/moves.ts'
import { readFully } from '../store/pack-content.ts'
import { appendCopy } from './append-message.ts'
import { plainKeywords } from './flag-texts.ts'
import type { ImapSession } from './session.ts'

/** @param made gets the UIDs of the copies; messages that are gone are left out @throws CommandFailure OVERQUOTA */
export async function copyAgain(
  session: ImapSession,
  target: FolderStatus,
  uids: readonly number[],
  made: CopiedUid[],
): Promise<void> {
  const { app, folder } = session
  for (const uid of uids) {
    const [entry] = app.store.views.entries(folder.n, [{ first: uid, last: uid }], 1)
    const content = entry && app.store.mail.contents([entry.message]).get(entry.message)
    if (entry === undefined || content === undefined) continue
    const load = () => readFully(app.store.mail.bytes(content, 0, content.sizeBytes), content.sizeBytes)
    const reading = await app.inspector.read(content.sizeBytes, load)
    const labels = app.store.mail.labels([entry.message]).get(entry.message) ?? []
    const keywords = [...flagKeywords(entry.flags), ...plainKeywords(labels)]
    const newUid = await appendCopy(session, { reading, target, keywords, receivedAt: entry.receivedAt })
    made.push({ uid, newUid })
  }
}

function flagKeywords(flags: number): string[] {
  const names = ['seen', 'flagged', 'draft', 'answered'] as const
  return names.filter((name) => (flags & ENTRY_FLAGS[name]) !== 0).map((name) => FLAG_KEYWORDS[name])
}
