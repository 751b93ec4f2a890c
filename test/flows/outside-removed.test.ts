// Messages that were removed at the server of an outside account: held for 30 days, listed, restored here and there, and forgotten.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import { removedMessages } from '../../src/jobs/retention.ts'
import { REMOVED_HELD_MS } from '../../src/store/messages/removed.ts'
import { data, failure } from '../api/expect.ts'
import type { Json } from '../support/appliance.ts'
import { type ModelMailbox, type ModelSetup, modelMessage, startModels } from '../support/outside-model.ts'
import { sweepContent } from '../support/stored.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

let models: ModelSetup
before(async () => {
  models = await startModels()
})
after(() => models[Symbol.asyncDispose]())

/** An account with messages in its folders, imported. */
async function filled(counts: Readonly<Record<string, number>>, more: object = {}): Promise<ModelMailbox> {
  const fill: Parameters<ModelSetup['attach']>[1] = (account) => {
    for (const [path, count] of Object.entries(counts)) {
      if (path !== 'INBOX') account.create(path, path === 'Trash' ? 'trash' : null)
      for (let n = 0; n < count; n++) account.add(path, modelMessage(), { receivedAt: n * 1000 })
    }
  }
  const mailbox = await models.attach({}, fill, more)
  await mailbox.settle(1)
  mailbox.assertEqual('after the import')
  return mailbox
}

function empty({ account }: ModelMailbox, path: string, count = Number.POSITIVE_INFINITY): void {
  for (const uid of [...account.folder(path).messages.keys()].slice(0, count)) account.remove(path, uid)
}

const keyOf = async ({ mailboxId }: ModelMailbox) => {
  const { keys } = models.appliance.app.directory
  const more = { kind: 'mailbox', mailboxId, name: 'test', createdBy: 'operator' } as const
  return (await keys.issue({ teamId: models.team.id, ...more })).secret
}
const listed = (mailbox: ModelMailbox) =>
  models.appliance.get(`/remote-accounts/${mailbox.id}/removed`, models.team.key)
const restore = async (mailbox: ModelMailbox, body?: object) =>
  data<Json>(
    await models.appliance.call('POST', `/remote-accounts/${mailbox.id}/removed/restore`, models.team.key, body),
  )
const runRetention = async () => {
  const { app } = models.appliance
  await removedMessages.run({ app, log: app.log, signal: new AbortController().signal })
  await sweepContent(models.appliance, models.clock)
}
const totalOf = async (mailbox: ModelMailbox): Promise<number> => (await listed(mailbox)).body.meta.total_messages

test('removed messages are listed, and restored with flags, times and folders, also in a folder that is gone', async () => {
  const mailbox = await filled({ INBOX: 3, Work: 2, Trash: 1 })
  const { account } = mailbox
  const [first] = account.folder('INBOX').messages.keys()
  account.setFlags('INBOX', first!, { add: ['\\Seen', '\\Flagged', 'blue'], remove: [] })
  await mailbox.settle(1)
  const [before, times] = [mailbox.there(), timesOf(mailbox)]
  empty(mailbox, 'INBOX')
  empty(mailbox, 'Trash')
  account.folders.delete('Work')
  await mailbox.settle(3)
  assert.deepEqual([mailbox.here(), mailbox.there()], [[], []])
  assert.ok(!mailbox.store.read.folders.paths(mailbox.mail).some(({ path }) => path === 'Work'))
  const { body } = await listed(mailbox)
  assert.deepEqual(body.data.map(({ folders }: Json) => folders[0]).sort(), [
    ...['Inbox', 'Inbox', 'Inbox', 'Trash', 'Work', 'Work'],
  ])
  assert.ok(body.data.every((row: Json) => !('subject' in row) && !('from' in row)))
  const bytes = body.data.reduce((sum: number, { size_bytes: size }: Json) => sum + size, 0)
  assert.deepEqual(body.meta, { ...body.meta, total_messages: 6, total_bytes: bytes })
  const restored = await restore(mailbox)
  assert.deepEqual([restored.restored.length, restored.remaining, restored.is_full], [6, 0, false])
  await mailbox.settle(3)
  mailbox.assertEqual('after they were restored')
  assert.deepEqual([mailbox.there(), timesOf(mailbox)], [before, times])
  assert.equal(await totalOf(mailbox), 0)
  const sql = "SELECT count(*) AS count FROM events WHERE mailbox_id = ? AND type = 'message.received'"
  assert.deepEqual(await models.appliance.app.db.scan.all(sql, [mailbox.mailboxId]), [{ count: 0 }])
})

