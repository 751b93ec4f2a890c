// COPY by UID is all or nothing: also when it fails, when it is ended, and when the process ends before it does.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sha256 } from '../../../src/base/secrets.ts'
import { MailboxFull } from '../../../src/store/messages/second-copies.ts'
import type { Account } from '../../../src/store/rows/records.ts'
import { COPYING, mailOf, openTestStore, TestMailbox, type TestStore } from '../../support/mailbox.ts'

let appliance: TestStore
before(async () => {
  appliance = await openTestStore()
})
after(() => appliance[Symbol.asyncDispose]())

const MESSAGES = 120

const entriesOf = (folder: number) =>
  appliance.store.programs.views.entries(folder, [{ first: 1, last: 2 ** 32 - 1 }], 10_000)
const status = (account: Account, role: string) =>
  appliance.store.programs.views.statuses(account).find((folder) => folder.role === role)!

/** A mailbox with more messages than one unit of work copies. */
async function filled(): Promise<{ account: Account; inbox: number; archive: number; uids: number[] }> {
  const { account } = await TestMailbox.open(appliance)
  const { imports } = appliance.store.edit
  const none = 'none' as const
  const imported = (n: number) => ({
    ...{ parsed: mailOf(), hash: sha256(`${account.n} ${n}`), sizeBytes: 10, folderIds: null, keywords: [] },
    receivedAt: n * 1000,
    authentication: { spf: none, dkim: none, dmarc: none, arc: none, fromAligned: false, reasons: [] },
    spam: { score: 0, isSpam: false, reasons: [] },
    envelope: { mailFrom: '', rcptTo: '' },
  })
  await appliance.db.write((tx) => {
    for (let n = 1; n <= MESSAGES; n++) imports.import(tx, { account, ownAddresses: [], quotaBytes: 1e9 }, imported(n))
  })
  const [inbox, archive] = [status(account, 'inbox').n, status(account, 'archive').n]
  return { account, inbox, archive, uids: entriesOf(inbox).map(({ uid }) => uid) }
}

/** Makes the unit of work with this number fail, counted from 1. */
function failingAt(number: number) {
  const { db } = appliance
  const write = db.write.bind(db)
  let units = 0
  return (...given: Parameters<typeof write>) => {
    if (++units === number) return Promise.reject(new Error('The disk is full.'))
    return write(...given)
  }
}

const unfinished = () => appliance.db.read.all('SELECT * FROM unfinished_copies').length

test('a copy that fails in a later unit of work leaves nothing in the folder', async (t) => {
  const { account, inbox, archive, uids } = await filled()
  const { copies } = appliance.store.programs
  t.mock.method(appliance.db, 'write', failingAt(2) as never)
  await assert.rejects(copies.copy(account, { from: inbox, to: archive, uids }, COPYING), /disk/)
  assert.deepEqual([status(account, 'archive').messages, status(account, 'archive').uidNext], [0, 101])
  assert.deepEqual([status(account, 'inbox').messages, unfinished()], [MESSAGES, 0])
  await assert.rejects(copies.copy(account, { from: inbox, to: 999_999, uids }, COPYING), { code: 'not_found' })
})

test('a copy into the folder itself that fails leaves no second message', async (t) => {
  const { account, inbox, uids } = await filled()
  t.mock.method(appliance.db, 'write', failingAt(4) as never)
  await assert.rejects(appliance.store.programs.copies.copy(account, { from: inbox, to: inbox, uids }, COPYING), /disk/)
  assert.deepEqual(
    entriesOf(inbox).map(({ uid }) => uid),
    uids,
  )
  assert.equal(unfinished(), 0)
})

test('a copy into the folder itself doubles every message under new UIDs, in their order and threads', async () => {
  const { account, inbox, uids } = await filled()
  const before = entriesOf(inbox)
  const progress: number[] = []
  const options = { ...COPYING, onProgress: (copied: number) => progress.push(copied) }
  const pairs = await appliance.store.programs.copies.copy(account, { from: inbox, to: inbox, uids }, options)
  assert.deepEqual(
    pairs.map(({ uid }) => uid),
    uids,
  )
  const copied = entriesOf(inbox).filter(({ uid }) => uid > uids.at(-1)!)
  assert.deepEqual(
    copied.map(({ uid, receivedAt, sizeBytes, flags }) => ({ uid, receivedAt, sizeBytes, flags })),
    before.map(({ receivedAt, sizeBytes, flags }, at) => ({ uid: pairs[at]!.newUid, receivedAt, sizeBytes, flags })),
  )
  const threadsOf = (messages: { message: number }[]) => {
    const rows = appliance.store.programs.mail.rows(messages.map(({ message }) => message))
    return messages.map(({ message }) => rows.get(message)!.threadId)
  }
  assert.deepEqual(threadsOf(copied), threadsOf(before))
  assert.deepEqual([progress.at(-1), unfinished()], [MESSAGES, 0])
})

