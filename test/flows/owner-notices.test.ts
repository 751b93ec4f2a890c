// Notices to owners about failures, one for each failure.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { DAY_MS } from '../../src/base/durations.ts'
import { ownerNotices } from '../../src/jobs/owner-notices.ts'
import { data } from '../api/expect.ts'
import { type Json, startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
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
const appliance = await startAppliance({ clock, zone, env })
after(async () => {
  await appliance.close()
  await remote[Symbol.asyncDispose]()
  await ses[Symbol.asyncDispose]()
})
const team = await appliance.team()
await appliance.app.db.write((tx) => {
  const { members } = appliance.app.people
  members.add(tx, team.id, { email: 'ana@people.example', role: 'owner' })
  members.add(tx, team.id, { email: 'vera@people.example', role: 'viewer' })
})

/** Runs the job and gives the subjects owners got by it. */
async function reported(): Promise<string[]> {
  const before = remote.messages.length
  await ownerNotices.run({ app: appliance.app, log: appliance.app.log, signal: new AbortController().signal })
  await appliance.settle()
  return remote.messages
    .slice(before)
    .map(({ to, bytes }) => `${to} ${/^Subject: (.*)$/m.exec(bytes.toString().replaceAll('\r\n ', ' '))?.[1]?.trim()}`)
}

test('owners get one notice for a failing account, and another one when it fails again', async () => {
  const account = { name: 'Main\taccount', smtp_host: '127.0.0.1', smtp_port: 1, smtp_protocol: 'none' }
  const body = { ...account, name: 'Main', smtp_username: 'u', smtp_password: 'p' }
  const { id } = data<Json>(await appliance.call('POST', '/providers', team.key, body), 201)
  await appliance.settle()
  assert.equal(data<Json>(await appliance.get(`/providers/${id}`, team.key)).status, 'error')
  assert.deepEqual(await reported(), ['ana@people.example The sending account Main is failing'])
  assert.deepEqual(await reported(), [])
  await appliance.call('POST', `/providers/${id}/deactivate`, team.key)
  assert.deepEqual(await reported(), [])
  await appliance.call('POST', `/providers/${id}/activate`, team.key)
  await appliance.settle()
  assert.deepEqual(await reported(), ['ana@people.example The sending account Main is failing'])
})

test('owners get a notice for a webhook disabled by the appliance, not for one disabled by a user', async () => {
  const make = async () =>
    data<Json>(
      await appliance.call('POST', '/webhooks', team.key, { url: 'https://93.184.215.14/hook', event_types: ['*'] }),
      201,
    ).id as string
  const [ours, theirs] = [await make(), await make()]
  await appliance.call('PATCH', `/webhooks/${theirs}`, team.key, { enabled: false })
  const { webhooks } = appliance.app.eventDispatch
  const webhook = webhooks.get(team.id, ours)!
  await appliance.app.db.write((tx) => webhooks.disable(tx, webhook.n, 'too_many_failures'))
  assert.deepEqual(await reported(), ['ana@people.example A webhook was disabled'])
  assert.deepEqual(await reported(), [])
})

test('owners get one notice for a decided limit request', async () => {
  const path = '/providers/shared-amazon-ses-limit-request'
  const { sharedLimit } = appliance.app.outbound.accounts
  await sharedLimit.setDaily(team.id, true, 100)
  const ask = async () => data<Json>(await appliance.call('POST', path, team.key), 201).request.id as string
  const first = await ask()
  assert.deepEqual(await reported(), [], 'nothing is decided')
  await sharedLimit.approve(first, { approvedDailyLimit: 300, note: 'Welcome\r\n\r\nPay here' })
  assert.deepEqual(await reported(), ['ana@people.example Your request for a higher limit was approved'])
  const text = remote.messages.at(-1)!.bytes.toString().replaceAll('=\r\n', '')
  assert.match(text, /300 recipients a day/)
  assert.match(text, /The operator writes: Welcome Pay here/)
  assert.deepEqual(await reported(), [])
  await sharedLimit.deny(await ask(), { note: null })
  assert.deepEqual(await reported(), ['ana@people.example Your request for a higher limit was denied'])
  clock.leap(8 * 24 * 3_600_000)
  assert.deepEqual(await reported(), [], 'no notice after a week, and none repeated')
})

test('operators get one notice when the last good backup is too old, and another one for the next', async () => {
  const { db, people, config } = appliance.app
  await db.write((tx) => people.persons.setOperator(tx, 'op@people.example', true))
  const note = (days: number) => {
    const at = clock.now() - days * DAY_MS
    return writeFile(join(config.DATA_DIR, 'last-backup.json'), JSON.stringify({ at, file: '/elsewhere/mail.tar.zst' }))
  }
  await note(6)
  assert.deepEqual(await reported(), [])
  await note(8)
  const missing = [`op@people.example A backup of ${config.MAIL_HOSTS[0]!} is missing`]
  assert.deepEqual(await reported(), missing)
  assert.deepEqual(await reported(), [])
  await note(9)
  assert.deepEqual(await reported(), missing)
})
