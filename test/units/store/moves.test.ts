// Copying, moving and expunging by UID: what is announced to mail programs is what the folders hold.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Tx } from '../../../src/db/db.ts'
import type { FolderView } from '../../../src/store/entries/folders-views.ts'
import { ENTRY_FLAGS } from '../../../src/store/entries/keywords.ts'
import type { UidRange } from '../../../src/store/rows/folders-expunged.ts'
import { EntryWatcher } from '../../support/entry-watcher.ts'
import { COPYING, mailOf, openTestStore, TestMailbox, type TestStore } from '../../support/mailbox.ts'
import { ModelMailbox } from '../../support/model-mailbox.ts'
import { Random } from '../../support/random.ts'
import { watchedTx } from '../../support/watched-tx.ts'

let appliance: TestStore
before(async () => {
  appliance = await openTestStore()
})
after(() => appliance[Symbol.asyncDispose]())

const entriesOf = (folder: number) =>
  appliance.store.programs.views.entries(folder, [{ first: 1, last: 2 ** 32 - 1 }], 10_000)
const byRole = (box: ModelMailbox, role: string) =>
  appliance.store.programs.views.statuses(box.account()).find((status) => status.role === role)!

async function filled(
  seed: number,
  rounds: number,
): Promise<{ box: ModelMailbox; random: Random; watcher: EntryWatcher }> {
  const random = new Random(seed)
  const box = await ModelMailbox.open(appliance, random)
  const watcher = new EntryWatcher(appliance, () => box.account())
  watcher.look()
  for (let round = 0; round < rounds; round++) await box.work()
  watcher.look()
  return { box, random, watcher }
}

test('after random copies, moves and expunges the answers name what is there and what is gone', async () => {
  const { box, random, watcher } = await filled(11, 60)
  const { moves, copies, views, flags } = appliance.store.programs
  for (let round = 0; round < 80; round++) {
    await box.work()
    const folders = views.statuses(box.account())
    const [from, to] = [random.pick(folders), random.pick(folders)]
    const before = new Map(entriesOf(from.n).map((entry) => [entry.uid, entry]))
    const there = new Set(entriesOf(to.n).map(({ message }) => message))
    const uids = random.some([...before.keys()], 0.4)
    const transfer = { from: from.n, to: to.n, uids }
    const kind = random.below(3)
    if (kind === 0) {
      const copied = await copies.copy(box.account(), transfer, COPYING)
      assert.deepEqual(
        copied.map(({ uid }) => uid),
        [...uids].sort((a, b) => a - b),
      )
      const after = new Map(entriesOf(to.n).map((entry) => [entry.uid, entry]))
      for (const { uid, newUid } of copied) {
        const { message, flags, sizeBytes, receivedAt } = before.get(uid)!
        const copy = after.get(newUid)!
        // A message that the folder has already is there a second time.
        assert.equal(copy.message === message, !there.has(message))
        // Junk changes the keywords.
        const own = ENTRY_FLAGS.deleted | ENTRY_FLAGS.labelled
        assert.deepEqual([copy.flags & ~own, copy.sizeBytes, copy.receivedAt], [flags & ~own, sizeBytes, receivedAt])
      }
    } else if (kind === 1) {
      const moved = await moves.move(box.account(), transfer)
      assert.deepEqual(
        moved.map(({ uid }) => uid),
        uids,
      )
      const after = new Map(entriesOf(to.n).map((entry) => [entry.uid, entry]))
      for (const { uid, newUid } of moved) {
        assert.ok(newUid >= to.uidNext)
        assert.equal(after.get(newUid)!.message, before.get(uid)!.message)
        assert.equal((after.get(newUid)!.flags ^ before.get(uid)!.flags) & ENTRY_FLAGS.deleted, 0)
      }
      const left = new Set(entriesOf(from.n).map(({ uid }) => uid))
      for (const uid of uids) assert.ok(!left.has(uid))
    } else {
      await flags.change(box.account(), { folder: from.n, uids }, { deleted: true })
      const some = random.chance(0.5) ? random.some(uids, 0.5) : null
      const marked = entriesOf(from.n).filter((entry) => entry.flags & ENTRY_FLAGS.deleted)
      const expected = marked.map(({ uid }) => uid).filter((uid) => some === null || some.includes(uid))
      const gone = await moves.expunge(box.account(), from.n, some)
      assert.deepEqual(gone, { uids: expected, modSeq: views.status(box.account(), from.n)!.modSeq })
      assert.deepEqual(
        entriesOf(from.n).map(({ uid }) => uid),
        [...before.keys()].filter((uid) => !expected.includes(uid)),
      )
    }
    watcher.look()
  }
  await box.recount()
})