function timesOf(mailbox: ModelMailbox): number[] {
  const { store, mail } = mailbox
  return [...store.programs.mail.placements(mail, mailbox.numbers()).values()]
    .map(({ receivedAt }) => receivedAt)
    .sort((a, b) => a - b)
}

test('a confirmed removal of everything, and a removal after a day, are held as well', async () => {
  const mailbox = await filled({ INBOX: 12, Work: 3 })
  empty(mailbox, 'INBOX')
  empty(mailbox, 'Work')
  await mailbox.settle(1)
  assert.deepEqual([mailbox.here().length, await totalOf(mailbox)], [15, 0])
  const confirm = `/remote-accounts/${mailbox.id}/confirm-removal`
  data(await models.appliance.call('POST', confirm, models.team.key))
  await mailbox.settle(2)
  assert.deepEqual([mailbox.here().length, await totalOf(mailbox)], [0, 15])
})

test('a key of the mailbox reads subjects and restores one message; others may not', async () => {
  const { appliance, team } = models
  const mailbox = await filled({ INBOX: 2, Work: 1 })
  const other = await filled({ INBOX: 1 })
  const [key, otherKey] = [await keyOf(mailbox), await keyOf(other)]
  empty(mailbox, 'INBOX', 2)
  await mailbox.settle(2)
  const path = '/mailbox/remote-account/removed'
  const rows = data<Json[]>(await appliance.get(path, key))
  assert.match(rows[0].subject, /^Number \d+$/)
  assert.equal(rows[0].from.email, 'a@example.com')
  const ids = [rows[0].id]
  const none = data<Json>(await appliance.call('POST', `${path}/restore`, otherKey, { ids }))
  assert.deepEqual([none.restored, none.remaining], [[], 0])
  failure(await appliance.call('POST', `${path}/restore`, team.key, { ids }), 403, 'insufficient_permissions')
  const { secret: reader } = await appliance.app.directory.keys.issue({
    ...{ teamId: team.id, kind: 'mailbox', mailboxId: mailbox.mailboxId, name: 'reads', createdBy: 'operator' },
    permissions: ['mailbox.read'],
  })
  failure(await appliance.call('POST', `${path}/restore`, reader, { ids }), 403, 'insufficient_permissions')
  const once = data<Json>(await appliance.call('POST', `${path}/restore`, key, { ids }))
  assert.equal(once.restored[0].removed_id, ids[0])
  const message = data<Json>(await appliance.get(`/mailbox/messages/${once.restored[0].message_id}`, key))
  assert.equal(message.subject, rows[0].subject)
  const twice = data<Json>(await appliance.call('POST', `${path}/restore`, key, { ids }))
  assert.deepEqual(twice.restored, [])
  await mailbox.settle(2)
  mailbox.assertEqual('after one was restored')
  assert.deepEqual([mailbox.here().length, await totalOf(mailbox)], [2, 1])
})

test('the content of a removed message outlives sweeps for 30 days, and is deleted then', async () => {
  const mailbox = await filled({ INBOX: 2, Work: 1 })
  const { appliance, clock } = models
  const [message] = mailbox.account.folder('Work').messages.values()
  const hash = createHash('sha256').update(message!.bytes).digest()
  empty(mailbox, 'Work')
  await mailbox.settle(1)
  clock.leap(REMOVED_HELD_MS - DAY)
  await runRetention()
  assert.ok(appliance.app.store.blobs.size(hash) !== undefined)
  assert.equal(await totalOf(mailbox), 1)
  clock.leap(2 * DAY)
  await runRetention()
  assert.equal(await totalOf(mailbox), 0)
  assert.equal(appliance.app.store.blobs.size(hash), undefined)
})

