// Commands for sending accounts, webhooks, suppressions, keys, members and aliases, beside a running appliance and without one.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { newId } from '../../../src/base/ids.ts'
import { type Json, startAppliance } from '../../support/appliance.ts'
import { Commands } from '../../support/cli.ts'
import { startHook } from '../../support/hook.ts'
import { startMailServer } from '../../support/mail-server.ts'

const hook = await startHook()
const relay = await startMailServer({
  onAuth: ({ username, password }, _session, done) =>
    password === 'right' ? done(null, { user: username }) : done(new Error('No.')),
})
const LOCAL = { ALLOW_PRIVATE_SMTP_HOSTS: 'true', ALLOW_PRIVATE_WEBHOOKS: 'true', EXTRA_CA_FILE: hook.caFile }
const zone = { 'smtp.relay.test': { A: ['127.0.0.1'] }, 'hooks.test': { A: ['127.0.0.1'] } }
const appliance = await startAppliance({ zone, env: LOCAL })
after(async () => {
  await appliance.close()
  await relay[Symbol.asyncDispose]()
  await hook[Symbol.asyncDispose]()
})
const team = await appliance.team('Shop')
const other = await appliance.team('Other')
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')
const cli = new Commands({
  ...{ ...LOCAL, DATA_DIR: appliance.dataDir, DNS_SERVERS: appliance.dns.address, MAIL_HOSTS: 'mx.mailstead.test' },
})
const ofShop = ['--team', 'Shop']
const read = async (path: string): Promise<Json> => (await appliance.get(path, team.key)).body.data
const idsOf = (rows: Json[]) => rows.map(({ id }) => id)

test('sending accounts are created, tested, changed and deleted', async () => {
  const smtp = ['--smtp-host', 'smtp.relay.test', '--smtp-port', String(relay.port), '--smtp-protocol', 'none']
  const create = ['provider', 'create', ...ofShop, '--name', 'Relay', ...smtp, '--smtp-username', 'shop']
  const made = await cli.given('right\n').json(...create, '--per-day', '2000', '--per-hour', '50-60')
  assert.deepEqual(made, await read(`/providers/${made.id}`))
  assert.deepEqual([made.status, made.has_smtp_password], ['pending', true])
  assert.deepEqual(
    [made.quotas.per_day, made.quotas.per_hour],
    [
      { min: 2000, max: 2000 },
      { min: 50, max: 60 },
    ],
  )
  assert.equal((await cli.json('provider', 'test', made.id)).success, true)
  assert.equal((await cli.json('provider', 'show', made.id)).status, 'active')
  const wrong = await cli.given('wrong').json('provider', 'update', made.id, '--password-stdin', '--per-hour', 'none')
  assert.deepEqual([wrong.quotas.per_hour, wrong.quotas.per_day?.max], [null, 2000])
  const failed = await cli.run('provider', 'test', made.id)
  assert.deepEqual([failed.code, failed.err], [1, ['mailstead: The test of Relay failed at the stage auth.']])
  assert.equal((await cli.json('provider', 'deactivate', made.id)).status, 'inactive')
  assert.equal((await cli.json('provider', 'activate', made.id)).status, 'pending')
  assert.deepEqual(idsOf(await cli.json('provider', 'list', ...ofShop, '--type', 'smtp')), [made.id])
  assert.deepEqual(await cli.json('provider', 'list', '--team', 'Other'), [])
  assert.match((await cli.run('provider', 'list', ...ofShop)).out.join('\n'), /^Provider +Type .*\n.* Relay$/m)
  assert.equal((await cli.json('provider', 'delete', made.id)).deleted, true)
  assert.deepEqual(await read('/providers'), [])
  await cli.refused(['provider', 'show', made.id], `There is no sending account ${made.id}`)
  await cli.refused(['provider', 'show', 'Relay'], 'Relay is not the id of a provider (dprov_…)')
  // Errors name what was typed, not members of the API.
  const refused = (...argv: string[]) => ({
    says: (part: string) => cli.given('x').refused([...create, ...argv], part),
  })
  await refused('--smtp-port', '99999').says('--smtp-port must be')
  await refused('--from-email', 'nobody').says('--from-email')
  await refused('--per-day', '9-1').says('lower end')
  await refused('--per-day', 'lots').says('--per-day must be a number, a range')
  await refused('--smtp-protocol', 'ftp').says('must be one of starttls, ssl, tls, none')
  await cli.refused(create, 'The password is missing. Pipe it in')
  await cli.refused(create.slice(0, -2), '--smtp-username is missing')
  await cli.refused(['provider', 'update', newId('provider')], 'Nothing to change')
  await cli.refused(['provider', 'connect', 'yahoo'], 'Use gmail or outlook')
})

