// A power cut loses what was committed and not flushed: mail programs that have seen it learn that it is gone, and no number is given twice.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { cp, mkdtemp, readFile, rm, stat, truncate } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { mock, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { ENTRY_FLAGS } from '../../src/store/entries/keywords.ts'
import { receive } from '../api/expect.ts'
import { startAppliance, type TestAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { logInImap } from '../support/imap.ts'

/** A mail program with the Inbox open: all that was announced to it. */
function inboxOf({ app: { store } }: TestAppliance, mailboxId: string) {
  const account = store.accounts.byMailbox(mailboxId)!
  const status = store.programs.views.statuses(account).find(({ role }) => role === 'inbox')!
  const entries = store.programs.views.entries(status.n, [{ first: 1, last: 2 ** 32 - 1 }], 100)
  return { account, status, entries: new Map(entries.map((entry) => [entry.uid, entry])) }
}

test('after a power cut lost UIDs are reported as gone, and UIDs, modification numbers and folders go on above them', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'mailstead-power-'))
  t.after(() => rm(root, { recursive: true }))
  const clock = new ManualClock()
  const [dataDir, copy] = [join(root, 'data'), join(root, 'copy')]
  await using appliance = await startAppliance({ dataDir, clock })
  const team = await appliance.team()
  await team.domain('in.test')
  const box = await team.mailbox('ben@in.test')
  for (const subject of ['First', 'Second', 'Third']) await receive(appliance, { to: box.email, subject })
  const flushed = inboxOf(appliance, box.id)
  // What a power cut leaves is what was flushed: the files as they are before the next commits.
  await cp(dataDir, copy, { recursive: true })

  const { store } = appliance.app
  await receive(appliance, { to: box.email, subject: 'Lost' })
  const { account, status } = inboxOf(appliance, box.id)
  await store.programs.flags.change(account, { folder: status.n, uids: [1] }, { keywords: { add: ['$flagged'] } })
  await store.programs.flags.change(account, { folder: status.n, uids: [2] }, { deleted: true })
  await store.programs.moves.expunge(account, status.n, null)
  const made = await store.edit.folders.create(account, { name: 'Lost', parentId: null })
  const lostFolder = store.programs.views.statuses(account).find(({ id }) => id === made)!
  const known = inboxOf(appliance, box.id)
  assert.deepEqual([...known.entries.keys()], [1, 3, 4])

  await using cut = await startAppliance({ dataDir: copy, clock })
  const now = inboxOf(cut, box.id)
  assert.deepEqual([...now.entries.keys()], [1, 2, 3])
  assert.equal(now.status.uidValidity, known.status.uidValidity)
  assert.ok(now.status.uidNext > known.status.uidNext && now.status.modSeq > known.status.modSeq)
  const { views } = cut.app.store.programs
  // With the number it received last, and with an older one: UID 4 is gone, and what is there is not.
  for (const since of [known.status.modSeq, flushed.status.modSeq]) {
    const gone = views.expungedSince(now.status.n, since)!
    const isGone = (uid: number) => gone.some(({ first, last }) => first <= uid && uid <= last)
    assert.deepEqual([1, 2, 3, 4, now.status.uidNext - 1, now.status.uidNext].map(isGone), [
      false,
      false,
      false,
      true,
      true,
      false,
    ])
  }
  await receive(cut, { to: box.email, subject: 'Fourth' })
  const later = inboxOf(cut, box.id)
  const fresh = [...later.entries.values()].at(-1)!
  assert.equal(fresh.uid, now.status.uidNext)
  assert.ok(fresh.modSeq > known.status.modSeq)
  const changed = await views.changedSince(later.account, later.status.n, known.status.modSeq, { after: 0, limit: 10 })
  assert.deepEqual(
    changed.map(({ uid }) => uid),
    [fresh.uid],
  )
  // The flag that was lost is set again under a number above all that were given.
  const again = await cut.app.store.programs.flags.change(
    later.account,
    { folder: later.status.n, uids: [1] },
    { keywords: { add: ['$flagged'] } },
  )
  // A folder of the same name is not the one that was lost.
  const id = await cut.app.store.edit.folders.create(later.account, { name: 'Lost', parentId: null })
  const folder = views.statuses(later.account).find((one) => one.id === id)!
  assert.ok(folder.uidValidity > lostFolder.uidValidity)
  assert.ok(again.modSeq! > known.status.modSeq && again.entries[0]!.flags & ENTRY_FLAGS.flagged)
})

