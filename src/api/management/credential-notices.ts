// Messages to the owners of a mailbox when the team makes something that reads it.

import type { Context } from '../../context.ts'
import type { Mailbox } from '../../directory/mailboxes/mailboxes.ts'
import type { TeamPrincipal } from '../../directory/names/principal.ts'
import { mailboxOf } from './mailbox-of.ts'

/**
 * Makes a credential of a mailbox, and notifies its owners but who made it.
 * @param what such as `An API key`
 * @throws ProductError not_found, and what `make` throws
 */
export async function withNotices<T>(
  app: Context,
  principal: TeamPrincipal,
  { mailboxId, what }: { mailboxId: string; what: string },
  make: () => Promise<T>,
): Promise<T> {
  const send = await prepareNotices(app, principal, mailboxOf(app, principal.teamId, mailboxId), what)
  const result = await make()
  await send()
  return result
}

/** Prepares the notices that a credential of a mailbox was made. @returns a function that sends them */
export function prepareNotices(
  app: Context,
  { teamId, keyId, person }: TeamPrincipal,
  mailbox: Pick<Mailbox, 'id' | 'email'>,
  what: string,
): Promise<() => Promise<void>> {
  const by = person?.email ?? `the key ${app.directory.keys.get(teamId, keyId)?.name ?? keyId}`
  const made = { what, by, memberId: person?.memberId ?? null }
  return app.people.sharing.prepareCredentialNotices(teamId, mailbox, made)
}
