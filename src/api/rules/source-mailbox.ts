// The source mailbox of a copy: it needs a credential of its own, because a credential is for one mailbox only.

import { notFound, ProductError } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import { allows } from '../../directory/names/permissions.ts'
import type { MailboxPrincipal } from '../../directory/names/principal.ts'
import type { Account } from '../../store/rows/records.ts'
import { accountOf } from './account.ts'

const SECRET_MAX = 256

/**
 * The account of the second credential.
 * @param secret of X-Source-Authorization
 * @param mailboxId source mailbox in the body
 * @param permissions required permissions of the second credential
 * @throws ProductError not_found for a mailbox of another team, or a credential that is not for it; insufficient_permissions
 */
export function sourceAccountOf(
  app: Context,
  principal: MailboxPrincipal,
  secret: string,
  mailboxId: string,
  permissions: readonly string[],
): Account {
  const known = secret.length > SECRET_MAX ? undefined : app.directory.keys.recognise(secret)
  const source = known?.principal
  if (source?.kind !== 'mailbox' || source.mailboxId !== mailboxId || source.teamId !== principal.teamId) {
    throw notFound('mailbox')
  }
  const missing = permissions.find((permission) => !allows(source.permissions, permission))
  if (missing !== undefined) {
    throw new ProductError(
      'insufficient_permissions',
      `The key of the source mailbox lacks ${missing}. Use a key with this permission.`,
    )
  }
  return accountOf(app, source)
}
