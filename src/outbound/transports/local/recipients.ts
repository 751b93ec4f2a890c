// Resolves the recipients of a local delivery, and the reasons to refuse them.

import { type FilterPolicy, policyOf } from '../../../directory/domains/filter-policy.ts'
import type { Mailbox } from '../../../directory/mailboxes/mailboxes.ts'
import { type Reach, type ReceiverLookup, reachOf } from '../../../directory/mailboxes/receiver.ts'
import { parseMailbox } from '../../../mime/address.ts'
import type { InboundReason } from '../../../store/log/inbound-log.ts'
import type { OutboundDeps } from '../../model/deps.ts'
import type { DelayCause } from '../../model/records.ts'
import type { Verdict } from '../../model/transport.ts'
import { ownReply } from '../smtp/reply.ts'

/** Why a recipient is refused, permanently or temporarily. */
export interface LocalRefusal {
  verdict: Verdict
  /** Reason code of the inbound log; null if it has none for this case. */
  reason: InboundReason | null
}

/** One recipient; `teamId` is null if the domain is not local. */
export interface LocalRecipient {
  rcptTo: string
  domain: string
  teamId: string | null
  mailbox: Mailbox | null
  /** Null without a mailbox that accepts mail. */
  reach: Reach | null
  /** Filter policy of the mailbox; null without a mailbox that accepts mail. */
  policy: FilterPolicy | null
  refusal: LocalRefusal | null
}

export const refusals = {
  unknown: (address: string) => never('unknown_recipient', '5.1.1', `There is no mailbox ${address} here.`),
  suspended: (address: string) => never('mailbox_suspended', '5.2.1', `The mailbox ${address} is suspended.`),
  paused: (address: string) => never('address_paused', '5.2.1', `The address ${address} takes no mail.`),
  filtered: (address: string) => never('sender_filtered', '5.7.1', `${address} does not accept mail from this sender.`),
  byScript: (reason: string) => never('script_refused', '5.7.1', reason),
  loop: (address: string) =>
    never('rate_limited', '5.4.6', `The mail to ${address} has passed too many hosts (mail loop).`),
  teamSuspended: (address: string) =>
    later('mailbox_suspended', 'transient', '4.2.1', `The mailbox ${address} does not accept mail at the moment.`),
  full: (address: string) => later('mailbox_full', 'mailbox_full', '4.2.2', `The mailbox ${address} is full.`),
  /** The domain was removed after routing: the next attempt uses another route. */
  foreign: (address: string) => later(null, 'transient', '4.3.5', `Mail for ${address} is no longer accepted here.`),
  failed: () =>
    later('temporary_failure', 'transient', '4.3.0', 'The message could not be stored; delivery will be retried.'),
}

function never(reason: InboundReason, code: string, sentence: string): LocalRefusal {
  return { reason, verdict: { kind: 'never', reply: ownReply(sentence, code), about: 'recipient' } }
}

function later(reason: InboundReason | null, cause: DelayCause, code: string, sentence: string): LocalRefusal {
  return { reason, verdict: { kind: 'later', reply: ownReply(sentence, code), cause } }
}

/** Performs four reads by key. */
export async function findRecipient(
  { directory }: Pick<OutboundDeps, 'directory'>,
  rcptTo: string,
): Promise<LocalRecipient> {
  const { local, domain } = parseMailbox(rcptTo) ?? { local: '', domain: '' }
  const found = directory.mailboxes.receiver(local, domain)
  const mailbox = 'mailbox' in found ? found.mailbox : null
  const teamId = 'domain' in found ? (found.domain?.teamId ?? null) : null
  const refusal = refusalOf(found, rcptTo)
  const policy =
    found.reason === null
      ? await policyOf(directory.filters, { mailboxId: found.mailbox.id, domainId: found.domain.id })
      : null
  const reach = found.reason === null ? reachOf(found) : null
  return { rcptTo, domain, teamId, mailbox, reach, policy, refusal }
}

function refusalOf(found: ReceiverLookup, address: string): LocalRefusal | null {
  if (found.reason === 'unknown_domain') return refusals.foreign(address)
  if (found.reason === 'unknown_recipient') return refusals.unknown(address)
  if (found.reason === 'mailbox_suspended') return refusals.suspended(address)
  if (found.reason === 'address_paused') return refusals.paused(address)
  if (found.reason === 'team_suspended') {
    return found.deferred ? refusals.teamSuspended(address) : refusals.suspended(address)
  }
  return null
}
