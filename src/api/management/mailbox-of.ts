// The mailbox a path of the Management API names.

import { notFound } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import type { Mailbox } from '../../directory/mailboxes/mailboxes.ts'

/** @throws ProductError not_found, also for a mailbox of another team */
export function mailboxOf(app: Context, teamId: string, id: string): Mailbox {
  const mailbox = app.directory.mailboxes.get(teamId, id)
  if (mailbox === undefined) throw notFound('mailbox')
  return mailbox
}
