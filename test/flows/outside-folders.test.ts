// Folders and copies of an outside account that are deleted on one side while the other one puts messages into them: both sides end equal.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ServerError } from '../../src/sync/model/server.ts'
import { type ModelMailbox, type ModelSetup, modelMessage, startModels } from '../support/outside-model.ts'

let models: ModelSetup
before(async () => {
  models = await startModels()
})
after(() => models[Symbol.asyncDispose]())

/** An account with a message in INBOX and in Work, and an empty folder, imported. */
async function filled(): Promise<ModelMailbox> {
  const mailbox = await models.attach({}, (account) => {
    account.create('Work')
    account.create('Empty')
    for (const path of ['INBOX', 'Work']) account.add(path, modelMessage(), { receivedAt: 1000 })
  })
  await mailbox.settle(1)
  mailbox.assertEqual('after the import')
  return mailbox
}

const folderOf = ({ store, mail }: ModelMailbox, path: string) =>
  store.read.folders.paths(mail).find((one) => one.path === path)!.id

/** The id of the message that was imported from INBOX. */
function firstOf(mailbox: ModelMailbox): string {
  const { store, mail } = mailbox
  const inbox = store.read.folders.byRole(mail.n, 'inbox').n
  const placed = [...store.programs.mail.placements(mail, mailbox.numbers()).values()]
  return placed.find(({ entries }) => entries.some(({ folder }) => folder === inbox))!.id
}

/** Changes both sides while they are not connected. */
async function apart(mailbox: ModelMailbox, change: () => Promise<unknown>): Promise<void> {
  const act = (action: string) =>
    models.appliance.call('POST', `/remote-accounts/${mailbox.id}/${action}`, models.team.key)
  await act('pause')
  await models.appliance.settle()
  await change()
  await act('resume')
}

test('what is put here into a folder that is deleted there is stored there in a new folder', async () => {
  const mailbox = await filled()
  const { store, mail, account } = mailbox
  await apart(mailbox, async () => {
    await store.edit.messages.change(mail, [firstOf(mailbox)], { folders: { set: [folderOf(mailbox, 'Empty')] } })
    account.folders.delete('Empty')
  })
  await mailbox.settle(5)
  assert.equal(account.folder('Empty').messages.size, 1)
  mailbox.assertEqual('after both')
})

test('a new folder that is renamed here has one name on both sides, although the answer is lost', async () => {
  const mailbox = await filled()
  const { store, mail, account } = mailbox
  let isOpen = false
  account.fault = (command, moment, path) => {
    if (command === 'SELECT' && path === 'New') throw new ServerError('refused', 'Not now.')
    if (command === 'STATUS' && !isOpen) throw new ServerError('refused', 'Not now.')
    if (command !== 'RENAME' || moment !== 'after') return
    account.fault = () => {}
    throw new ServerError('delay', 'Broken.')
  }
  await store.edit.folders.create(mail, { name: 'New', parentId: null })
  await models.appliance.settle()
  isOpen = true
  await store.edit.folders.update(mail, folderOf(mailbox, 'New'), { name: 'Newer' }, () => {})
  await mailbox.settle(2)
  await mailbox.import(modelMessage(), folderOf(mailbox, 'Newer'))
  await mailbox.settle(5)
  assert.equal(account.folder('Newer').messages.size, 1)
  mailbox.assertEqual('after both')
})

test('what arrives there in a folder that is deleted here is in one folder on both sides', async () => {
  const mailbox = await filled()
  const { store, mail, account } = mailbox
  account.fault = (command) => {
    if (command === 'EXPUNGE') throw new ServerError('refused', 'Not now.')
  }
  await store.edit.folders.remove(mail, folderOf(mailbox, 'Work'), 'delete', () => {})
  await models.appliance.settle()
  account.add('Work', modelMessage())
  await mailbox.settle(1)
  account.fault = () => {}
  await mailbox.settle(5)
  assert.equal(mailbox.there().length, 2, 'what was deleted is gone, what arrived is not')
  mailbox.assertEqual('after both')
})

test('of a message that is deleted here, only the copy that is moved there stays', async () => {
  const mailbox = await filled()
  const { store, mail, account } = mailbox
  const id = firstOf(mailbox)
  await store.edit.messages.change(mail, [id], { folders: { add: [folderOf(mailbox, 'Work')] } })
  await mailbox.settle(1)
  await apart(mailbox, async () => {
    await models.appliance.app.db.write((tx) => store.edit.messages.deleteIn(tx, mail, [id]))
    account.move('Work', [...account.folder('Work').messages.keys()].at(-1)!, 'Empty')
    account.fault = (command, _, path) => {
      if (command === 'SELECT' && path === 'Empty') throw new ServerError('refused', 'Not now.')
    }
  })
  await mailbox.settle(1)
  account.fault = () => {}
  await mailbox.settle(4)
  assert.equal(mailbox.there().length, 2)
  mailbox.assertEqual('after both')
})

for (const mode of ['mirror', 'collect']) {
  test(`${mode}: a message that is moved there before its content was read is read where it is then`, async () => {
    if (mode === 'collect') await models.team.domain('collects.test')
    const more = mode === 'mirror' ? {} : { mode, mailbox_id: (await models.team.mailbox('me@collects.test')).id }
    const mailbox = await models.attach({}, (account) => void account.create('Work'), more)
    await mailbox.settle(1)
    const { account } = mailbox
    account.fault = (command, moment) => {
      if (command !== 'FETCH BODY' || moment !== 'before') return
      account.fault = () => {}
      account.move('INBOX', 1, 'Work')
    }
    account.add('INBOX', modelMessage(), { receivedAt: models.clock.now() })
    await mailbox.settle(3)
    assert.equal(account.folder('Work').messages.size, 1, 'it was moved in between')
    assert.equal(mailbox.here().length, 1)
    if (mode === 'mirror') mailbox.assertEqual('after the move')
  })
}

test('a round reads what is known of the folders a few times, however many there are', async () => {
  const mailbox = await models.attach({}, (account) => {
    for (let n = 0; n < 120; n++) account.create(`Folder ${n}`)
  })
  await mailbox.settle(1)
  const { read } = models.appliance.app.db
  const all = read.all
  let lists = 0
  read.all = (sql: string, ...more: [never]) => {
    if (sql.includes('FROM remote_folders WHERE remote =') || sql.includes('FROM folders')) lists++
    return all.call(read, sql, ...more) as never
  }
  try {
    mailbox.account.create('One more')
    for (let n = 0; n < 20; n++) mailbox.account.rename(`Folder ${n}`, `Renamed ${n}`)
    await mailbox.settle(2)
  } finally {
    read.all = all
  }
  assert.equal(
    mailbox.store.read.folders.paths(mailbox.mail).filter(({ path }) => /^Renamed|^One more/.test(path)).length,
    21,
  )
  assert.ok(lists < 400, `${lists} lists`)
})