test('webhooks are created, tested, narrowed, replayed and deleted', async () => {
  const create = ['webhook', 'create', hook.url(), ...ofShop]
  const made = await cli.json(...create, '--event', 'message.delivered', '--event', 'service.test')
  const { signing_secret: secret, ...shown } = made
  assert.match(secret, /^whsec_/)
  assert.deepEqual(await read(`/webhooks/${made.id}`), shown)
  const request = hook.next()
  const { delivery, event_id: event } = await cli.json('webhook', 'test', made.id)
  assert.deepEqual([delivery.result, JSON.parse(String((await request).body)).id], ['success', event])
  const [listed] = await cli.json('webhook', 'deliveries', made.id, '--result', 'success')
  assert.deepEqual(listed, delivery)
  assert.equal((await cli.json('webhook', 'replay', made.id, delivery.id)).event_id, event)
  hook.answer((_request, response) => response.writeHead(500).end())
  const failed = await cli.run('webhook', 'test', made.id)
  assert.deepEqual([failed.code, failed.err[0]?.endsWith('did not accept the test event.')], [1, true])

  const narrowed = await cli.json('webhook', 'update', made.id, '--mailbox', ana.email, '--domain', 'shop.test')
  assert.deepEqual([narrowed.mailbox_ids, narrowed.domain_ids.length], [[ana.id], 1])
  const whole = await cli.json('webhook', 'update', made.id, '--mailbox', 'none', '--event', '*', '--disable')
  assert.deepEqual([whole.mailbox_ids, whole.event_types, whole.status], [null, ['*'], 'disabled'])
  assert.deepEqual(idsOf(await cli.json('webhook', 'list', ...ofShop, '--status', 'disabled')), [made.id])
  await cli.refused(['webhook', 'test', made.id], 'disabled')
  const rotated = await cli.json('webhook', 'rotate-secret', made.id, '--grace', '60')
  assert.notEqual(rotated.signing_secret, secret)
  await cli.refused(['webhook', 'rotate-secret', made.id, '--grace', '99999999'], 'whole number of seconds')
  await cli.refused(['webhook', 'update', made.id], 'Nothing to change')
  await cli.refused(['webhook', 'update', made.id, '--enable', '--disable'], 'not both')
  await cli.refused(['webhook', 'update', made.id, '--event', '*', '--event', 'service.test'], 'includes all types')
  const foreign = await other.domain('other.test').then(() => other.mailbox('eve@other.test'))
  await cli.refused(['webhook', 'update', made.id, '--mailbox', foreign.email], 'has no mailbox eve@other.test')
  await cli.refused(['webhook', 'update', made.id, '--domain', 'other.test'], 'has no domain other.test')
  await cli.refused([...create, '--event', 'message.lost'], 'The event must be one of')
  await cli.refused(['webhook', 'create', 'http://hooks.test/', ...ofShop], 'https://')
  await cli.refused(['webhook', 'replay', made.id, newId('webhookAttempt')], 'There is no such webhook delivery')
  assert.equal((await cli.json('webhook', 'delete', made.id)).deleted, true)
  await cli.refused(['webhook', 'show', made.id], 'There is no webhook')
})

test('suppressions are added, listed and removed by their address', async () => {
  const made = await cli.json('suppression', 'add', 'Gone@Customer.example', ...ofShop, '--note', 'asked\u001b[31m')
  assert.deepEqual([made.email, made.reason], ['gone@customer.example', 'manual'])
  assert.deepEqual(await cli.json('suppression', 'list', ...ofShop), await read('/suppressions'))
  assert.match((await cli.run('suppression', 'add', 'gone@customer.example', ...ofShop)).out[0]!, /already suppressed/)
  const shown = (await cli.run('suppression', 'list', ...ofShop, '--search', 'GONE')).out.join('\n')
  assert.doesNotMatch(shown, /\u001b/)
  await cli.refused(
    ['suppression', 'remove', 'gone@customer.example', '--team', 'Other'],
    'is not suppressed for Other',
  )
  assert.equal((await cli.json('suppression', 'remove', 'GONE@customer.example', ...ofShop)).id, made.id)
  assert.deepEqual(await read('/suppressions'), [])
  await cli.refused(['suppression', 'add', 'no address', ...ofShop], 'not a valid e-mail address')
  await cli.refused(['suppression', 'list', ...ofShop, '--reason', 'age'], 'bounce, complaint, manual')
})

