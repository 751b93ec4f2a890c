// Webhook subscriptions over the API: rejected URLs, filters, limits, races and secrets.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { NewWebhook, WebhookJson } from '../../src/api/schemas/webhook.ts'
import { newId } from '../../src/base/ids.ts'
import { startAppliance } from '../support/appliance.ts'
import { data, etagOf, failure, issues, walk } from './expect.ts'

const appliance = await startAppliance({
  zone: { 'inside.test': { A: ['10.0.0.7'] }, 'outside.test': { A: ['93.184.215.14'] } },
})
after(() => appliance.close())
const team = await appliance.team()
const other = await appliance.team('Other')

// Disabled: no event is ever delivered from here.
const BODY = { url: 'https://outside.test/hook', event_types: ['message.delivered'], enabled: false }
const create = (body: object = {}, headers?: Record<string, string>, key = team.key) =>
  appliance.call('POST', '/webhooks', key, { ...BODY, ...body }, headers)

test('the secret is shown once', async () => {
  const reply = await create({ description: 'Orders' })
  const made = data<NewWebhook>(reply, 201)
  assert.equal(reply.headers.get('location'), `/api/v1/webhooks/${made.id}`)
  assert.match(made.signing_secret, /^whsec_[0-9A-Za-z]{44}$/)
  assert.equal(made.signing_secret_hint, made.signing_secret.slice(-4))
  const shown = data<WebhookJson>(await appliance.get(`/webhooks/${made.id}`, team.key))
  assert.ok(!('signing_secret' in shown))
  assert.deepEqual([shown.status, shown.disabled_reason, shown.description], ['disabled', 'by_user', 'Orders'])
  failure(await appliance.get(`/webhooks/${made.id}`, other.key), 404, 'not_found')
})

test('URLs without https, or with a private address, are rejected', async () => {
  const refused = async (url: string, code: string) =>
    issues(await create({ url }), 422, 'validation_error', [`url ${code}`])
  for (const url of ['http://outside.test/', 'ftp://outside.test/', 'outside.test', '/hook', 'https://']) {
    await refused(url, 'invalid_format')
  }
  for (const url of ['https://u@outside.test/', 'https://u:p@outside.test/', 'https://outside.test/#x']) {
    await refused(url, 'invalid_format')
  }
  for (const url of ['https://outside.test:0/', 'https://out\nside.test/', 'https:\\\\outside.test']) {
    await refused(url, 'invalid_format')
  }
  const inside = ['127.0.0.1', '2130706433', '0x7f.1', '10.1.2.3', '169.254.169.254', '[::1]', '[::ffff:10.0.0.1]']
  for (const host of [...inside, '[64:ff9b::7f00:1]', '[2002:7f00:1::]', '[fd00::1]', '100.64.0.1', 'inside.test']) {
    await refused(`https://${host}/`, 'forbidden_value')
  }
})

test('the subscription is validated', async () => {
  issues(await create({ event_types: [] }), 422, 'validation_error', ['event_types too_small'])
  issues(await create({ event_types: ['message.lost'] }), 422, 'validation_error', ['event_types.0 invalid_enum'])
  issues(await create({ event_types: ['*', 'message.bounced'] }), 422, 'validation_error', [
    'event_types forbidden_value',
  ])
  const [mailbox, domain] = [newId('mailbox'), newId('domain')]
  issues(await create({ mailbox_ids: [mailbox] }), 422, 'validation_error', ['mailbox_ids.0 not_found'])
  issues(await create({ domain_ids: [domain] }), 422, 'validation_error', ['domain_ids.0 not_found'])
  await other.domain('other.test')
  const theirs = await other.mailbox('eve@other.test')
  issues(await create({ mailbox_ids: [theirs.id] }), 422, 'validation_error', ['mailbox_ids.0 not_found'])
})

test('the same request with the same key creates one webhook with one secret', async () => {
  const headers = { 'idempotency-key': 'once' }
  const [first, second] = [await create({}, headers), await create({}, headers)]
  assert.deepEqual(data<NewWebhook>(first, 201), data<NewWebhook>(second, 201))
  assert.equal(second.headers.get('idempotent-replayed'), 'true')
})

test('an update checks If-Match; of many concurrent ones one wins', async () => {
  const { id } = data<NewWebhook>(await create(), 201)
  const etag = etagOf(await appliance.get(`/webhooks/${id}`, team.key))
  const change = (description: string) =>
    appliance.call('PATCH', `/webhooks/${id}`, team.key, { description }, { 'if-match': etag })
  const replies = await Promise.all(Array.from({ length: 20 }, (_, i) => change(`Number ${i}`)))
  assert.equal(replies.filter(({ status }) => status === 200).length, 1)
  for (const reply of replies.filter(({ status }) => status !== 200)) failure(reply, 409, 'conflict')
  const cleared = data<WebhookJson>(await appliance.call('PATCH', `/webhooks/${id}`, team.key, { description: null }))
  assert.equal(cleared.description, null)
  assert.deepEqual(data(await appliance.call('DELETE', `/webhooks/${id}`, team.key)), { deleted: true })
  failure(await appliance.call('DELETE', `/webhooks/${id}`, team.key), 404, 'not_found')
})

test('rotation gives a new secret, and a disabled webhook cannot be tested', async () => {
  const made = data<NewWebhook>(await create(), 201)
  const turned = data<NewWebhook>(await appliance.call('POST', `/webhooks/${made.id}/rotate-secret`, team.key))
  assert.notEqual(turned.signing_secret, made.signing_secret)
  assert.ok(turned.secret_rotated_at !== null)
  failure(await appliance.call('POST', `/webhooks/${made.id}/test`, team.key), 409, 'conflict')
})

test('a webhook says until when its previous secret is valid', async () => {
  const made = data<NewWebhook>(await create(), 201)
  assert.equal(made.previous_secret_until, null)
  const rotate = async (seconds: number) =>
    data<NewWebhook>(
      await appliance.call('POST', `/webhooks/${made.id}/rotate-secret`, team.key, { grace_seconds: seconds }),
    )
  const { secret_rotated_at: at, previous_secret_until: until } = await rotate(3600)
  assert.equal(Date.parse(until!) - Date.parse(at!), 3_600_000)
  assert.equal(data<WebhookJson>(await appliance.get(`/webhooks/${made.id}`, team.key)).previous_secret_until, until)
  assert.equal((await rotate(0)).previous_secret_until, null)
})

test('a team has at most twenty, and sees its own only', async () => {
  const mine = () => walk<WebhookJson>(appliance, '/webhooks?status=disabled&limit=7', team.key)
  for (let count = (await mine()).length; count < 20; count++) data(await create(), 201)
  failure(await create(), 409, 'conflict')
  assert.equal(new Set((await mine()).map(({ id }) => id)).size, 20)
  assert.deepEqual(await walk(appliance, '/webhooks', other.key), [])
  assert.deepEqual(await walk(appliance, '/webhooks?status=enabled', team.key), [])
})
