// What is closed to the mailbox of an outside account: its provider filters its mail and answers for it (docs/design/outside-accounts.md §1).

import { conflict } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import type { Mailbox } from '../../directory/mailboxes/mailboxes.ts'

/** What the provider does there, in the error. */
export const FILTERS = 'filters its mail'
export const ANSWERS = 'answers for it'

/** @throws ProductError conflict for the mailbox of an outside account */
export function refuseOutside(mailbox: Pick<Mailbox, 'domainId'> | undefined, what: string): void {
  if (mailbox?.domainId !== null) return
  throw conflict(`The mailbox is an outside account: its provider ${what}. Change that there.`)
}

/** As `refuseOutside`, for the mailbox of a credential. */
export function refuseOutsideCredential(
  { directory }: Context,
  { mailboxId }: { mailboxId: string },
  what: string,
): void {
  refuseOutside(directory.mailboxes.byId(mailboxId), what)
}
