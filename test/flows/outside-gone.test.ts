// Messages that are gone at the server of an outside account: which removals are followed at once, which wait, and how messages are rescued.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Json } from '../support/appliance.ts'
import type { ModelAccount } from '../support/model-account.ts'
import { type ModelMailbox, type ModelSetup, modelMessage, startModels } from '../support/outside-model.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

let models: ModelSetup
before(async () => {
  models = await startModels()
})
after(() => models[Symbol.asyncDispose]())

const act = (mailbox: ModelMailbox, action: string, body?: object) =>
  models.appliance.call('POST', `/remote-accounts/${mailbox.id}/${action}`, models.team.key, body)

const held = async (mailbox: ModelMailbox) =>
  (await mailbox.record()).held_removals.map(({ at, messages }: Json) => [at, messages])

/** An account with messages in its folders, imported. */
async function filled(counts: Readonly<Record<string, number>>): Promise<ModelMailbox> {
  const mailbox = await models.attach({}, (account) => {
    for (const [path, count] of Object.entries(counts)) {
      if (path !== 'INBOX') account.create(path, path === 'Trash' ? 'trash' : null)
      for (let n = 0; n < count; n++) account.add(path, modelMessage(), { receivedAt: n * 1000 })
    }
  })
  await mailbox.settle(1)
  mailbox.assertEqual('after the import')
  return mailbox
}

function empty(account: ModelAccount, path: string, count = Number.POSITIVE_INFINITY): void {
  for (const uid of [...account.folder(path).messages.keys()].slice(0, count)) account.remove(path, uid)
}

const folderOf = ({ store, mail }: ModelMailbox, path: string) =>
  path === 'INBOX'
    ? store.read.folders.byRole(mail.n, 'inbox')
    : store.read.folders.paths(mail).find((one) => one.path === path)!

/** Messages here that are in a folder. */
function messagesIn(mailbox: ModelMailbox, path: string) {
  const { n } = folderOf(mailbox, path)
  const placed = mailbox.store.programs.mail.placements(mailbox.mail, mailbox.numbers()).values()
  return [...placed].filter(({ entries }) => entries.some(({ folder }) => folder === n))
}

test('many folders that are emptied at once are one removal, and are kept', async () => {
  const paths = Array.from({ length: 31 }, (_, n) => `F${n}`)
  const mailbox = await filled(Object.fromEntries([['INBOX', 5], ...paths.map((path) => [path, 20])]))
  for (const path of paths) empty(mailbox.account, path)
  await mailbox.settle(2)
  assert.equal(mailbox.here().length, 625)
  assert.deepEqual(await held(mailbox), [['here', 620]])
  models.clock.leap(DAY + MINUTE)
  await mailbox.settle(2)
  mailbox.assertEqual('after a day')
})

test('what is removed in steps within a day is one removal', async () => {
  const mailbox = await filled({ INBOX: 500, Work: 500 })
  const steps: [here: number, held: number | undefined][] = []
  for (const path of ['INBOX', 'Work', 'INBOX', 'Work', 'INBOX']) {
    empty(mailbox.account, path, 200)
    await mailbox.settle(1)
    steps.push([mailbox.here().length, (await held(mailbox))[0]?.[1]])
  }
  assert.deepEqual(steps, [
    [800, undefined],
    [600, undefined],
    [600, 200],
    [600, 400],
    [600, 500],
  ])
})

test('a thousand messages wait, whatever share of the account they are; Trash is there to be emptied', async () => {
  const mailbox = await filled({ INBOX: 2100, Trash: 50 })
  empty(mailbox.account, 'INBOX', 1000)
  empty(mailbox.account, 'Trash')
  await mailbox.settle(1)
  assert.deepEqual(await held(mailbox), [['here', 1000]])
  assert.equal(mailbox.here().length, 2100)
})

test('an account that is suddenly empty is kept; a few messages are not held back', async () => {
  const mailbox = await filled({ INBOX: 8, Work: 4 })
  empty(mailbox.account, 'Work')
  await mailbox.settle(1)
  mailbox.assertEqual('after a small removal')
  empty(mailbox.account, 'INBOX')
  await mailbox.settle(1)
  assert.deepEqual([mailbox.here().length, await held(mailbox)], [8, [['here', 8]]])
})

