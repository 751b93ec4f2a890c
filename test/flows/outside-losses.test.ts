// What could lose or double messages of an outside account: folders that come, go and come back, answers that are lost, erasing and moving at once.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { trashRetention } from '../../src/jobs/trash-retention.ts'
import { Intents, sendNow } from '../../src/sync/ledger/intents.ts'
import { ServerError } from '../../src/sync/model/server.ts'
import type { ModelAbilities, ModelAccount } from '../support/model-account.ts'
import { type ModelMailbox, type ModelSetup, modelMessage, startModels } from '../support/outside-model.ts'

const DAY_MS = 86_400_000

let models: ModelSetup
before(async () => {
  models = await startModels()
})
after(() => models[Symbol.asyncDispose]())

const act = (mailbox: ModelMailbox, action: string) =>
  models.appliance.call('POST', `/remote-accounts/${mailbox.id}/${action}`, models.team.key)

/** An account with messages in INBOX, and in Work, imported. */
async function filled(abilities: ModelAbilities = {}): Promise<ModelMailbox> {
  const mailbox = await models.attach(abilities, (account) => {
    account.create('Work')
    for (let n = 0; n < 3; n++) account.add('INBOX', modelMessage(), { receivedAt: n * 1000 })
    for (let n = 0; n < 2; n++) account.add('Work', modelMessage(), { receivedAt: n * 1000 })
  })
  await mailbox.settle(1)
  mailbox.assertEqual('after the import')
  return mailbox
}

const folderOf = (mailbox: ModelMailbox, path: string) =>
  mailbox.store.read.folders.paths(mailbox.mail).find((one) => one.path === path)!

/** A message here that is in a folder. */
function messageIn(mailbox: ModelMailbox, path: string) {
  const { n } = path === 'INBOX' ? mailbox.store.read.folders.byRole(mailbox.mail.n, 'inbox') : folderOf(mailbox, path)
  const placed = mailbox.store.programs.mail.placements(mailbox.mail, mailbox.numbers()).values()
  return [...placed].find(({ entries }) => entries.some(({ folder }) => folder === n))!
}

/** The connection breaks after the answer to a command, once. */
function breakAfter(account: ModelAccount, command: string): void {
  account.fault = (given, moment) => {
    if (given !== command || moment !== 'after') return
    account.fault = () => {}
    throw new ServerError('delay', `Broken after ${command}.`)
  }
}

test('a folder that could not be read is not deleted there with its messages', async () => {
  const mailbox = await models.attach({}, (account) => {
    account.create('Work')
    account.add('Work', modelMessage())
    account.fault = (command) => {
      if (command === 'FETCH') throw new ServerError('refused', 'Not now.')
    }
  })
  await models.appliance.settle()
  assert.deepEqual(mailbox.here(), [])
  await mailbox.store.edit.folders.remove(mailbox.mail, folderOf(mailbox, 'Work').id, 'delete', () => {})
  await models.appliance.settle()
  assert.equal(mailbox.there().length, 1)
  mailbox.account.fault = () => {}
  await mailbox.settle(3)
  mailbox.assertEqual('when it can be read')
})

test('messages stored in a new folder are not stored again when the answer is lost', async () => {
  const mailbox = await filled()
  await mailbox.store.edit.folders.create(mailbox.mail, { name: 'New', parentId: null })
  for (let n = 0; n < 3; n++) await mailbox.import(modelMessage(), folderOf(mailbox, 'New').id)
  breakAfter(mailbox.account, 'APPEND')
  await mailbox.settle(4)
  assert.equal(mailbox.account.folder('New').messages.size, 3)
  mailbox.assertEqual('after the break')
})

test('a folder that one list left out comes back with its messages', async () => {
  const mailbox = await filled()
  const { account } = mailbox
  const work = account.folder('Work')
  const before = { id: folderOf(mailbox, 'Work').id, numbers: mailbox.numbers(), fetched: account.fetched }
  account.folders.delete('Work')
  models.clock.advance(150_000)
  await models.appliance.settle()
  assert.equal(mailbox.here().length, 5, 'one list may be wrong')
  account.folders.set('Work', work)
  await mailbox.settle(3)
  mailbox.assertEqual('when it is back')
  const after = { id: folderOf(mailbox, 'Work').id, numbers: mailbox.numbers(), fetched: account.fetched }
  assert.deepEqual(after, before, 'it is the same folder, with the same messages')
})

