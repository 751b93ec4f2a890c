// Which mailbox a command is about.

import { ProductError } from '../base/errors.ts'
import type { Directory } from '../directory/directory.ts'
import type { Mailbox } from '../directory/mailboxes.ts'

/** @throws ProductError not_found, also for one that was deleted */
export function chooseMailbox({ mailboxes }: Directory, email: string): Mailbox {
  const [mailbox, ...others] = [mailboxes.byEmail(email) ?? mailboxes.outsideAt(email.toLowerCase())].flat()
  if (mailbox === undefined) throw new ProductError('not_found', `There is no mailbox ${email}.`)
  if (others.length > 0) throw new ProductError('conflict', `Several teams have attached ${email}. Use the API.`)
  return mailbox
}