test('a server that went back to an old backup does not take the messages since then away', async () => {
  const mailbox = await filled({ INBOX: 100 })
  const inbox = mailbox.account.folder('INBOX')
  for (const uid of [...inbox.messages.keys()].slice(60)) inbox.messages.delete(uid)
  inbox.uidNext = 61
  mailbox.account.touch(inbox)
  await mailbox.settle(2)
  assert.deepEqual([mailbox.here().length, await held(mailbox)], [100, [['here', 40]]])
})

test('a list without INBOX is an error: nothing is taken out, and nothing is reported twice', async () => {
  const mailbox = await filled({ INBOX: 3, Work: 2 })
  const { account } = mailbox
  const fetched = account.fetched
  const folders = [...account.folders]
  for (const left of [[], folders.filter(([path]) => path === 'Work')]) {
    account.folders.clear()
    for (const [path, folder] of left) account.folders.set(path, folder)
    await mailbox.settle(3)
    const { status, status_reason: reason } = await mailbox.record()
    assert.equal(status, 'delayed')
    assert.match(reason, left.length === 0 ? /lists no folders/ : /lists no INBOX/)
    assert.equal(mailbox.here().length, 5)
  }
  account.folders.clear()
  for (const [path, folder] of folders) account.folders.set(path, folder)
  models.clock.advance(31 * MINUTE)
  await mailbox.settle(2)
  assert.deepEqual([(await mailbox.record()).status, account.fetched], ['active', fetched])
  mailbox.assertEqual('when they are listed')
})

test('held messages that are moved or copied here stay, and are stored at the server; the others can be confirmed', async () => {
  const mailbox = await filled({ INBOX: 30, Work: 2 })
  const { store, mail } = mailbox
  empty(mailbox.account, 'INBOX')
  empty(mailbox.account, 'Work')
  await mailbox.settle(1)
  assert.deepEqual(await held(mailbox), [['here', 32]])
  const [moved, copied, thrown, ...others] = messagesIn(mailbox, 'INBOX')
  await store.edit.folders.create(mail, { name: 'Rescue', parentId: null })
  const rescue = folderOf(mailbox, 'Rescue')
  const trash = store.read.folders.byRole(mail.n, 'trash')
  await store.edit.messages.change(mail, [moved!.id], { folders: { set: [rescue.id] } })
  await store.edit.messages.change(mail, [copied!.id], { folders: { add: [rescue.id] } })
  await store.edit.messages.change(mail, [thrown!.id], { folders: { set: [trash.id] } })
  await mailbox.settle(2)
  assert.equal(mailbox.account.folder('Rescue').messages.size, 2, 'at the server at once')
  assert.deepEqual(await held(mailbox), [['here', 30]])
  assert.equal((await act(mailbox, 'confirm-removal')).status, 200)
  await mailbox.settle(2)
  mailbox.assertEqual('after the confirmation')
  assert.equal(mailbox.here().length, 2)
  const ids = messagesIn(mailbox, 'Rescue').map(({ id }) => id)
  assert.deepEqual(ids.sort(), [moved!.id, copied!.id].sort())
  assert.equal(others.length, 27)
})

test('a message that is moved here while it is removed at the server stays', async () => {
  const mailbox = await filled({ INBOX: 3, Work: 1 })
  const { store, mail, account } = mailbox
  await act(mailbox, 'pause')
  await models.appliance.settle()
  const [moved] = messagesIn(mailbox, 'INBOX')
  await store.edit.messages.change(mail, [moved!.id], { folders: { set: [folderOf(mailbox, 'Work').id] } })
  empty(account, 'INBOX')
  await act(mailbox, 'resume')
  await mailbox.settle(3)
  mailbox.assertEqual('after both')
  assert.equal(messagesIn(mailbox, 'Work').length, 2)
})

test('what is gone at the server is put back there with the same ids, also when its folder is gone', async () => {
  const mailbox = await filled({ INBOX: 30, Work: 20 })
  const { account } = mailbox
  const numbers = mailbox.numbers()
  const before = mailbox.there()
  empty(account, 'INBOX')
  account.folders.delete('Work')
  await mailbox.settle(3)
  assert.deepEqual(await held(mailbox), [['here', 50]])
  const undone = await act(mailbox, 'undo-removal', { at: 'here' })
  assert.deepEqual([undone.status, undone.body.data.held_removals], [200, []])
  await mailbox.settle(4)
  assert.deepEqual([mailbox.there(), mailbox.numbers()], [before, numbers])
  mailbox.assertEqual('after it was put back')
  assert.equal((await mailbox.record()).status_reason, null)
  empty(account, 'INBOX', 2)
  await mailbox.settle(2)
  mailbox.assertEqual('a later removal is one of its own')
})