test('a folder that two lists left out comes back with its messages', async () => {
  const mailbox = await filled()
  const { account } = mailbox
  const work = account.folder('Work')
  account.folders.delete('Work')
  for (let list = 0; list < 2; list++) {
    models.clock.advance(150_000)
    await models.appliance.settle()
  }
  assert.equal(mailbox.here().length, 3)
  account.folders.set('Work', work)
  await mailbox.settle(3)
  mailbox.assertEqual('when it is back')
})

test('what was put here into a folder that one list left out is there when it is back', async () => {
  const mailbox = await filled()
  const { account } = mailbox
  const work = account.folder('Work')
  account.folders.delete('Work')
  models.clock.advance(150_000)
  await models.appliance.settle()
  await mailbox.import(modelMessage(), folderOf(mailbox, 'Work').id)
  const { id } = messageIn(mailbox, 'INBOX')
  await mailbox.store.edit.messages.change(mailbox.mail, [id], { folders: { set: [folderOf(mailbox, 'Work').id] } })
  await models.appliance.settle()
  account.folders.set('Work', work)
  await mailbox.settle(3)
  assert.equal(account.folder('Work').messages.size, 4)
  mailbox.assertEqual('when it is back')
})

test('a folder that comes back is not collected from again', async () => {
  await models.team.domain('again.test')
  const hosted = await models.team.mailbox('me@again.test')
  const mailbox = await models.attach(
    {},
    (account) => {
      account.create('Work')
      account.add('Work', modelMessage())
    },
    { mode: 'collect', mailbox_id: hosted.id },
  )
  await mailbox.settle(1)
  const work = mailbox.account.folder('Work')
  mailbox.account.folders.delete('Work')
  await mailbox.settle(3)
  mailbox.account.folders.set('Work', work)
  mailbox.account.add('Work', modelMessage(), { receivedAt: models.clock.now() })
  await mailbox.settle(3)
  assert.equal((await models.appliance.get('/mailbox/messages', hosted.key)).body.data.length, 2)
})

test('a new folder is read although the one before it is gone', async () => {
  const mailbox = await filled()
  const { account } = mailbox
  account.create('Last')
  account.add('Last', modelMessage())
  await mailbox.settle(2)
  account.folders.delete('Last')
  await mailbox.settle(4)
  account.create('Next')
  for (let n = 0; n < 2; n++) account.add('Next', modelMessage())
  await mailbox.settle(2)
  mailbox.assertEqual('with the new folder')
  const { id } = messageIn(mailbox, 'Next')
  await mailbox.store.edit.messages.change(mailbox.mail, [id], { keywords: { add: ['$flagged'] } })
  await mailbox.settle(2)
  assert.equal(mailbox.there().filter((line) => line.includes('$flagged')).length, 1)
  mailbox.assertEqual('after a change here')
})

test('messages that are moved there into a new folder are the same as before', async () => {
  const mailbox = await filled()
  const before = mailbox.numbers()
  const { fetched } = mailbox.account
  mailbox.account.create('New')
  for (const uid of [1, 2]) mailbox.account.move('INBOX', uid, 'New')
  await mailbox.settle(2)
  mailbox.assertEqual('after the moves')
  assert.deepEqual([mailbox.numbers(), mailbox.account.fetched], [before, fetched])
})

test('a message that is moved there into a folder that was just looked at is the same', async () => {
  const mailbox = await filled()
  const before = mailbox.numbers()
  const { account } = mailbox
  const { fetched } = account
  account.setFlags('Work', 1, { add: ['\\Flagged'], remove: [] })
  account.fault = (command, moment, path) => {
    if (command !== 'SELECT' || moment !== 'before' || path !== 'Work') return
    account.fault = () => {}
    account.move('Work', 2, 'INBOX')
  }
  await act(mailbox, 'sync')
  await mailbox.settle(1)
  mailbox.assertEqual('after the move')
  assert.deepEqual([mailbox.numbers(), account.fetched], [before, fetched])
})

