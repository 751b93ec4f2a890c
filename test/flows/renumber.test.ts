// Numbers that clients have seen are not reused: after a crash they are skipped, after a restore they are invalid.

import assert from 'node:assert/strict'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Session } from '../../src/api/schemas/session.ts'
import { SKIPPED_AFTER_CRASH, SKIPPED_AFTER_RESTORE } from '../../src/store/rows/renumber.ts'
import { data, failure, receive } from '../api/expect.ts'
import { startAppliance, type TestAppliance } from '../support/appliance.ts'
import { Commands } from '../support/cli.ts'
import { ManualClock } from '../support/clock.ts'
import { logInImap } from '../support/imap.ts'

interface Numbers {
  seq: number
  folders: { name: string; uid_validity: number; uid_next: number }[]
}

async function numbersOf({ app }: TestAppliance): Promise<Numbers> {
  const account = await app.db.scan.get<{ seq: number }>('SELECT seq FROM accounts')
  const folders = await app.db.scan.all<Numbers['folders'][0]>(
    'SELECT name, uid_validity, uid_next FROM folders ORDER BY n',
  )
  return { seq: account!.seq, folders }
}

async function seed(appliance: TestAppliance): Promise<{ email: string; key: string }> {
  const team = await appliance.team()
  await team.domain('in.test')
  const box = await team.mailbox('ben@in.test')
  await receive(appliance, { to: box.email, subject: 'First' })
  return box
}

const statesOf = async (appliance: TestAppliance, key: string) =>
  data<Session>(await appliance.get('/mailbox/session', key)).states

async function folder(t: { after(run: () => Promise<void>): void }): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'mailstead-renumber-'))
  t.after(() => rm(root, { recursive: true }))
  return root
}

test('an orderly shutdown skips no numbers, a crash skips UIDs and states', async (t) => {
  const root = await folder(t)
  const clock = new ManualClock()
  const [dataDir, copy] = [join(root, 'data'), join(root, 'copy')]
  let [before, key]: [Numbers | undefined, string] = [undefined, '']
  {
    await using appliance = await startAppliance({ dataDir, clock })
    const box = await seed(appliance)
    key = box.key
    const client = await logInImap(appliance, box)
    assert.deepEqual((await client.run('STATUS INBOX (RECENT)')).untagged, ['* STATUS INBOX (RECENT 1)'])
    await client.run('SELECT INBOX')
    await client.run('LOGOUT')
    before = await numbersOf(appliance)
    await appliance.close()
    await using again = await startAppliance({ dataDir, clock })
    assert.deepEqual(await numbersOf(again), before)
    // What a power cut leaves: the files as they are while the appliance is at work.
    await cp(dataDir, copy, { recursive: true })
  }
  await using cut = await startAppliance({ dataDir: copy, clock })
  const after = await numbersOf(cut)
  assert.equal(after.seq, before.seq + SKIPPED_AFTER_CRASH)
  assert.deepEqual(
    after.folders,
    before.folders.map((one) => ({ ...one, uid_next: one.uid_next + SKIPPED_AFTER_CRASH })),
  )
  // UIDs that were skipped are no recent messages.
  const client = await logInImap(cut, { email: 'ben@in.test', key })
  assert.deepEqual((await client.run('STATUS INBOX (RECENT MESSAGES)')).untagged, [
    '* STATUS INBOX (RECENT 0 MESSAGES 1)',
  ])
  client.close()
  // Clients that knew what is still there go on from it.
  const states = await statesOf(cut, key)
  await receive(cut, { to: 'ben@in.test', subject: 'Second' })
  const { created } = data<{ created: string[] }>(
    await cut.get(`/mailbox/messages/changes?since_state=${states.messages}`, key),
  )
  assert.equal(created.length, 1)
})

test('a restore gives a new UIDVALIDITY, and every earlier state is too old', async (t) => {
  const root = await folder(t)
  const clock = new ManualClock()
  const [dataDir, again, file] = [join(root, 'data'), join(root, 'again'), join(root, 'backup.tar.zst')]
  const cli = new Commands({ DATA_DIR: dataDir })
  await using appliance = await startAppliance({ dataDir, clock })
  const { email, key } = await seed(appliance)
  const before = await numbersOf(appliance)
  const known = [await statesOf(appliance, key)]
  const { appliance_id } = await cli.json('backup', file)
  assert.equal(appliance_id, appliance.app.appliance.id)
  await receive(appliance, { to: email, subject: 'After the backup' })
  known.push(await statesOf(appliance, key))
  const { lines } = await restored(cli, file, again)
  // The clock of the test stands at the beginning of the year.
  assert.ok(!lines.includes('clock accept'))

  await using other = await startAppliance({ dataDir: again, clock })
  assert.equal(other.app.appliance.id, appliance_id)
  const after = await numbersOf(other)
  assert.ok(after.seq >= before.seq + SKIPPED_AFTER_RESTORE)
  for (const [i, { uid_validity }] of after.folders.entries()) {
    assert.ok(uid_validity > before.folders[i]!.uid_validity)
  }
  for (const states of known) {
    for (const type of ['messages', 'folders', 'threads'] as const) {
      failure(await other.get(`/mailbox/${type}/changes?since_state=${states[type]}`, key), 409, 'conflict')
    }
  }
  const states = await statesOf(other, key)
  await receive(other, { to: email, subject: 'After the restore' })
  const { created } = data<{ created: string[] }>(
    await other.get(`/mailbox/messages/changes?since_state=${states.messages}`, key),
  )
  assert.equal(created.length, 1)
})

async function restored(cli: Commands, file: string, folder: string): Promise<{ lines: string }> {
  const { code, out, err } = await cli.run('restore', file, '--data', folder)
  assert.equal(code, 0, err.join())
  return { lines: out.join('\n') }
}

test('states are returned only after they are on disk', async (t) => {
  await using appliance = await startAppliance({ clock: new ManualClock() })
  const { key } = await seed(appliance)
  const { promise, resolve } = Promise.withResolvers<void>()
  const durable = t.mock.method(appliance.app.db, 'durable', () => promise)
  t.mock.getter(appliance.app.db, 'isDurable', () => false)
  let isReported = false
  const reported = appliance.get('/mailbox/session', key).then((reply) => {
    isReported = true
    return reply
  })
  while (durable.mock.callCount() === 0) await new Promise(setImmediate)
  assert.equal(isReported, false)
  resolve()
  assert.equal((await reported).status, 200)
})
