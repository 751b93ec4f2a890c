// Owners are told what went wrong, once for each time it does.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ownerNotices } from '../../src/jobs/owner-notices.ts'
import { data } from '../api/expect.ts'
import { ManualClock } from '../support/clock.ts'
import { type Json, startHouse } from '../support/house.ts'
import { startMailServer } from '../support/mail-server.ts'
import { startSes } from '../support/ses.ts'

const clock = new ManualClock()
const remote = await startMailServer()
const zone = {
  'people.example': { MX: [{ priority: 10, exchange: 'mx.people.example' }] },
  'mx.people.example': { A: ['127.0.0.1'] },
}
const ses = await startSes()
const env = { ...ses.env, ALLOW_PRIVATE_SMTP_HOSTS: 'true', DIRECT_PORT: String(remote.port) }
const house = await startHouse({ clock, zone, env })
after(async () => {
  await house.close()
  await remote[Symbol.asyncDispose]()
  await ses[Symbol.asyncDispose]()
})
const team = await house.team()
await house.app.db.write(async (tx) => {
  const { members } = house.app.people
  await members.add(tx, team.id, { email: 'ana@people.example', role: 'owner' })
  await members.add(tx, team.id, { email: 'vera@people.example', role: 'viewer' })
})

/** Runs the job and gives the subjects owners got by it. */
async function told(): Promise<string[]> {
  const before = remote.mails.length
  await ownerNotices.run({ app: house.app, log: house.app.log, signal: new AbortController().signal })
  await house.settle()
  return remote.mails
    .slice(before)
    .map(({ to, bytes }) => `${to} ${/^Subject: (.*)$/m.exec(bytes.toString().replaceAll('\r\n ', ' '))?.[1]?.trim()}`)
}

test('an account that fails is told of once, and again when it fails anew', async () => {
  const account = { name: 'Main\taccount', smtp_host: '127.0.0.1', smtp_port: 1, smtp_protocol: 'none' }
  const body = { ...account, name: 'Main', smtp_username: 'u', smtp_password: 'p' }
  const { id } = data<Json>(await house.call('POST', '/providers', team.key, body), 201)
  await house.settle()
  assert.equal(data<Json>(await house.get(`/providers/${id}`, team.key)).status, 'error')
  assert.deepEqual(await told(), ['ana@people.example The sending account Main is failing'])
  assert.deepEqual(await told(), [])
  await house.call('POST', `/providers/${id}/deactivate`, team.key)
  assert.deepEqual(await told(), [])
  await house.call('POST', `/providers/${id}/activate`, team.key)
  await house.settle()
  assert.deepEqual(await told(), ['ana@people.example The sending account Main is failing'])
})

test('a webhook that is switched off by us is told of, one that somebody switched off is not', async () => {
  const make = async () =>
    data<Json>(
      await house.call('POST', '/webhooks', team.key, { url: 'https://93.184.215.14/hook', event_types: ['*'] }),
      201,
    ).id as string
  const [ours, theirs] = [await make(), await make()]
  await house.call('PATCH', `/webhooks/${theirs}`, team.key, { enabled: false })
  const { webhooks } = house.app.eventDispatch
  const webhook = (await webhooks.get(team.id, ours))!
  await house.app.db.write((tx) => webhooks.disable(tx, webhook.n, 'too_many_failures'))
  assert.deepEqual(await told(), ['ana@people.example A webhook was disabled'])
  assert.deepEqual(await told(), [])
})

test('what became of a request for a higher limit is told once', async () => {
  const path = '/providers/shared-amazon-ses-limit-request'
  const { sharedLimit } = house.app.outbound
  await sharedLimit.setDaily(team.id, true, 100)
  const ask = async () => data<Json>(await house.call('POST', path, team.key), 201).request.id as string
  const first = await ask()
  assert.deepEqual(await told(), [], 'nothing is decided')
  await sharedLimit.approve(first, { approvedDailyLimit: 300, note: 'Welcome\r\n\r\nPay here' })
  assert.deepEqual(await told(), ['ana@people.example Your request for a higher limit was approved'])
  const text = remote.mails.at(-1)!.bytes.toString().replaceAll('=\r\n', '')
  assert.match(text, /300 recipients a day/)
  assert.match(text, /The operator writes: Welcome Pay here/)
  assert.deepEqual(await told(), [])
  await sharedLimit.deny(await ask(), { note: null })
  assert.deepEqual(await told(), ['ana@people.example Your request for a higher limit was denied'])
  clock.leap(8 * 24 * 3_600_000)
  assert.deepEqual(await told(), [], 'no news after a week, and not told anew')
})