type Flushed = (error: Error | null) => void

test('commits that are visible and not flushed are not sent to mail programs, and are gone when the log ends before or within them', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'mailstead-power-'))
  t.after(() => rm(root, { recursive: true }))
  const clock = new ManualClock()
  const dataDir = join(root, 'data')
  await using appliance = await startAppliance({ dataDir, clock })
  const team = await appliance.team()
  await team.domain('in.test')
  const box = await team.mailbox('ben@in.test')
  for (const subject of ['First', 'Second']) await receive(appliance, { to: box.email, subject })
  await using client = await logInImap(appliance, box)
  await client.run('SELECT INBOX (CONDSTORE)')
  const { store, db } = appliance.app
  await db.durable()
  const flushed = inboxOf(appliance, box.id)
  const [database, log] = [db.file, `${db.file}-wal`]
  const [pages, flushedBytes] = [await readFile(database), (await stat(log)).size]

  // From here on the disk flushes nothing.
  const held: Flushed[] = []
  const mocked = mock.method(fs, 'fdatasync', (_descriptor: number, done: Flushed) => held.push(done))
  syncBuiltinESMExports()
  const copies = [join(root, 'before'), join(root, 'within')]
  const { account, status } = flushed
  const ends: string[] = []
  let lost: ReturnType<typeof inboxOf>
  const changes = [
    store.programs.flags.change(account, { folder: status.n, uids: [1] }, { keywords: { add: ['$flagged'] } }),
    store.edit.folders.create(account, { name: 'Lost', parentId: null }),
  ].map((change) => change.then(() => ends.push('change')))
  try {
    while (inboxOf(appliance, box.id).status.modSeq === status.modSeq || held.length === 0) await turn()
    // In the same turn: another transaction may follow in the next one.
    const { size } = fs.statSync(log)
    lost = inboxOf(appliance, box.id)
    assert.ok(lost.entries.get(1)!.flags & ENTRY_FLAGS.flagged, 'visible')
    client.write('f UID FETCH 1 (FLAGS MODSEQ)\r\n')
    changes.push(client.response().then(() => ends.push('fetch')))
    for (let i = 0; i < 500; i++) await turn()
    assert.deepEqual(ends, [])
    assert.deepEqual(await readFile(database), pages, 'no checkpoint')
    assert.ok(size > flushedBytes)
    for (const copy of copies) await cp(dataDir, copy, { recursive: true })
    // Memory of the processes that share the log; a power cut leaves none of it.
    for (const copy of copies) await rm(join(copy, `${basename(database)}-shm`))
    await truncate(join(copies[0]!, basename(log)), flushedBytes)
    // The last page of the transaction is torn.
    await truncate(join(copies[1]!, basename(log)), size - 1000)
  } finally {
    mocked.mock.restore()
    syncBuiltinESMExports()
    for (const done of held) done(null)
  }
  await Promise.all(changes)

  for (const copy of copies) {
    await using cut = await startAppliance({ dataDir: copy, clock })
    const now = inboxOf(cut, box.id)
    assert.deepEqual(
      [...now.entries].map(([uid, { flags }]) => [uid, flags & ENTRY_FLAGS.flagged]),
      [
        [1, 0],
        [2, 0],
      ],
    )
    assert.ok(now.status.modSeq > lost.status.modSeq && now.status.uidNext > lost.status.uidNext)
  }
})
