// Content of attachments that a message of the Sending API names by `blob_id`.

import { invalid } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import type { Principal } from '../../directory/names/principal.ts'
import type { NewMail } from '../../outbound/model/new-message.ts'
import { withUploads } from '../mailbox/sending/send.ts'
import { accountOf } from '../rules/account.ts'
import type { ReadMail } from '../schemas/new-mail.ts'

/** @throws ProductError validation_error: content belongs to a mailbox, and other keys have none */
export async function loadContent(app: Context, principal: Principal, message: ReadMail): Promise<NewMail> {
  const [first] = message.uploads
  if (first === undefined) return message.mail
  if (principal.kind !== 'mailbox') {
    const text = 'Only the key of a mailbox can name stored content. Send content instead.'
    throw invalid(`attachments.${first.index}.blob_id`, 'forbidden_value', text)
  }
  return { ...message.mail, attachments: await withUploads(app, accountOf(app, principal), message) }
}
