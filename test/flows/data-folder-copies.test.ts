// Copies of one data folder: databases of two histories are refused, and an older mail.db loses no content.

import assert from 'node:assert/strict'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Db } from '../../src/db/db.ts'
import { blobMigrations, mailMigrations } from '../../src/db/migrations/migrations.ts'
import { openScheduler } from '../../src/jobs/scheduler.ts'
import { readAppliance, readOwner } from '../../src/store/appliance/record.ts'
import { receive, walk } from '../api/expect.ts'
import { startAppliance, type TestAppliance } from '../support/appliance.ts'
import { Commands } from '../support/cli.ts'
import { ManualClock } from '../support/clock.ts'
import { takeBack } from '../support/earlier-schema.ts'

const DAY_MS = 86_400_000
const TWO_COPIES =
  /mail\.db .* and .*blobs\.db .* are of two copies of the data folder that were both in use\. Put back/
const OLDER_MAIL = /mail\.db .* is an older copy than .*blobs\.db/
const OLDER_BLOBS = /blobs\.db .* is an older copy than .*mail\.db/

let root: string
/** A folder with one message, closed in order. */
let base: string
let key: string
const clock = new ManualClock()
const at = (name: string) => join(root, name)

before(async () => {
  root = await mkdtemp(join(tmpdir(), 'mailstead-copies-'))
  base = at('base')
  await using appliance = await startAppliance({ dataDir: base, clock })
  const team = await appliance.team()
  await team.domain('in.test')
  key = (await team.mailbox('ben@in.test')).key
  await receive(appliance, { to: 'ben@in.test', subject: 'First' })
  await appliance.close()
})
after(() => rm(root, { recursive: true }))

async function copyFolder(from: string, name: string): Promise<string> {
  await cp(from, at(name), { recursive: true })
  return at(name)
}