test('a key is rotated: the old secret ends now, or after the grace period', async () => {
  const made = await cli.json('key', 'create', ...ofShop)
  const works = async (key: string) => (await appliance.get('/domains', key)).status === 200
  const kept = await cli.json('key', 'rotate', made.id, '--grace', '3600')
  assert.deepEqual([kept.id, await works(made.key), await works(kept.key)], [made.id, true, true])
  const { out } = await cli.run('key', 'rotate', made.id)
  assert.deepEqual([await works(out[1]!.trim()), await works(kept.key)], [true, false])
  await cli.refused(['key', 'rotate', made.id, '--grace', '1e3'], 'The grace period must be a whole number')
  await cli.refused(['key', 'rotate', made.id, '--grace', '999999999'], 'The grace period')
  await cli.refused(['key', 'rotate', newId('key')], 'There is no key')
  await cli.json('key', 'revoke', made.id)
  await cli.refused(['key', 'rotate', made.id], 'no longer active')
})

test('members and aliases are listed; an alias is removed', async () => {
  await cli.json('member', 'add', 'ida@people.test', ...ofShop, '--role', 'admin')
  assert.deepEqual(await cli.json('member', 'list', ...ofShop), await read('/team/members'))
  assert.match((await cli.run('member', 'list', ...ofShop)).out.join('\n'), /^Member +Role .*\n.* ida@people\.test$/m)
  assert.match((await cli.run('member', 'list', '--team', 'Other')).out[0]!, /no members/)

  const alias = await cli.json('mailbox', 'alias', ana.email, 'Orders@shop.test')
  assert.deepEqual(await cli.json('mailbox', 'aliases', ana.email), [alias])
  await cli.refused(['mailbox', 'remove-alias', ana.email, 'nobody@shop.test'], 'has no alias nobody@shop.test')
  assert.equal((await cli.json('mailbox', 'remove-alias', ana.email, 'ORDERS@shop.test')).id, alias.id)
  assert.deepEqual(await read(`/mailboxes/${ana.id}/aliases`), [])
  await cli.refused(['mailbox', 'aliases', 'nobody@shop.test'], 'There is no mailbox')
})

test('commands that make credentials leave entries that name what they open', async () => {
  await cli.json('key', 'create', ...ofShop, '--name', 'Reader', '--role', 'root:readonly')
  await cli.json('key', 'create', ...ofShop, '--name', 'Sender', '--permissions', 'email.send')
  await cli.json('mailbox', 'key', ana.email)
  await cli.json('mailbox', 'app-password', 'create', ana.email, '--read-only')
  await cli.json('mailbox', 'forward', 'add', ana.email, 'boss@elsewhere.example')
  const hooked = await cli.json('webhook', 'create', ...ofShop, hook.url(), '--mailbox', ana.email)
  await cli.json('member', 'add', ...ofShop, 'new@elsewhere.example')
  const entries = (await read('/team/audit?limit=7')).map((one: Json) => [one.action, one.actor.kind, one.opens])
  const previews = 'the beginning of received messages of'
  const made = (action: string, opens: string | null) => [action, 'command', opens]
  assert.deepEqual(entries.reverse(), [
    made('key create', `${previews} all mailboxes`),
    made('key create', null),
    made('mailbox key', `the mailbox ${ana.email}: mailbox.read, email.receive, mailbox.write, email.send`),
    made('mailbox app-password create', `the mailbox ${ana.email}: mailbox.read`),
    made('mailbox forward add', `the messages of ${ana.email}, to boss@elsewhere.example`),
    made('webhook create', `${previews} ${ana.id}, to ${new URL(hooked.url).host}`),
    made('member add', null),
  ])
})

test('without an appliance the commands work on the folder', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mailstead-stopped-'))
  after(() => rm(folder, { recursive: true }))
  const stopped = new Commands({ ...cli.env, DATA_DIR: folder })
  await stopped.json('setup')
  const { id } = await stopped
    .given('secret')
    .json('provider', 'create', '--name', 'R', '--smtp-host', 'smtp.relay.test', '--smtp-username', 'me')
  assert.deepEqual(idsOf(await stopped.json('provider', 'list')), [id])
  const hooked = await stopped.json('webhook', 'create', hook.url())
  assert.deepEqual(hooked.event_types, ['*'])
  await stopped.json('suppression', 'add', 'gone@else.test')
  assert.equal((await stopped.json('suppression', 'list')).length, 1)
  assert.deepEqual(await stopped.json('member', 'list'), [])
  await stopped.json('domain', 'add', 'home.test')
  const sent = await stopped.given('Hello').json('send', 'me@home.test', '--from', 'news@home.test', '--subject', 'Hi')
  const [queued] = await stopped.json('queue', 'list')
  assert.deepEqual([queued.message_id, sent.status], [sent.message_id, 'queued'])
  const row = await stopped.json('log', 'tail', '--once', '--direction', 'out')
  assert.deepEqual([row.log, row.status, row.row.message_id], ['delivery', 'pending', sent.message_id])
})