test('what a copy adds is known to the next start until the copy has ended, and is taken back there', async (t) => {
  const { account, inbox, archive, uids } = await filled()
  const { copies, moves } = appliance.store.programs
  // The process ends behind the second unit of work: neither the rest nor the taking back is written.
  const { db } = appliance
  const write = db.write.bind(db)
  for (const to of [archive, inbox]) {
    let units = 0
    const crash = t.mock.method(db, 'write', ((...given: Parameters<typeof write>) =>
      ++units > (to === archive ? 1 : 4)
        ? Promise.reject(new Error('The process has ended.'))
        : write(...given)) as never)
    const noTakingBack = t.mock.method(db, 'writeFreeing', () => Promise.reject(new Error('The process has ended.')))
    await assert.rejects(copies.copy(account, { from: inbox, to, uids }, COPYING), /ended/)
    crash.mock.restore()
    noTakingBack.mock.restore()
    assert.ok(entriesOf(to).length > (to === inbox ? MESSAGES : 0))
  }
  // One of the copies is the only one of its message by now: taking it back would lose the message.
  const [kept] = entriesOf(inbox)
  await appliance.store.programs.flags.change(account, { folder: inbox, uids: [kept!.uid] }, { deleted: true })
  await moves.expunge(account, inbox, [kept!.uid])
  await copies.takeBackUnfinished()
  assert.deepEqual(
    entriesOf(inbox).map(({ uid }) => uid),
    uids.slice(1),
  )
  assert.deepEqual(
    entriesOf(archive).map(({ message }) => message),
    [kept!.message],
  )
  assert.equal(unfinished(), 0)
})

test('a copy and a move end with their signal between two units of work', async () => {
  const { account, inbox, archive, uids } = await filled()
  const { copies, moves } = appliance.store.programs
  const ending = new AbortController()
  const onProgress = () => ending.abort(new Error('The session has ended.'))
  const options = { ...COPYING, signal: ending.signal, onProgress }
  await assert.rejects(copies.copy(account, { from: inbox, to: inbox, uids }, options), /session/)
  assert.deepEqual([entriesOf(inbox).length, unfinished()], [MESSAGES, 0])
  const { signal } = ending
  await assert.rejects(moves.move(account, { from: inbox, to: archive, uids }, { signal }), /session/)
  await appliance.store.programs.flags.change(account, { folder: inbox, uids }, { deleted: true })
  await assert.rejects(moves.expunge(account, inbox, null, signal), /session/)
  assert.deepEqual([entriesOf(inbox).length, entriesOf(archive).length], [MESSAGES, 0])
})

test('a copy that does not fit the quota fails as a whole', async () => {
  const { account, inbox, uids } = await filled()
  const used = appliance.store.accounts.byMailbox(account.mailboxId)!.usedBytes
  const options = { ...COPYING, quotaBytes: () => used + used / 2 }
  await assert.rejects(
    appliance.store.programs.copies.copy(account, { from: inbox, to: inbox, uids }, options),
    MailboxFull,
  )
  assert.deepEqual([entriesOf(inbox).length, unfinished()], [MESSAGES, 0])
})

test('a copy that ends with the appliance is left to be taken back at the next start', async () => {
  const { account, inbox, uids } = await filled()
  const { copies } = appliance.store.programs
  const ending = new AbortController()
  const onProgress = (copied: number) => {
    if (copied === 0) return
    copies.close()
    ending.abort(new Error('The server is shutting down.'))
  }
  await assert.rejects(
    copies.copy(account, { from: inbox, to: inbox, uids }, { ...COPYING, signal: ending.signal, onProgress }),
    /shutting/,
  )
  assert.ok(entriesOf(inbox).length > MESSAGES && unfinished() > 0)
})
