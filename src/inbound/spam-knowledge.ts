// Collects what the mailboxes of the recipients know of a message: their history with its sender, and what they have learned.

import { getDomain } from 'tldts'
import type { Config } from '../config/config.ts'
import { domainOf } from '../mime/address.ts'
import type { Fact } from '../spam/catalog.ts'
import { historyOf, type SenderHistory } from '../spam/history.ts'
import { FREE_MAIL } from '../spam/lists/hosts.ts'
import type { SpamKnowledge } from '../spam/score.ts'
import type { Store, StoreSpam } from '../store/store.ts'
import type { Inspection } from '../workers/inspection.ts'
import type { Inspected } from './received-message.ts'

interface Deps {
  config: Config
  store: Pick<Store, 'accounts'> & { spam: Pick<StoreSpam, 'acquaintances' | 'models'> }
  spamKey: number
}

/** The domains of the author and of the links of a message, as blocklists know them. */
export function domainsOf({ message, content }: Inspection): string[] {
  const hosts = [...message.from.slice(0, 1).map(({ email }) => domainOf(email)), ...(content?.hosts ?? [])]
  return [...new Set(hosts.flatMap((host) => getDomain(host.toLowerCase()) ?? []))]
}

/** @param opinions of services that were asked @returns one entry for each recipient, in their order */
export function spamKnowledge(
  deps: Deps,
  { inspection, recipients }: Inspected,
  opinions: readonly Fact[],
): SpamKnowledge[] {
  const { config, store, spamKey } = deps
  const { from } = inspection.message
  const author = from.length === 1 ? from[0]!.email : ''
  return recipients.map(({ mailbox, teamId }) => ({
    history: author === '' ? null : senderHistory(deps, mailbox.id, author, inspection.verdict.fromAligned),
    models: store.spam.models.of(mailbox.id, teamId),
    opinions,
    hamLoss: config.SPAM_JUNK_HAM_LOSS,
    key: spamKey,
  }))
}

function senderHistory({ store }: Deps, mailboxId: string, author: string, isProven: boolean): SenderHistory | null {
  const account = store.accounts.byMailbox(mailboxId)
  if (account === undefined) return null
  const { acquaintances } = store.spam
  const address = acquaintances.withAddress(account.n, author)
  // Addresses at free mail are strangers to each other.
  const isAsked = isProven && !FREE_MAIL.has(domainOf(author).toLowerCase())
  return historyOf(isProven, address, isAsked ? acquaintances.withDomain(account.n, author) : null)
}