test('what was deleted here is fetched again, with its folder, and is no news', async () => {
  const mailbox = await models.attach({}, (account) => {
    account.create('Work')
    for (let n = 0; n < 60; n++) account.add('INBOX', modelMessage(), { receivedAt: n * 1000 })
    for (let n = 0; n < 1000; n++) account.add('Work', modelMessage(), { receivedAt: n * 1000 })
  })
  await mailbox.settle(1)
  for (let n = 0; n < 3; n++) mailbox.account.add('INBOX', modelMessage(), { receivedAt: models.clock.now() })
  await mailbox.settle(1)
  const { store, mail } = mailbox
  const ids = messagesIn(mailbox, 'INBOX').map(({ id }) => id)
  await models.appliance.app.db.write((tx) => store.edit.messages.deleteIn(tx, mail, ids))
  await store.edit.folders.remove(mail, folderOf(mailbox, 'Work').id, 'delete', () => {})
  await mailbox.settle(2)
  assert.deepEqual([mailbox.here().length, mailbox.there().length], [0, 1063])
  assert.deepEqual(await held(mailbox), [['server', 1063]])
  assert.equal((await act(mailbox, 'undo-removal')).status, 200)
  await mailbox.settle(2)
  mailbox.assertEqual('after it was put back')
  assert.equal(mailbox.here().length, 1063)
  const sql = "SELECT count(*) AS count FROM events WHERE mailbox_id = ? AND type = 'message.received'"
  const [{ count }] = (await models.appliance.app.db.scan.all<{ count: number }>(sql, [mailbox.mailboxId])) as [
    { count: number },
  ]
  assert.equal(count, 3)
})

test('after a move to another server, which adds a field to all messages, they are the same', async () => {
  const mailbox = await filled({ INBOX: 30, Work: 5 })
  const { account } = mailbox
  const [before, { fetched }] = [mailbox.numbers(), account]
  for (const path of ['INBOX', 'Work']) {
    account.renumber(path)
    for (const message of account.folder(path).messages.values()) {
      message.receivedAt = models.clock.now()
      message.bytes = Buffer.concat([Buffer.from('X-Server: new\r\n'), message.bytes])
    }
  }
  await mailbox.settle(3)
  assert.deepEqual([mailbox.numbers(), account.fetched, await held(mailbox)], [before, fetched, []])
  const [moved, erased] = messagesIn(mailbox, 'INBOX')
  await mailbox.store.edit.messages.change(mailbox.mail, [moved!.id], {
    folders: { set: [folderOf(mailbox, 'Work').id] },
  })
  await models.appliance.app.db.write((tx) => mailbox.store.edit.messages.deleteIn(tx, mailbox.mail, [erased!.id]))
  await mailbox.settle(2)
  assert.deepEqual([account.folder('INBOX').messages.size, account.folder('Work').messages.size], [28, 6])
})

test('after a move to another server, which gives all messages new dates, they are the same, and old mail is no news', async () => {
  const mailbox = await filled({ INBOX: 30, Work: 5 })
  const numbers = mailbox.numbers()
  const { account } = mailbox
  const { fetched } = account
  for (const path of ['INBOX', 'Work']) {
    account.renumber(path)
    for (const message of account.folder(path).messages.values()) message.receivedAt = models.clock.now()
  }
  // Never seen here before the move.
  const bytes = Buffer.concat([Buffer.from('Date: Mon, 01 Jan 2024 00:00:00 +0000\r\n'), modelMessage()])
  const inbox = account.folder('INBOX')
  account.add('INBOX', bytes, { receivedAt: models.clock.now() })
  inbox.uidValidity += 1
  await mailbox.settle(3)
  mailbox.assertEqual('after the move')
  assert.deepEqual([mailbox.numbers().slice(0, 35), account.fetched], [numbers, fetched + 1])
  account.add('INBOX', modelMessage(), { receivedAt: models.clock.now() })
  await mailbox.settle(1)
  const sql = "SELECT count(*) AS count FROM events WHERE mailbox_id = ? AND type = 'message.received'"
  const rows = await models.appliance.app.db.scan.all<{ count: number }>(sql, [mailbox.mailboxId])
  assert.deepEqual(rows, [{ count: 1 }])
})
