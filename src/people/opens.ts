// What a new or changed credential gives access to, in words for the audit log: no role opens a mailbox unseen.

import { allows } from '../directory/names/permissions.ts'
import type { Webhook } from '../events/webhooks/records.ts'

const PREVIEWS = 'the beginning of received messages'
/** A webhook is sent it, and the list of events and attempts shows it. */
const SEES_PREVIEWS = ['webhook.read', 'webhook.create', 'webhook.update']
const IDS_SHOWN = 5

/** @param permissions of a key of the team @returns null for a key that reaches no message */
export function openedByKey(permissions: readonly string[]): string | null {
  const opened = [
    ...(SEES_PREVIEWS.some((one) => allows(permissions, one)) ? [`${PREVIEWS} of all mailboxes`] : []),
    ...(allows(permissions, 'mailbox.admin.manage') ? ['all mailboxes, by keys it can issue'] : []),
  ]
  return opened.length === 0 ? null : opened.join('; ')
}

/** @param permissions of a credential of one mailbox */
export function openedByMailboxKey(email: string, permissions: readonly string[]): string {
  return `the mailbox ${email}: ${permissions.join(', ')}`
}

/** @returns null for a webhook that is disabled or sent no content of received messages; the host alone is named, because a path may hold a secret */
export function openedByWebhook(
  webhook: Pick<Webhook, 'url' | 'status' | 'eventTypes' | 'mailboxIds' | 'domainIds'>,
): string | null {
  const { url, status, eventTypes, mailboxIds, domainIds } = webhook
  if (status === 'disabled') return null
  if (!eventTypes.some((type) => type === '*' || type.startsWith('message.received'))) return null
  const narrowed = [...(mailboxIds ?? []), ...(domainIds ?? [])]
  const more = narrowed.length > IDS_SHOWN ? ` and ${narrowed.length - IDS_SHOWN} more` : ''
  const whose = narrowed.length === 0 ? 'all mailboxes' : `${narrowed.slice(0, IDS_SHOWN).join(', ')}${more}`
  return `${PREVIEWS} of ${whose}, to ${new URL(url).host}`
}

/** @param of the mailbox whose script has `redirect` */
export function openedByScript(of: string): string {
  return `the messages of ${of}, to the addresses that the script redirects to`
}

/** A sending account sees what is sent through it. @param host of its server; null for an account at Google or Microsoft */
export function openedByAccount(host: string | null): string {
  return `the messages that the team sends through ${host ?? 'the account'}`
}

/** @param of the mailbox or alias */
export function openedByForward(of: string, to: string): string {
  return `the messages of ${of}, to ${to}`
}