test('a crash while a message is erased or restored neither loses it nor stores it twice', async () => {
  const mailbox = await filled({ INBOX: 1, Work: 1 })
  const { messages: edits, removed } = mailbox.store.edit
  // A unit of work that does not end is what a crash leaves: nothing of it.
  const crashing = (part: object, method: string) => {
    const value = () => {
      throw new Error('The process was killed.')
    }
    Object.defineProperty(part, method, { configurable: true, value })
    return { [Symbol.dispose]: () => void Reflect.deleteProperty(part, method) }
  }
  empty(mailbox, 'Work')
  {
    using _ = crashing(edits, 'deleteIn')
    await mailbox.settle(2)
    assert.deepEqual([mailbox.here().length, await totalOf(mailbox)], [2, 0])
  }
  await mailbox.settle(3)
  assert.deepEqual([mailbox.here().length, await totalOf(mailbox)], [1, 1])
  {
    using _ = crashing(removed, 'forgetIn')
    const path = `/remote-accounts/${mailbox.id}/removed/restore`
    assert.equal((await models.appliance.call('POST', path, models.team.key)).status, 500)
    assert.deepEqual([mailbox.here().length, await totalOf(mailbox)], [1, 1])
  }
  assert.equal((await restore(mailbox)).restored.length, 1)
  await mailbox.settle(2)
  assert.deepEqual([mailbox.here().length, await totalOf(mailbox)], [2, 0])
  mailbox.assertEqual('after both')
})

test('what a mailbox holds is bounded by its quota: Trash is forgotten first, then what was removed first', async () => {
  const { appliance, clock } = models
  const large = () => modelMessage('x'.repeat(3_200_000))
  const mailbox = await models.attach(
    {},
    (account) => {
      account.create('Trash', 'trash')
      for (const path of ['INBOX', 'INBOX', 'Trash']) account.add(path, large(), { receivedAt: clock.now() })
    },
    { quota_bytes: 10_485_760 },
  )
  await mailbox.settle(1)
  const subjectOf = (path: string, at: number) =>
    /Subject: (.*)\r/.exec([...mailbox.account.folder(path).messages.values()][at]!.bytes.toString('latin1'))![1]!
  const [first, second] = [subjectOf('INBOX', 0), subjectOf('INBOX', 1)]
  const held = () =>
    mailbox.store.edit.removed.list(mailbox.mail, { limit: 9, after: null }).items.map((one) => one.subject)
  empty(mailbox, 'INBOX', 1)
  await mailbox.settle(1)
  empty(mailbox, 'INBOX')
  empty(mailbox, 'Trash')
  await mailbox.settle(1)
  assert.equal(held().length, 3)
  for (let n = 0; n < 2; n++) mailbox.account.add('INBOX', large(), { receivedAt: clock.now() })
  await mailbox.settle(1)
  const [third, fourth] = [subjectOf('INBOX', 0), subjectOf('INBOX', 1)]
  empty(mailbox, 'INBOX', 1)
  await mailbox.settle(1)
  assert.deepEqual(held(), [third, second, first], 'without Trash')
  const full = await appliance.call('POST', `/remote-accounts/${mailbox.id}/removed/restore`, models.team.key)
  const { restored, remaining, is_full: isFull } = data<Json>(full)
  assert.deepEqual([restored.length, remaining, isFull], [2, 1, true])
  failure(
    await appliance.call('POST', `/remote-accounts/${mailbox.id}/removed/restore`, models.team.key),
    ...([409, 'conflict'] as const),
  )
  await mailbox.settle(2)
  mailbox.assertEqual('as much as fits')
  empty(mailbox, 'INBOX')
  await mailbox.settle(1)
  assert.equal(held().length, 3)
  assert.ok(!held().includes(first) && held().includes(fourth), 'without what was removed first')
})

test('a damaged message is named and does not keep the others back; a message that came back is not stored twice', async () => {
  const { appliance } = models
  const mailbox = await filled({ INBOX: 1, Work: 3 })
  const [back, damaged] = mailbox.account.folder('Work').messages.values()
  empty(mailbox, 'Work')
  await mailbox.settle(1)
  mailbox.account.add('Work', back!.bytes, { receivedAt: back!.receivedAt })
  await mailbox.settle(1)
  const hash = createHash('sha256').update(damaged!.bytes).digest()
  await appliance.app.blobsDb.write((tx) => tx.run('DELETE FROM chunks WHERE hash = ?', [hash]))
  const { restored, not_restored: failed, remaining } = await restore(mailbox)
  assert.equal(restored.length, 2)
  assert.equal(restored.filter(({ message_id: id }: Json) => id === null).length, 1)
  assert.deepEqual([failed.length, failed[0].code, remaining], [1, 'damaged', 0])
  await mailbox.settle(2)
  mailbox.assertEqual('after the restore')
  assert.equal(mailbox.account.folder('Work').messages.size, 2)
})
