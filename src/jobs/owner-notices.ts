// Tells the owners of a team what went wrong without anybody asking: an account, a webhook, a domain; and what became of what they asked for.

import type { Context } from '../context.ts'
import { lapsedDomains } from '../directory/domains-lapsed.ts'
import { endedWebhooks } from '../events/webhooks/ended.ts'
import { failingProviders } from '../outbound/providers/failing.ts'
import type { OwnerFact } from '../people/owner-notices.ts'
import { job } from './job.ts'

const MINUTE_MS = 60 * 1000
/** How long a decision is news: what is older is neither told nor remembered as told. */
const NEWS_MS = 7 * 24 * 60 * MINUTE_MS

export const ownerNotices = job({
  name: 'owner-notices',
  every: MINUTE_MS,
  async run({ app }) {
    const { told } = app.people
    const accounts = await told.tell('provider', await accountFacts(app))
    const hooks = await told.tell('webhook', await webhookFacts(app))
    const limits = await told.tell('limit', await limitFacts(app))
    return accounts + hooks + limits + (await told.tell('domain', await domainFacts(app)))
  },
})

async function accountFacts({ db }: Context): Promise<OwnerFact[]> {
  return (await failingProviders(db.read)).map(({ id, teamId, name, statusReason }) => ({
    key: `provider ${id}`,
    teamId,
    subject: `The sending account ${oneLine(name)} does not work`,
    text: [
      `The sending account "${oneLine(name)}" (${id}) does not work and is left out of sending:`,
      oneLine(statusReason ?? 'no reason is known'),
      'It is tried again by itself. If its settings have changed, correct them.',
    ].join('\n\n'),
  }))
}

async function webhookFacts({ db }: Context): Promise<OwnerFact[]> {
  return (await endedWebhooks(db.read)).map(({ id, teamId, url, disabledReason, updatedAt }) => ({
    key: `webhook ${id} ${updatedAt}`,
    teamId,
    subject: 'A webhook was switched off',
    text: [
      `The webhook ${id} was switched off. It told:`,
      oneLine(url),
      disabledReason === 'url_not_allowed'
        ? 'Its address leads to a place that is not in the public Internet.'
        : 'Twenty events in a row could not be told over three days.',
      'Switch it on again when the receiver works; what happened meanwhile is not told later.',
    ].join('\n\n'),
  }))
}

async function domainFacts({ db }: Context): Promise<OwnerFact[]> {
  return (await lapsedDomains(db.read)).map(({ id, teamId, name, verifiedAt }) => ({
    key: `domain ${id} ${verifiedAt}`,
    teamId,
    subject: `The domain ${name} is not verified any more`,
    text: [
      `The record that proves ${name} was missing in DNS on three days in a row.`,
      'Mail from this domain is not sent any more; mail to it still comes in. Publish the record again, then verify the domain.',
    ].join('\n\n'),
  }))
}

async function limitFacts({ outbound, clock }: Context): Promise<OwnerFact[]> {
  const decided = await outbound.sharedLimit.decided(clock.now() - NEWS_MS)
  return decided.map(({ id, teamId, status, approvedDailyLimit, decisionNote }) => ({
    key: `limit ${id}`,
    teamId,
    subject:
      status === 'approved'
        ? 'Your request for a higher limit was approved'
        : 'Your request for a higher limit was denied',
    text: [
      status === 'approved'
        ? `Your team may send to ${approvedDailyLimit} recipients a day through the shared Amazon SES account.`
        : 'The limit of your team on the shared Amazon SES account stays as it is. You may ask again a day after the decision.',
      ...(decisionNote === null ? [] : [`The operator writes: ${oneLine(decisionNote)}`]),
      `The request was ${id}.`,
    ].join('\n\n'),
  }))
}

/** Names are other people's words: they must not look like paragraphs of ours. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