/** Puts a database of `from`, with its log, in place of that in `to`. */
async function putDatabase(name: string, from: string, to: string): Promise<void> {
  for (const end of ['', '-wal', '-shm']) await rm(join(to, name + end), { force: true })
  for (const end of ['', '-wal']) {
    await cp(join(from, name + end), join(to, name + end)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
  }
}

let combined = 0
/** A folder of two databases. */
async function combine(mail: string, blobs: string): Promise<string> {
  const folder = await copyFolder(base, `combined-${combined++}`)
  await putDatabase('mail.db', mail, folder)
  await putDatabase('blobs.db', blobs, folder)
  return folder
}

async function use(dataDir: string, subject: string, heartbeats = 0): Promise<void> {
  await using appliance = await startAppliance({ dataDir, clock })
  await receive(appliance, { to: 'ben@in.test', subject })
  for (let n = 0; n < heartbeats; n++) await appliance.app.appliance.heartbeat()
  await appliance.close()
}

async function refused(folder: string, says: RegExp): Promise<void> {
  const cli = new Commands({ DATA_DIR: folder, DNS_SERVERS: '127.0.0.1:9' })
  for (const _ of [1, 2]) {
    await assert.rejects(startAppliance({ dataDir: folder, clock }), (error: Error) => says.test(error.message))
    await cli.refused(['team', 'list'], says)
  }
}

async function subjects(appliance: TestAppliance): Promise<string[]> {
  const messages = await walk<{ id: string; subject: string }>(appliance, '/mailbox/messages', key)
  for (const { id } of messages) assert.equal((await appliance.get(`/mailbox/messages/${id}/raw`, key)).status, 200)
  return messages.map(({ subject }) => subject).sort()
}

/** Starts a folder as often as said, and lets the jobs of more than a day run each time. @returns contents kept at the end */
async function startOften(dataDir: string, starts: number): Promise<number> {
  let kept = 0
  for (let start = 0; start < starts; start++) {
    await using appliance = await startAppliance({ dataDir, clock })
    clock.leap(DAY_MS + 7_200_000)
    await openScheduler(appliance.app).settle()
    kept = (await appliance.app.store.blobs.hashes()).length
    await closeUnclaimed(appliance)
  }
  return kept
}

/** The check at the end finds content without a row, as it must while the mail.db that references it is missing. */
async function closeUnclaimed(appliance: TestAppliance): Promise<void> {
  await appliance.close().catch((error: Error) => assert.match(error.message, /contents belong to no message/))
}

describe('two copies of a data folder that were both in use', () => {
  it('are refused when mail.db of one is beside blobs.db of the other, however often each wrote heartbeats', async () => {
    const folders: string[] = []
    for (const [name, heartbeats] of [
      ['a', 0],
      ['b', 0],
      ['c', 1],
    ] as const) {
      const folder = await copyFolder(base, name)
      clock.leap(60_000)
      await use(folder, `Of ${name}`, heartbeats)
      folders.push(folder)
    }
    for (const mail of folders) {
      for (const blobs of folders) if (mail !== blobs) await refused(await combine(mail, blobs), TWO_COPIES)
    }
    await using appliance = await startAppliance({ dataDir: await combine(folders[0]!, folders[0]!), clock })
    assert.deepEqual(await subjects(appliance), ['First', 'Of a'])
  })

  it('are refused when both were restored from one backup', async () => {
    const origin = await copyFolder(base, 'origin')
    await using appliance = await startAppliance({ dataDir: origin, clock })
    const file = at('backup.tar.zst')
    await new Commands({ DATA_DIR: origin }).json('backup', file)
    for (const name of ['one', 'two', 'unused']) {
      await new Commands({ DATA_DIR: at(name) }).json('restore', file)
      if (name !== 'unused') await use(at(name), `In ${name}`)
    }
    await receive(appliance, { to: 'ben@in.test', subject: 'After the backup' })
    await appliance.close()
    await refused(await combine(at('one'), at('two')), TWO_COPIES)
    await refused(await combine(at('one'), origin), TWO_COPIES)
    await refused(await combine(origin, at('one')), TWO_COPIES)
    // One database of the backup beside one of today.
    await use(origin, 'Later')
    await refused(await combine(at('unused'), origin), OLDER_MAIL)
    await refused(await combine(origin, at('unused')), OLDER_BLOBS)
  })

  it('are refused also when the older database is one heartbeat behind, if that is blobs.db', async () => {
    const folder = await copyFolder(base, 'running')
    await using appliance = await startAppliance({ dataDir: folder, clock })
    const before = await copyFolder(folder, 'before')
    await appliance.app.appliance.heartbeat()
    await refused(await combine(folder, before), OLDER_BLOBS)
  })
})

it('heartbeats that reached blobs.db alone, before a crash, do not keep a folder from opening', async (t) => {
  const folder = await copyFolder(base, 'halves')
  for (const round of [1, 2]) {
    const first = await startAppliance({ dataDir: folder, clock })
    const { appliance, db } = first.app
    const write = t.mock.method(db, 'write', async () => {
      throw new Error('disk full')
    })
    for (let n = 0; n < 3; n++) await assert.rejects(appliance.heartbeat(), /disk full/)
    write.mock.restore()
    const crashed = await copyFolder(folder, `crashed-${round}`)
    await first.close()
    await use(crashed, `After ${round}`)
    await using again = await startAppliance({ dataDir: crashed, clock })
    assert.deepEqual(await subjects(again), ['After 2', 'After 1', 'First'].slice(2 - round).sort())
    await again.close()
    await rm(folder, { recursive: true })
    await cp(crashed, folder, { recursive: true })
  }
})

describe('a mail.db one heartbeat older than blobs.db', () => {
  it('loses no content over starts and days, and the right mail.db finds its messages when it returns', async () => {
    const folder = await copyFolder(base, 'newer')
    const appliance = await startAppliance({ dataDir: folder, clock })
    const snapshot = await copyFolder(folder, 'snapshot')
    clock.leap(30_000)
    await receive(appliance, { to: 'ben@in.test', subject: 'Second' })
    await appliance.close()
    const newer = await copyFolder(folder, 'newer-kept')
    await putDatabase('mail.db', snapshot, folder)
    assert.equal(await startOften(folder, 3), 2)
    {
      await using older = await startAppliance({ dataDir: folder, clock })
      assert.deepEqual(await subjects(older), ['First'])
      await receive(older, { to: 'ben@in.test', subject: 'Beside the older one' })
      await closeUnclaimed(older)
    }
    const other = await copyFolder(folder, 'older-kept')

    await putDatabase('mail.db', newer, folder)
    assert.equal(await startOften(folder, 2), 3)
    {
      await using right = await startAppliance({ dataDir: folder, clock })
      assert.deepEqual(await subjects(right), ['First', 'Second'])
      await closeUnclaimed(right)
    }
    // Numbers that clients learned from the older mail.db are not those of the newer one.
    assert.ok((await uidValidity(folder)) > (await uidValidity(newer)))

    await putDatabase('mail.db', other, folder)
    await using last = await startAppliance({ dataDir: folder, clock })
    assert.deepEqual(await subjects(last), ['Beside the older one', 'First'])
    await closeUnclaimed(last)
  })

  it('is not taken for the one that returns when it never was beside this blobs.db', async () => {
    const folder = await copyFolder(base, 'own')
    const appliance = await startAppliance({ dataDir: folder, clock })
    const snapshot = await copyFolder(folder, 'own-snapshot')
    const foreign = await copyFolder(folder, 'foreign')
    await receive(appliance, { to: 'ben@in.test', subject: 'Second' })
    await appliance.close()
    await use(foreign, 'Elsewhere')
    await putDatabase('mail.db', snapshot, folder)
    await startOften(folder, 1)
    await refused(await combine(foreign, folder), TWO_COPIES)
    await refused(await combine(snapshot, folder), OLDER_MAIL)
  })

  it('loses nothing when a clock was accepted while the appliance was stopped', async () => {
    const folder = await copyFolder(base, 'accepted')
    const appliance = await startAppliance({ dataDir: folder, clock })
    const snapshot = await copyFolder(folder, 'accepted-snapshot')
    await receive(appliance, { to: 'ben@in.test', subject: 'Second' })
    await appliance.close()
    await putDatabase('mail.db', snapshot, folder)
    clock.leap(DAY_MS)
    const db = new Db({ file: join(folder, 'mail.db') })
    await db.write((tx) => tx.run('UPDATE appliance SET last_seen_at = ?', [clock.now()]))
    await db.close()
    assert.equal(await startOften(folder, 2), 2)
  })
})

async function uidValidity(folder: string): Promise<number> {
  const db = new Db({ file: join(folder, 'mail.db') })
  const row = db.read.get<{ uidValidity: number }>('SELECT max(uid_validity) AS uidValidity FROM folders')
  await db.close()
  return row!.uidValidity
}

/** Takes the databases back to the versions that wrote heartbeats without tokens. @param ahead beats that one of them is ahead */
async function withoutTokens(folder: string, ahead = 0): Promise<void> {
  const mail = new Db({ file: join(folder, 'mail.db') })
  await takeBack(mail, mailMigrations, 20, {
    tables: { noticed_facts: 'told_facts' },
    columns: {
      'appliance.generation': 'beat',
      'events.dispatched': 'told',
      'deliveries.delay_reported_at': 'delay_told_at',
    },
  })
  await mail.close()
  const blobs = new Db({ file: join(folder, 'blobs.db') })
  await takeBack(blobs, blobMigrations, 3, { columns: { 'content_owner.generation': 'beat' } })
  await blobs.write((tx) => tx.run('UPDATE content_owner SET beat = beat + ?', [ahead]))
  await blobs.close()
}

describe('a data folder of a version without tokens', () => {
  it('opens, also after a crash between the two writes, and gains tokens with the first heartbeat', async () => {
    for (const ahead of [0, 1]) {
      const folder = await copyFolder(base, `plain-${ahead}`)
      await withoutTokens(folder, ahead)
      const appliance = await startAppliance({ dataDir: folder, clock })
      const [mail, owner] = [readAppliance(appliance.app.db.read), readOwner(appliance.app.blobsDb.read)]
      assert.match(mail!.token!, /^[a-z0-9]{24}$/)
      assert.deepEqual([mail!.token, mail!.generation], [owner!.token, owner!.generation])
      await appliance.close()
      const copy = await copyFolder(folder, `plain-copy-${ahead}`)
      for (const one of [folder, copy]) await use(one, 'Second')
      await refused(await combine(folder, copy), TWO_COPIES)
    }
  })

  it('is refused when one of its databases is beside one with tokens, or further apart', async () => {
    const folder = await copyFolder(base, 'former')
    await withoutTokens(folder)
    const upgraded = await copyFolder(folder, 'upgraded')
    await use(upgraded, 'Second')
    await refused(await combine(folder, upgraded), OLDER_MAIL)
    await refused(await combine(upgraded, folder), OLDER_BLOBS)
    const apart = await copyFolder(base, 'apart')
    await withoutTokens(apart, 2)
    await refused(apart, OLDER_MAIL)
  })

  it('is backed up by this version, and restored', async () => {
    const folder = await copyFolder(base, 'former-backup')
    await withoutTokens(folder)
    const file = at('former.tar.zst')
    await new Commands({ DATA_DIR: folder }).json('backup', file)
    await new Commands({ DATA_DIR: at('former-restored') }).json('restore', file)
    await using appliance = await startAppliance({ dataDir: at('former-restored'), clock })
    assert.deepEqual(await subjects(appliance), ['First'])
  })
})
