// Messages that are stored or copied at a server which gives them another time of receipt, or other bytes: once on each side.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { ModelAbilities } from '../support/model-account.ts'
import { type ModelMailbox, type ModelSetup, modelMessage, startModels } from '../support/outside-model.ts'

let models: ModelSetup
before(async () => {
  models = await startModels()
})
after(() => models[Symbol.asyncDispose]())

/** No UID of a new message is named. */
const SILENT: ModelAbilities = { qresync: false, condstore: false, uidPlus: false, move: false }
const nameless = (n: number) => Buffer.from(`From: a@example.com\r\nSubject: Report ${n}\r\n\r\nText ${n}\r\n`)
const withField = (bytes: Buffer) => Buffer.concat([Buffer.from('X-Server: filed\r\n'), bytes])

async function filled(messages: readonly Buffer[]): Promise<ModelMailbox> {
  const mailbox = await models.attach(SILENT, (account) => {
    account.create('Work')
    for (const bytes of messages) account.add('INBOX', bytes, { receivedAt: 60_000 })
  })
  await mailbox.settle(1)
  mailbox.assertEqual('after the import')
  return mailbox
}

const idsOf = ({ store, mail }: ModelMailbox, all: number[]) =>
  [...store.programs.mail.placements(mail, all).values()].map(({ id }) => id)
/** How many messages were reported as new. */
function newsOf({ mailboxId }: ModelMailbox): number {
  const sql = "SELECT count(*) AS count FROM events WHERE mailbox_id = ? AND type = 'message.received'"
  return models.appliance.app.db.read.get<{ count: number }>(sql, [mailboxId])!.count
}

const inbox = ({ store, mail }: ModelMailbox) => store.read.folders.byRole(mail.n, 'inbox')
const work = ({ store, mail }: ModelMailbox) => store.read.folders.paths(mail).find(({ path }) => path === 'Work')!

test('messages that are moved and copied here are once there, although copies have another time of receipt', async () => {
  const mailbox = await filled([modelMessage(), modelMessage(), nameless(1), nameless(2)])
  const { store, mail, account } = mailbox
  account.filed = ({ bytes }) => ({ bytes, receivedAt: models.clock.now() })
  const before = mailbox.numbers()
  const ids = idsOf(mailbox, before)
  for (const id of [ids[0]!, ids[2]!])
    await store.edit.messages.change(mail, [id], { folders: { set: [work(mailbox).id] } })
  for (const id of [ids[1]!, ids[3]!])
    await store.edit.messages.change(mail, [id], { folders: { add: [work(mailbox).id] } })
  await mailbox.settle(4)
  mailbox.assertEqual('after the changes')
  assert.deepEqual([mailbox.there().length, mailbox.numbers()], [6, before])
})

test('messages that are moved there keep their ids, and are no news, although they have another time of receipt', async () => {
  for (const abilities of [SILENT, {}]) {
    const mailbox = await models.attach(abilities, (account) => {
      for (const path of ['Earlier', 'Work']) account.create(path)
      for (let n = 0; n < 4; n++) account.add('INBOX', modelMessage(), { receivedAt: n * 1000 })
    })
    await mailbox.settle(1)
    const before = mailbox.numbers()
    const { account } = mailbox
    const { fetched } = account
    account.filed = ({ bytes }) => ({ bytes, receivedAt: models.clock.now() })
    account.move('INBOX', 2, 'Work')
    account.move('INBOX', 3, 'Earlier')
    account.copy('INBOX', 4, 'Work')
    await mailbox.settle(3)
    mailbox.assertEqual('after the moves')
    assert.deepEqual([mailbox.numbers().slice(0, 4), account.fetched], [before, fetched + 1])
    assert.equal(newsOf(mailbox), 1, 'the copy alone is a new message')
  }
})

test('a second copy in a folder is a message of its own, although another copy of the first one is gone', async () => {
  const mailbox = await models.attach({}, (account) => {
    account.create('Work')
    account.add('INBOX', modelMessage(), { receivedAt: 60_000 })
  })
  await mailbox.settle(1)
  const { store, mail, account } = mailbox
  const [id] = idsOf(mailbox, mailbox.numbers())
  await store.edit.messages.change(mail, [id!], { folders: { add: [work(mailbox).id] } })
  await mailbox.settle(2)
  const [copy] = account.folder('Work').messages.keys()
  account.copy('INBOX', 1, 'INBOX')
  account.remove('Work', copy!)
  await mailbox.settle(3)
  mailbox.assertEqual('two in the Inbox')
  assert.equal(mailbox.there().length, 2)
})