test('Junk marks what comes into it and clears what leaves it', async () => {
  const { box, watcher } = await filled(12, 0)
  while (byRole(box, 'inbox').messages < 2) await box.work()
  const { moves, mail } = appliance.store.programs
  const [inbox, junk] = [byRole(box, 'inbox'), byRole(box, 'junk')]
  const [entry] = entriesOf(inbox.n)
  const labels = () =>
    mail
      .rows([entry!.message])
      .get(entry!.message)!
      .labels.filter((label) => label.includes('junk'))
  const [moved] = await moves.move(box.account(), { from: inbox.n, to: junk.n, uids: [entry!.uid] })
  assert.deepEqual(labels(), ['$junk'])
  await moves.move(box.account(), { from: junk.n, to: inbox.n, uids: [moved!.newUid] })
  assert.deepEqual(labels(), ['$notjunk'])
  watcher.look()
})

test('a message that is moved to where it is already gets a new UID there, without the mark of the old one', async () => {
  const { box, watcher } = await filled(18, 0)
  while (byRole(box, 'inbox').messages < 1) await box.work()
  const { moves, copies, flags } = appliance.store.programs
  const [inbox, archive] = [byRole(box, 'inbox').n, byRole(box, 'archive').n]
  const [entry] = entriesOf(inbox)
  const [copy] = await copies.copy(box.account(), { from: inbox, to: archive, uids: [entry!.uid] }, COPYING)
  await flags.change(box.account(), { folder: archive, uids: [copy!.newUid] }, { deleted: true })
  watcher.look()
  const [moved] = await moves.move(box.account(), { from: inbox, to: archive, uids: [entry!.uid] })
  watcher.look()
  const there = entriesOf(archive).filter(({ message }) => message === entry!.message)
  assert.deepEqual(
    there.map(({ uid }) => uid),
    [moved!.newUid],
  )
  assert.ok(moved!.newUid > copy!.newUid && !(there[0]!.flags & ENTRY_FLAGS.deleted))
  assert.ok(!entriesOf(inbox).some(({ message }) => message === entry!.message))
})

test('a copy changes nothing that mail programs see of the folder it is made from', async () => {
  const { box, watcher } = await filled(19, 0)
  while (byRole(box, 'inbox').messages < 3) await box.work()
  const { copies } = appliance.store.programs
  const [before, archive] = [byRole(box, 'inbox'), byRole(box, 'archive')]
  const entries = entriesOf(before.n)
  const there = new Set(entriesOf(archive.n).map(({ message }) => message))
  const uids = entries.filter(({ message }) => !there.has(message)).map(({ uid }) => uid)
  const copied = await copies.copy(box.account(), { from: before.n, to: archive.n, uids }, COPYING)
  assert.ok(copied.length > 0)
  assert.deepEqual(entriesOf(before.n), entries)
  assert.equal(byRole(box, 'inbox').modSeq, before.modSeq)
  assert.ok(byRole(box, 'archive').modSeq > archive.modSeq)
  watcher.look()
  await box.recount()
})

