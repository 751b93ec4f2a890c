// Job: notifies by mail: team owners of failing sending accounts, stopped outside accounts, disabled webhooks, lapsed domains and decided quota requests, operators of a missing
// backup, and of certificates that could not be renewed.

import { isoTime } from '../base/clock.ts'
import { DAY_MS, MINUTE_MS } from '../base/durations.ts'
import { FAILURES_REPORTED } from '../certificates/certificates.ts'
import type { Context } from '../context.ts'
import { lapsedDomains } from '../directory/domains/domains-verification.ts'
import { autoDisabledWebhooks } from '../events/webhooks/subscriptions.ts'
import { mailedName } from '../mime/one-line.ts'
import { failingProviders } from '../outbound/providers/row.ts'
import type { OwnerFact } from '../people/owner-notices.ts'
import { job } from './job.ts'

/** Decisions older than this are neither sent nor kept as sent. */
const DECISION_AGE_MAX_MS = 7 * DAY_MS

export const ownerNotices = job({
  name: 'owner-notices',
  every: MINUTE_MS,
  async run({ app }) {
    const { ownerNotices: notices } = app.people
    const accounts = await notices.notify('provider', accountFacts(app))
    const hooks = await notices.notify('webhook', webhookFacts(app))
    const limits = await notices.notify('limit', limitFacts(app))
    const remotes = await notices.notify('remote', remoteFacts(app))
    const backups = await notices.notify('backup', await backupFacts(app))
    const certificates = await notices.notify('certificate', certificateFacts(app))
    const ofAppliance = backups + certificates
    return ofAppliance + accounts + hooks + limits + remotes + (await notices.notify('domain', domainFacts(app)))
  },
})

/** One notice for each good backup that was not followed by another in time. */
async function backupFacts({ maintenance, config }: Context): Promise<OwnerFact[]> {
  const { folder, times, lastGood, isLate, problem } = await maintenance.backups.plan()
  if (!isLate) return []
  const last =
    lastGood === null ? 'There is none yet.' : `The last good one is ${lastGood.file}, of ${isoTime(lastGood.at)}.`
  const rule = times.length === 0 ? 'None is scheduled.' : `One is due every day at ${times.join(', ')} UTC.`
  return [
    {
      key: `backup ${lastGood?.at ?? 'none'}`,
      teamId: null,
      subject: `A backup of ${config.MAIL_HOSTS[0]!} is missing`,
      text: [
        `Backups of this mail server are stored in ${folder}. ${last} ${rule}`,
        ...(problem === null ? [] : [problem]),
        `What happened to the last attempt, and a button to make one now: ${config.APP_ORIGIN}/operator/backups`,
      ].join('\n\n'),
    },
  ]
}

function accountFacts({ db }: Context): OwnerFact[] {
  return failingProviders(db.read).map(({ id, teamId, name, statusReason }) => ({
    key: `provider ${id}`,
    teamId,
    subject: `The sending account ${mailedName(name)} is failing`,
    text: [
      `The sending account "${mailedName(name)}" (${id}) is failing and is not used for sending:`,
      oneLine(statusReason ?? 'The reason is unknown.'),
      'Mailstead checks it again automatically. If the settings of the account have changed, update them.',
    ].join('\n\n'),
  }))
}

function remoteFacts({ sync }: Context): OwnerFact[] {
  return sync.accounts.inError().map(({ id, teamId, email, statusReason, statusSince }) => ({
    key: `remote ${id} ${statusSince}`,
    teamId,
    subject: `The outside account ${oneLine(email)} has stopped`,
    text: [
      `The outside account ${oneLine(email)} (${id}) is no longer synchronised:`,
      oneLine(statusReason ?? 'The reason is unknown.'),
      'Its mailbox can still be read. Changes made in it are kept, and carried out when the account works again: change its settings, or ' +
        'resume it.',
    ].join('\n\n'),
  }))
}

function certificateFacts({ certificates }: Context): OwnerFact[] {
  const failing = certificates.isOn ? certificates.list().filter(({ failures }) => failures >= FAILURES_REPORTED) : []
  return failing.map(({ name, served, reason, dueAt }) => ({
    key: `certificate ${name} ${dueAt ?? 0}`,
    teamId: null,
    subject: `The certificate of ${name} could not be ${served === null ? 'obtained' : 'renewed'}`,
    text: [
      `Mailstead could not ${served === null ? 'obtain' : 'renew'} the certificate of ${name}:`,
      oneLine(reason ?? 'The reason is unknown.'),
      served === null
        ? 'Until it has one, others do not trust its connections.'
        : `The present one is valid until ${isoTime(served.notAfter).slice(0, 10)}.`,
      `Mailstead tries again by itself. When you have corrected the cause, "mailstead certificate renew ${name}" tries at once.`,
    ].join('\n\n'),
  }))
}

function webhookFacts({ db }: Context): OwnerFact[] {
  return autoDisabledWebhooks(db.read).map(({ id, teamId, url, disabledReason, updatedAt }) => ({
    key: `webhook ${id} ${updatedAt}`,
    teamId,
    subject: 'A webhook was disabled',
    text: [
      `The webhook ${id} was disabled. Its URL is:`,
      oneLine(url),
      disabledReason === 'url_not_allowed'
        ? 'Its URL resolves to an address outside the public Internet.'
        : 'Twenty events in a row could not be delivered over three days.',
      'Enable it again when the endpoint works. Events that occurred in the meantime are not delivered later.',
    ].join('\n\n'),
  }))
}

function domainFacts({ db }: Context): OwnerFact[] {
  return lapsedDomains(db.read).map(({ id, teamId, name, verifiedAt }) => ({
    key: `domain ${id} ${verifiedAt}`,
    teamId,
    subject: `The domain ${name} is no longer verified`,
    text: [
      `The verification record of ${name} was missing in DNS on three consecutive days.`,
      'Mail from this domain is no longer sent; mail to it is still accepted. Publish the record again, then verify the domain.',
    ].join('\n\n'),
  }))
}

function limitFacts({ outbound, clock }: Context): OwnerFact[] {
  const decided = outbound.accounts.sharedLimit.decided(clock.now() - DECISION_AGE_MAX_MS)
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

/** Names are written by users: they must not look like paragraphs of this message. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