test('a message that was stored in two folders there is two messages when both copies are in one folder', async () => {
  const mailbox = await models.attach({ objectIds: true }, (account) => account.create('Work'))
  await mailbox.settle(1)
  const { store, mail, account } = mailbox
  const id = await mailbox.import(modelMessage(), inbox(mailbox).id)
  await store.edit.messages.change(mail, [id], { folders: { add: [work(mailbox).id] } })
  await mailbox.settle(2)
  const copies = ['INBOX', 'Work'].flatMap((path) => [...account.folder(path).messages.values()])
  assert.equal(new Set(copies.map(({ objectId }) => objectId)).size, 2, 'each copy was stored by itself')
  account.move('Work', copies[1]!.uid, 'INBOX')
  await mailbox.settle(3)
  mailbox.assertEqual('two in the Inbox')
  assert.equal(mailbox.there().length, 2)
})

test('a folder that is numbered again between heads and contents gives no message the content of another one', async () => {
  const mailbox = await models.attach({}, (account) => {
    account.create('Work')
    for (let n = 0; n < 3; n++) account.add('INBOX', modelMessage(), { receivedAt: n * 1000 })
    account.add('Work', modelMessage(), { receivedAt: 60_000 })
  })
  await mailbox.settle(1)
  const { account } = mailbox
  account.remove('INBOX', 1)
  // Work is looked at in between, because it had the message that is in the Inbox now.
  account.move('Work', 1, 'INBOX')
  for (let n = 0; n < 3; n++) account.add('INBOX', modelMessage(), { receivedAt: models.clock.now() })
  let isPending = true
  account.fault = (command, moment, path) => {
    if (!isPending || command !== 'SELECT' || moment !== 'before' || path !== 'Work') return
    isPending = false
    account.renumber('INBOX')
  }
  await mailbox.settle(4)
  assert.equal(isPending, false, 'the folder was numbered again')
  mailbox.assertEqual('after the new numbers')
})

test('messages that come back to the server after a removal are no news', async () => {
  const mailbox = await models.attach({}, (account) => account.create('Work'))
  await mailbox.settle(1)
  const { account } = mailbox
  for (let n = 0; n < 3; n++) account.add('Work', modelMessage(), { receivedAt: models.clock.now() })
  await mailbox.settle(1)
  const work = account.folder('Work')
  account.folders.delete('Work')
  await mailbox.settle(3)
  assert.equal(mailbox.here().length, 0)
  account.folders.set('Work', work)
  await mailbox.settle(3)
  assert.deepEqual([mailbox.here().length, newsOf(mailbox)], [3, 3])
})

test('a message without Message-ID is stored there once, although the server adds a field to it', async () => {
  const mailbox = await filled([modelMessage()])
  mailbox.account.filed = ({ bytes }) => ({ bytes: withField(bytes), receivedAt: models.clock.now() })
  await mailbox.import(nameless(1), inbox(mailbox).id)
  await mailbox.settle(5)
  assert.deepEqual([mailbox.here().length, mailbox.there().length], [2, 2])
})

test('a message that the server takes and does not show is not stored there without end, and people are told', async () => {
  const mailbox = await filled([modelMessage()])
  const { account } = mailbox
  account.filed = ({ bytes, receivedAt }) => ({ bytes: withField(bytes), receivedAt })
  let appended = 0
  // Another message arrives at the same time: which of both is new cannot be told.
  account.fault = (command, moment) => {
    if (command !== 'APPEND' || moment !== 'after') return
    appended++
    account.add('INBOX', modelMessage())
  }
  const id = await mailbox.import(nameless(1), inbox(mailbox).id)
  await mailbox.settle(12)
  assert.equal(appended, 3)
  const [difference] = (await mailbox.record()).differences
  assert.deepEqual([difference.kind, /takes?|took them/.test(difference.sentence)], ['changes_refused', true])
  await models.appliance.app.db.write((tx) => mailbox.store.edit.messages.deleteIn(tx, mailbox.mail, [id]))
  await mailbox.settle(1)
  assert.deepEqual((await mailbox.record()).differences, [])
})
