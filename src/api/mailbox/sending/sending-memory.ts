// The memory that sending takes: for the files of messages, named or in the request, and what is composed of them.

import type { Context } from '../../../context.ts'
import type { Principal } from '../../../directory/names/principal.ts'
import { contentBytes } from '../../../mime/compose/outgoing-content.ts'
import { accountOf } from '../../rules/account.ts'
import type { ReadMail } from '../../schemas/new-mail.ts'

/**
 * Runs work that loads the files of messages, composes and stores them, while it holds the memory for it: of many requests with large files
 * some wait.
 * @throws ProductError service_unavailable when the turn does not come in time
 */
export async function withSendingMemory<T>(
  app: Context,
  principal: Principal & { teamId: string },
  messages: readonly ReadMail[],
  work: () => Promise<T>,
): Promise<T> {
  let bytes = 0
  for (const { mail, uploads } of messages) {
    bytes += contentBytes(mail)
    if (principal.kind !== 'mailbox') continue
    for (const { blobId } of uploads) {
      const file = await app.store.read.contents.find(accountOf(app, principal), blobId)
      bytes += file?.sizeBytes ?? 0
    }
  }
  return app.memory.during(bytes, principal.kind === 'mailbox' ? principal.mailboxId : principal.teamId, work)
}