test('more messages of a batch take no more statements, and copies of a large thread do not read it', async () => {
  const box = await TestMailbox.open(appliance)
  const { account } = box
  const put = { mail: mailOf(), receivedAt: 1000, folders: ['inbox' as const] }
  await box.putAll(Array.from({ length: 90 }, (_, n) => ({ ...put, thread: `t${n % 3}` })))
  const { moves } = appliance.store.programs
  const [from, to] = [box.folder('inbox').n, box.folder('archive').n]
  const statementsOf = (work: (tx: Tx) => void) => {
    const statements: string[] = []
    return appliance.db.write((tx) => work(watchedTx(tx, (_, sql) => statements.push(sql)))).then(() => statements)
  }
  const uids = entriesOf(from).map(({ uid }) => uid)
  const some = (first: number, count: number) => uids.slice(first, first + count)
  const one = await statementsOf((tx) => moves.copyIn(tx, account, { from, to, uids: some(0, 1) }))
  const many = await statementsOf((tx) => moves.copyIn(tx, account, { from, to, uids: some(1, 50) }))
  // The ledger takes pieces of 32 rows.
  assert.ok(many.length <= one.length + 4, `${one.length} and ${many.length} statements`)
  assert.ok(!many.some((sql) => sql.includes('addresses')))
  const moved = await statementsOf((tx) => moves.moveIn(tx, account, { from, to, uids: some(51, 39) }))
  assert.ok(moved.length <= one.length + 8, `${moved.length} statements`)
})

test('messages of one thread are erased in the same unit of work, whatever their order in the folder', async () => {
  const box = await TestMailbox.open(appliance)
  const { account } = box
  const put = { mail: mailOf(), receivedAt: 1000, folders: ['trash' as const] }
  await box.putAll(Array.from({ length: 250 }, (_, n) => ({ ...put, thread: `t${n % 50}` })))
  const trash = box.folder('trash').n
  const { moves, flags, views } = appliance.store.programs
  const uids = entriesOf(trash).map(({ uid }) => uid)
  await flags.change(account, { folder: trash, uids }, { deleted: true })
  const order = await views.deletedUids(trash, null)
  const runs = order.filter((uid, at) => at === 0 || uid % 50 !== order[at - 1]! % 50).length
  assert.deepEqual([order.length, runs], [250, 50])
  assert.deepEqual((await views.deletedUids(trash, uids.slice(0, 3))).sort(), uids.slice(0, 3).sort())
  assert.deepEqual((await moves.expunge(account, trash, null)).uids, uids)
  assert.deepEqual(entriesOf(trash), [])
})

test('the same bytes are kept again when asked, with the UID they have', async () => {
  const { box } = await filled(14, 0)
  const {
    edit: { imports },
    programs: { views },
  } = appliance.store
  const none = 'none' as const
  const imported = {
    ...{ parsed: mailOf(), hash: Buffer.alloc(32, 9), sizeBytes: 10, keywords: ['$seen', 'work'], receivedAt: 5 },
    authentication: { spf: none, dkim: none, dmarc: none, arc: none, fromAligned: false, reasons: [] },
    spam: { score: 0, isSpam: false, reasons: [] },
    envelope: { mailFrom: '', rcptTo: '' },
    folderIds: [byRole(box, 'archive').id],
  }
  const take = (again: boolean) =>
    appliance.db.write((tx) =>
      imports.import(tx, { account: box.account(), ownAddresses: [], quotaBytes: 25 }, { ...imported, again }),
    )
  const archive = byRole(box, 'archive').n
  const first = await take(false)
  assert.deepEqual(first.outcome === 'new' && first.entries, [{ folder: archive, uid: 1 }])
  assert.equal((await take(false)).outcome, 'exists')
  const second = await take(true)
  assert.deepEqual(second.outcome === 'new' && second.entries, [{ folder: archive, uid: 2 }])
  assert.equal((await take(true)).outcome, 'full')
  assert.deepEqual([views.status(box.account(), archive)!.messages, box.account().usedBytes], [2, 20])
})