test('messages that are moved here are the same, where a server does not name their new UIDs', async () => {
  const mailbox = await filled({ qresync: false, condstore: false, uidPlus: false })
  const before = mailbox.numbers()
  const { fetched } = mailbox.account
  await mailbox.store.edit.folders.create(mailbox.mail, { name: 'New', parentId: null })
  for (const path of ['New', 'Work']) {
    const { id } = messageIn(mailbox, 'INBOX')
    await mailbox.store.edit.messages.change(mailbox.mail, [id], { folders: { set: [folderOf(mailbox, path).id] } })
  }
  await mailbox.settle(2)
  mailbox.assertEqual('after the moves')
  assert.deepEqual([mailbox.numbers(), mailbox.account.fetched], [before, fetched])
})

test('a mark that is set with a move, and taken back, is taken back there', async () => {
  const mailbox = await filled()
  const { id } = messageIn(mailbox, 'INBOX')
  const work = folderOf(mailbox, 'Work').id
  const change = { keywords: { add: ['$flagged'] }, folders: { set: [work] } }
  await mailbox.store.edit.messages.change(mailbox.mail, [id], change)
  await models.appliance.settle()
  assert.equal(mailbox.there().filter((line) => line.includes('$flagged')).length, 1)
  await mailbox.store.edit.messages.change(mailbox.mail, [id], { keywords: { remove: ['$flagged'] } })
  await mailbox.settle(2)
  assert.equal(mailbox.there().filter((line) => line.includes('$flagged')).length, 0)
  mailbox.assertEqual('after it was taken back')
})

test('what is erased here while it is moved there stays', async () => {
  const mailbox = await filled()
  await act(mailbox, 'pause')
  await models.appliance.settle()
  const { id } = messageIn(mailbox, 'Work')
  await models.appliance.app.db.write((tx) => mailbox.store.edit.messages.deleteIn(tx, mailbox.mail, [id]))
  for (const uid of [1, 2]) mailbox.account.move('Work', uid, 'INBOX')
  await act(mailbox, 'resume')
  await mailbox.settle(2)
  assert.equal(mailbox.there().length, 5)
  mailbox.assertEqual('after both')
})

test('without MOVE a message is copied once, whatever answer is lost', async () => {
  for (const command of ['COPY', 'STORE', 'EXPUNGE']) {
    const mailbox = await filled({ move: false })
    const { id } = messageIn(mailbox, 'INBOX')
    breakAfter(mailbox.account, command)
    await mailbox.store.edit.messages.change(mailbox.mail, [id], { folders: { set: [folderOf(mailbox, 'Work').id] } })
    await mailbox.settle(4)
    assert.equal(mailbox.there().length, 5)
    mailbox.assertEqual(command)
  }
})

test('the Trash of an outside account is not emptied from here', async () => {
  const mailbox = await models.attach({}, (account) => {
    account.create('Trash', 'trash')
    account.add('Trash', modelMessage())
  })
  await mailbox.settle(1)
  models.clock.leap(40 * DAY_MS)
  const { app } = models.appliance
  await trashRetention.run({ app, log: app.log, signal: new AbortController().signal })
  await mailbox.settle(2)
  assert.equal(mailbox.there().length, 1)
  mailbox.assertEqual('after forty days')
})

test('a folder that the server does not open does not keep the others from being synchronised', async () => {
  const mailbox = await filled()
  const { account, store, mail } = mailbox
  account.fault = (command, moment, path) => {
    if (command === 'SELECT' && moment === 'before' && path === 'Work')
      throw new ServerError('refused', 'Work is locked.')
  }
  const flag = (path: string) =>
    store.edit.messages.change(mail, [messageIn(mailbox, path).id], { keywords: { add: ['$flagged'] } })
  await flag('Work')
  await flag('INBOX')
  account.add('Work', modelMessage())
  account.add('INBOX', modelMessage())
  await mailbox.settle(2)
  const flagged = () => mailbox.there().filter((line) => line.includes('$flagged'))
  assert.deepEqual(
    flagged().map((line) => line.split(' ')[0]),
    ['INBOX'],
  )
  assert.equal(mailbox.here().length, 6)
  const { status, status_reason: reason } = await mailbox.record()
  assert.deepEqual([status, reason], ['active', 'Work is locked.'])
  account.fault = () => {}
  await mailbox.settle(4)
  assert.equal(flagged().length, 2)
  mailbox.assertEqual('when it opens')
  assert.equal((await mailbox.record()).status_reason, null)
})

