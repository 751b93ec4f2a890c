// One object of every kind with an id, created for a team.

import type { IdKind } from '../../src/base/ids.ts'
import { Payload } from '../../src/events/webhooks/records.ts'
import { data, receive } from '../api/expect.ts'
import type { Json, TestAppliance, TestTeam } from './appliance.ts'

interface Given {
  /** `mdom_…` of the mailbox. */
  domain: string
  mailbox: { id: string; email: string; key: string }
}

/** @param appliance with the shared Amazon SES account */
export async function resourcesOf(
  appliance: TestAppliance,
  team: TestTeam,
  given: Given,
): Promise<Map<IdKind, string>> {
  const owned = new Map<IdKind, string>([
    ['domain', given.domain],
    ['mailbox', given.mailbox.id],
  ])
  const make = async (path: string, body: object, key = team.key, status = 201) =>
    data<{ id: string }>(await appliance.call('POST', path, key, body), status).id
  await ofMailbox(appliance, team, given, owned)
  const name = given.mailbox.email.slice(given.mailbox.email.lastIndexOf('@') + 1)
  owned.set('suppression', await make('/suppressions', { email: 'gone@customer.test' }))
  owned.set('member', await make('/team/members', { email: `ana@people.${name}`, role: 'owner' }, team.key, 202))
  owned.set('alias', await make(`/mailboxes/${given.mailbox.id}/aliases`, { email: `orders@${name}` }))
  const throwAway = `/mailboxes/${given.mailbox.id}/throw-away-addresses`
  owned.set('throwAwayAddress', await make(throwAway, { made_for: 'shop.example' }))
  const account = { name: 'One', smtp_host: `smtp.${name}`, smtp_port: 587, smtp_protocol: 'starttls' }
  owned.set('provider', await make('/providers', { ...account, smtp_username: 'u', smtp_password: 'p' }))
  const outside = { email: `ana@out.${name}`, password: 'p', imap_host: `imap.${name}`, mode: 'collect' }
  owned.set('remoteAccount', await make('/remote-accounts', { ...outside, mailbox_id: given.mailbox.id }))
  const members = [{ provider_id: owned.get('provider') }]
  owned.set('deliveryGroup', await make('/delivery-groups', { name: 'Group', members }))
  const {
    accounts: { sharedLimit },
    billing: { ledger },
  } = appliance.app.outbound
  await sharedLimit.setDaily(team.id, true, 100)
  const { request } = await sharedLimit.create(team.id, { reason: null, requestedDailyLimit: null })
  owned.set('limitRequest', request.id)
  const credit = { type: 'purchase', amount: 1, description: 'x' } as const
  owned.set('transaction', (await ledger.credit(team.id, credit)).id)
  const mail = { to: { email: given.mailbox.email }, from: { email: given.mailbox.email }, subject: 'Hello' }
  const messages = [{ ...mail, text_body: 'Hello.' }]
  data(await appliance.call('POST', `${appliance.sendOrigin}/api/v1/emails/send/batch`, team.key, { messages }))
  const [logged] = data<Json[]>(await appliance.get('/emails/logs', team.key))
  owned.set('deliveryLog', logged.id).set('email', logged.message_id)
  await webhookOf(appliance, team, owned)
  return owned
}

/** Objects of the mailbox. */
async function ofMailbox(appliance: TestAppliance, team: TestTeam, { mailbox }: Given, owned: Map<IdKind, string>) {
  const { key, id, email } = mailbox
  await receive(appliance, { to: email })
  const first = async (path: string, by = key) => data<Json[]>(await appliance.get(path, by))[0]
  const message = await first('/mailbox/messages')
  owned.set('message', message.id).set('thread', message.thread_id).set('folder', message.folder_ids[0])
  owned.set('inboundLog', (await first('/inbound/logs', team.key)).id)
  owned.set('key', (await first(`/mailboxes/${id}/api-keys`, team.key)).id)
  owned.set('identity', (await first('/mailbox/identities')).id).set('quota', (await first('/mailbox/quotas')).id)
  const post = async (path: string, body: object, status = 201) =>
    data<Json>(await appliance.call('POST', path, key, body), status)
  owned.set('appPassword', (await post('/mailbox/app-passwords', { name: 'Telephone' })).id)
  owned.set('forward', (await post('/mailbox/forwards', { to: 'ana@elsewhere.example' })).id)
  const flag = { ids: [message.thread_id], add_keywords: ['$flagged'] }
  owned.set('undo', (await post('/mailbox/threads/batch-update', flag, 200)).undo_id)
  const later = { to: [{ email }], subject: 'x', text_body: 'x', undo_seconds: 120 }
  owned.set('submission', (await post('/mailbox/messages/send', later, 202)).submission_id)
  owned.set('draft', (await post('/mailbox/drafts', { subject: 'x' })).id)
  owned.set('attachment', (await post('/mailbox/attachments', { filename: 'a.txt', content: 'YQ==' })).id)
  owned.set('sieveScript', (await post('/mailbox/sieve-scripts', { name: 'One', content: 'keep;' })).id)
}

/** Disabled: no event is delivered; the attempt is inserted directly. */
async function webhookOf(appliance: TestAppliance, team: TestTeam, owned: Map<IdKind, string>): Promise<void> {
  const hook = { url: 'https://93.184.215.14/hook', event_types: ['*'], enabled: false }
  const { id } = data<{ id: string }>(await appliance.call('POST', '/webhooks', team.key, hook), 201)
  const { eventDispatch, outbox, db, clock } = appliance.app
  const { n } = eventDispatch.webhooks.get(team.id, id)!
  const about = { teamId: team.id, type: 'service.test' as const, mailboxId: null, domainId: null, at: clock.now() }
  const attempt = await db.write((tx) => {
    const made = outbox.recordDispatched(tx, { ...about, data: {} })
    const event = { ...made, payload: new Payload(made.body) }
    owned.set('event', event.id)
    const answer = { responseStatus: 200, responseMs: 1, responseBody: null, errorMessage: null, nextRetryAt: null }
    const counts = { attempt: 1, maxAttempts: 1, requestHeaders: {}, result: 'success' as const }
    const times = { payloadExpiresAt: clock.now() + 1000, createdAt: clock.now() }
    return eventDispatch.attempts.insertAll(tx, [{ webhook: n, event, ...answer, ...counts, ...times }])[0]!
  })
  owned.set('webhook', id).set('webhookAttempt', attempt)
}