test('pages of entries, views and changes agree with the folder', async () => {
  const { box, random } = await filled(15, 120)
  const { views } = appliance.store.programs
  for (const status of views.statuses(box.account())) {
    const all = entriesOf(status.n)
    const view = (await views.view(status.n))!
    assert.deepEqual([view.size, view.uidNext, view.modSeq], [all.length, status.uidNext, status.modSeq])
    const uids = [...view.firsts].flatMap((first, i) => {
      const size = (view.counts[i + 1] ?? view.size) - view.counts[i]!
      return Array.from({ length: size }, (_, at) => first + at)
    })
    assert.deepEqual(
      uids,
      all.map(({ uid }) => uid),
    )
    const unseen = all.find(({ flags }) => !(flags & ENTRY_FLAGS.seen))
    assert.equal(await views.firstUnseen(status.n), unseen?.uid ?? null)
    // Ranges with gaps, page by page.
    const ranges = [
      { first: 1, last: 3 },
      { first: 5, last: 5 },
      { first: 8, last: status.uidNext },
    ]
    const wanted = all.filter(({ uid }) => ranges.some(({ first, last }) => first <= uid && uid <= last))
    const paged: typeof all = []
    for (let left = ranges; ; left = rangesAfter(left, paged.at(-1)!.uid)) {
      const page = views.entries(status.n, left, 4)
      paged.push(...page)
      if (page.length < 4) break
    }
    assert.deepEqual(paged, wanted)
    const since = random.below(status.modSeq)
    const changed = all.filter(({ modSeq }) => modSeq > since)
    const found: typeof all = []
    for (let after = 0; ; after = found.at(-1)!.uid) {
      const page = await views.changedSince(box.account(), status.n, since, { after, limit: 3 })
      found.push(...page)
      if (page.length < 3) break
    }
    assert.deepEqual(found, changed)
  }
  assert.equal(await views.view(999_999), undefined)
})

test('a view is brought up to date by what left since, and the UIDs from its end on', async () => {
  const { box } = await filled(17, 80)
  const { views, moves } = appliance.store.programs
  const uidsOf = ({ firsts, counts, size }: FolderView) =>
    [...firsts].flatMap((first, i) =>
      Array.from({ length: (counts[i + 1] ?? size) - counts[i]! }, (_, at) => first + at),
    )
  for (let round = 0; round < 20; round++) {
    const [inbox, archive] = [byRole(box, 'inbox').n, byRole(box, 'archive').n]
    const before = (await views.view(inbox))!
    await box.work()
    await moves.move(box.account(), { from: inbox, to: archive, uids: uidsOf(before).slice(0, 2) })
    await moves.move(box.account(), { from: archive, to: inbox, uids: entriesOf(archive).map(({ uid }) => uid) })
    const gone = views.expungedSince(inbox, before.modSeq)!
    const isGone = (uid: number) => gone.some(({ first, last }) => first <= uid && uid <= last)
    const tail = (await views.view(inbox, before.uidNext))!
    const expected = (await views.view(inbox))!
    assert.deepEqual([...uidsOf(before).filter((uid) => !isGone(uid)), ...uidsOf(tail)], uidsOf(expected))
    assert.deepEqual([tail.seq, tail.modSeq, tail.uidNext], [expected.seq, expected.modSeq, expected.uidNext])
  }
})

test('recent entries are taken once', async () => {
  const { box } = await filled(16, 0)
  while (byRole(box, 'inbox').messages < 1) await box.work()
  const { views } = appliance.store.programs
  const inbox = byRole(box, 'inbox')
  const take = () => appliance.db.write((tx) => views.takeRecent(tx, inbox.n))
  assert.deepEqual([inbox.recentFrom, await take(), await take()], [1, 1, inbox.uidNext])
})

/** The parts of the ranges above a UID. */
function rangesAfter(ranges: readonly UidRange[], uid: number): UidRange[] {
  return ranges.flatMap(({ first, last }) => (last <= uid ? [] : [{ first: Math.max(first, uid + 1), last }]))
}