test('an Inbox that the server does not open is tried again, and the other folders go on', async () => {
  const mailbox = await filled()
  const { account } = mailbox
  account.fault = (command, moment, path) => {
    if (command === 'SELECT' && moment === 'before' && path === 'INBOX') throw new ServerError('refused', 'Not now.')
  }
  account.add('Work', modelMessage())
  await mailbox.settle(2)
  assert.equal(mailbox.here().length, 6)
  assert.equal((await mailbox.record()).status, 'active')
  account.fault = () => {}
  account.add('INBOX', modelMessage())
  await mailbox.settle(2)
  mailbox.assertEqual('when it opens')
})

test('a message whose head a server leaves out is asked for again', async () => {
  const mailbox = await filled()
  const { account } = mailbox
  account.headless.add(account.add('INBOX', modelMessage()).uid)
  account.add('INBOX', modelMessage())
  await mailbox.settle(1)
  assert.equal(mailbox.here().length, 6)
  account.headless.clear()
  models.clock.advance(20 * 60_000)
  await mailbox.settle(2)
  mailbox.assertEqual('when it is given')
})

test('a message at which the connection breaks each time does not keep the others from being stored', async () => {
  const mailbox = await models.attach({}, (account) => {
    for (let n = 0; n < 5; n++) account.add('INBOX', modelMessage(), { receivedAt: n * 1000 })
    account.breaking.add(3)
  })
  await mailbox.settle(6)
  assert.deepEqual([mailbox.here().length, (await mailbox.record()).status], [4, 'active'])
  mailbox.account.breaking.clear()
  models.clock.leap(6 * 3_600_000)
  await mailbox.settle(2)
  mailbox.assertEqual('when the server gives it')
})

test('changes that wait in great number are sent in parts, and all of them', async () => {
  const mailbox = await filled()
  const { db, clock } = models.appliance.app
  const intents = new Intents(db, clock)
  const { n } = models.appliance.app.sync.accounts.get(models.team.id, mailbox.id)!
  await act(mailbox, 'pause')
  await models.appliance.settle()
  await db.write((tx) => {
    for (let message = 1; message <= 5001; message++) intents.add(tx, n, sendNow(message))
  })
  assert.equal(intents.due(n, clock.now()).length, 5000)
  await act(mailbox, 'resume')
  await mailbox.settle(1)
  assert.equal(intents.hasDue(n, clock.now()), false)
})

test('nothing is written to a folder whose UIDs went back: they mean other messages', async () => {
  const mailbox = await filled()
  const { account } = mailbox
  const work = account.folder('Work')
  const other = { ...work.messages.get(1)!, bytes: modelMessage(), receivedAt: 60_000 }
  // The server was restored from a backup: another message has the UID of one that is deleted here.
  work.messages.clear()
  work.messages.set(1, other)
  work.uidNext = 2
  const ids = [messageIn(mailbox, 'Work').id]
  await models.appliance.app.db.write((tx) => mailbox.store.edit.messages.deleteIn(tx, mailbox.mail, ids))
  await mailbox.settle(4)
  assert.deepEqual([...work.messages.keys()], [1])
  const [removal] = (await mailbox.record()).held_removals
  assert.deepEqual([removal.at, removal.messages], ['here', 1], 'the backup did not have it')
  assert.equal((await act(mailbox, 'confirm-removal')).status, 200)
  await mailbox.settle(2)
  mailbox.assertEqual('after the confirmation')
})

test('messages that are moved here into a folder that was numbered again there are once on both sides', async () => {
  const mailbox = await filled()
  const { account, store, mail } = mailbox
  account.remove('Work', 1)
  await mailbox.settle(2)
  const { fetched } = account
  account.renumber('Work')
  const change = { folders: { set: [folderOf(mailbox, 'Work').id] } }
  await store.edit.messages.change(mail, [messageIn(mailbox, 'INBOX').id], change)
  await mailbox.settle(3)
  mailbox.assertEqual('after both')
  assert.equal(account.fetched, fetched)
})

