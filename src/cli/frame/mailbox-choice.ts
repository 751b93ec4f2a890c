// Which mailbox a command is about.

import { ProductError } from '../../base/errors.ts'
import type { Directory } from '../../directory/directory.ts'
import type { Mailbox } from '../../directory/mailboxes/mailboxes.ts'

/** @throws ProductError not_found, also for one that was deleted */
export function chooseMailbox({ mailboxes }: Directory, email: string): Mailbox {
  const [mailbox, ...others] = [mailboxes.byEmail(email) ?? mailboxes.outsideAt(email.toLowerCase())].flat()
  if (mailbox === undefined) throw new ProductError('not_found', `There is no mailbox ${email}.`)
  if (others.length > 0) throw new ProductError('conflict', `Several teams have attached ${email}. Use the API.`)
  return mailbox
}

/**
 * The deleted mailbox with this id or address.
 * @throws ProductError not_found, conflict for several that had the address
 */
export function chooseDeleted({ mailboxes }: Directory, text: string): Mailbox {
  const [mailbox, ...others] = mailboxes.deletedAt(text)
  if (mailbox === undefined) {
    throw new ProductError(
      'not_found',
      `There is no deleted mailbox ${text}. See mailstead mailbox list --status deleted.`,
    )
  }
  if (others.length === 0) return mailbox
  const ids = [mailbox, ...others].map(({ id }) => id).join(', ')
  throw new ProductError('conflict', `Several deleted mailboxes had the address ${text}. Name one by its id: ${ids}.`)
}