test('a folder that the server does not create or rename for a moment is created and renamed some minutes later', async () => {
  const mailbox = await filled()
  const { account, store, mail } = mailbox
  let refusals = 0
  account.fault = (command, moment) => {
    if (moment !== 'before' || (command !== 'CREATE' && command !== 'RENAME') || refusals++ % 3 === 2) return
    throw new ServerError('refused', 'In use.')
  }
  await store.edit.folders.create(mail, { name: 'New', parentId: null })
  await mailbox.settle(5)
  assert.equal(refusals, 3)
  await store.edit.folders.update(mail, folderOf(mailbox, 'New').id, { name: 'Newer' }, () => {})
  await mailbox.settle(5)
  assert.equal(refusals, 6)
  assert.ok(account.folders.has('Newer'))
  mailbox.assertEqual('when it is no longer refused')
})

test('what the server refuses for good is not asked for without end', async () => {
  const mailbox = await filled()
  let refusals = 0
  mailbox.account.fault = (command, moment) => {
    if (moment !== 'before' || command !== 'CREATE') return
    refusals++
    throw new ServerError('refused', 'Permission denied.')
  }
  await mailbox.store.edit.folders.create(mailbox.mail, { name: 'New', parentId: null })
  await mailbox.settle(40)
  assert.equal(refusals, 7)
})

test('what was in a folder here before the server had it is sent, although the connection breaks', async () => {
  const mailbox = await filled()
  const { account, store, mail } = mailbox
  await store.edit.folders.create(mail, { name: 'New', parentId: null })
  const change = { folders: { set: [folderOf(mailbox, 'New').id] } }
  await store.edit.messages.change(mail, [messageIn(mailbox, 'INBOX').id], change)
  let breaks = 2
  account.fault = (command, moment) => {
    const isMade = command === 'CREATE' && moment === 'after'
    if ((isMade || (command === 'MOVE' && moment === 'before')) && breaks-- > 0)
      throw new ServerError('delay', `Broken at ${command}.`)
  }
  await mailbox.settle(4)
  assert.equal(account.folder('New').messages.size, 1)
  mailbox.assertEqual('after the breaks')
})

test('a new folder that is deleted here before the first look at it is deleted there, with its message, at once', async () => {
  const mailbox = await filled({ qresync: false, condstore: false, idle: false })
  const { account, store, mail } = mailbox
  for (const name of ['More', 'New']) await store.edit.folders.create(mail, { name, parentId: null })
  const folder = folderOf(mailbox, 'New').id
  await mailbox.import(modelMessage(), folder)
  account.fault = (command, moment) => {
    if (command === 'APPEND' && moment === 'after') account.add('More', modelMessage())
  }
  // While the first folder is read: the second is looked at in the next round, which has sent the deletion before.
  account.pace = () => {
    account.pace = null
    return store.edit.folders.remove(mail, folder, 'delete', () => {}).then(() => {})
  }
  await models.appliance.settle()
  assert.equal(account.pace, null)
  assert.ok(!account.folders.has('New'), 'and not with the next list')
  mailbox.assertEqual('after both')
})

test('flags that change there before the first look at a new folder are taken over', async () => {
  const mailbox = await filled()
  const { account, store, mail } = mailbox
  await store.edit.folders.create(mail, { name: 'New', parentId: null })
  const change = { folders: { set: [folderOf(mailbox, 'New').id] } }
  await store.edit.messages.change(mail, [messageIn(mailbox, 'INBOX').id], change)
  account.fault = (command, moment, path) => {
    if (command !== 'SELECT' || moment !== 'before' || path !== 'New') return
    account.fault = () => {}
    account.setFlags('New', 1, { add: ['\\Flagged'], remove: [] })
  }
  await mailbox.settle(3)
  assert.equal(mailbox.here().filter((line) => line.includes('$flagged')).length, 1)
  mailbox.assertEqual('after the look')
})

test('a message deleted here is removed from all its folders there, although it is gone from one of them', async () => {
  const mailbox = await filled()
  const { account, store, mail } = mailbox
  const { id } = messageIn(mailbox, 'INBOX')
  await store.edit.messages.change(mail, [id], { folders: { add: [folderOf(mailbox, 'Work').id] } })
  await mailbox.settle(2)
  await act(mailbox, 'pause')
  await models.appliance.settle()
  account.remove('Work', [...account.folder('Work').messages.keys()].at(-1)!)
  await models.appliance.app.db.write((tx) => store.edit.messages.deleteIn(tx, mail, [id]))
  await act(mailbox, 'resume')
  await mailbox.settle(3)
  assert.equal(mailbox.there().length, 4)
  mailbox.assertEqual('after both')
})
