// Folders of an outside account below others: below one that cannot be selected, below a new one, and below one that is listed later.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ServerError } from '../../src/sync/model/server.ts'
import type { Json } from '../support/appliance.ts'
import { type ModelMailbox, type ModelSetup, modelMessage, startModels } from '../support/outside-model.ts'

let models: ModelSetup
before(async () => {
  models = await startModels()
})
after(() => models[Symbol.asyncDispose]())

/** An account with a message in Work, imported. */
async function filled(): Promise<ModelMailbox> {
  const mailbox = await models.attach({}, (account) => {
    account.create('Work')
    account.add('Work', modelMessage(), { receivedAt: 1000 })
  })
  await mailbox.settle(1)
  mailbox.assertEqual('after the import')
  return mailbox
}

const folderOf = ({ store, mail }: ModelMailbox, path: string) =>
  store.read.folders.paths(mail).find((one) => one.path === path)!.id

test('folders below one that holds folders only are read, at any depth', async () => {
  const mailbox = await models.attach({}, (account) => {
    for (const path of ['Clients', 'Public', 'Public/Team']) {
      account.create(path)
      account.holders.add(path)
    }
    for (const path of ['Clients/Acme', 'Public/Team/News']) {
      account.create(path)
      account.add(path, modelMessage(), { receivedAt: 1000 })
    }
    account.create('Nothing')
    account.holders.add('Nothing')
  })
  await mailbox.settle(1)
  assert.equal(mailbox.here().length, 2)
  mailbox.assertEqual('after the import')
  const { store, mail } = mailbox
  assert.ok(!store.read.folders.paths(mail).some(({ path }) => path === 'Nothing'), 'it holds nothing that is shown')
  assert.equal((await mailbox.record()).status_reason, null)
  // Changes of both sides pass through.
  const [placed] = store.programs.mail.placements(mail, mailbox.numbers()).values()
  await store.edit.messages.change(mail, [placed!.id], { folders: { set: [folderOf(mailbox, 'Public/Team/News')] } })
  mailbox.account.add('Clients/Acme', modelMessage())
  await mailbox.settle(2)
  assert.equal(mailbox.here().length, 3)
  mailbox.assertEqual('after changes')
})

test('what is put here into a folder that holds folders only is stored there in it, or people are told', async () => {
  for (const isTaken of [true, false]) {
    const mailbox = await models.attach({}, (account) => {
      for (const path of ['Clients', 'Clients/Acme']) account.create(path)
      account.holders.add('Clients')
      account.add('Clients/Acme', modelMessage(), { receivedAt: 1000 })
      account.add('INBOX', modelMessage(), { receivedAt: 1000 })
      account.fault = (command, moment) => {
        if (command === 'CREATE' && moment === 'before' && !isTaken) throw new ServerError('refused', 'Not here.')
      }
    })
    await mailbox.settle(1)
    const { store, mail } = mailbox
    await mailbox.import(modelMessage(), folderOf(mailbox, 'Clients'))
    const moved = [...store.programs.mail.placements(mail, mailbox.numbers()).values()].find(({ entries }) =>
      entries.some(({ folder }) => folder === store.read.folders.byRole(mail.n, 'inbox').n),
    )!
    await store.edit.messages.change(mail, [moved.id], { folders: { set: [folderOf(mailbox, 'Clients')] } })
    await mailbox.settle(2)
    const { differences } = await mailbox.record()
    if (isTaken) mailbox.assertEqual('after both')
    assert.deepEqual([mailbox.here().length, mailbox.there().length], [3, isTaken ? 3 : 2])
    assert.deepEqual(
      differences.map(({ folder }: Json) => folder),
      isTaken ? [] : ['Clients'],
    )
  }
})

test('with labels, a message has the label below one that is none', async () => {
  const mailbox = await models.attach({ labels: true }, (account) => {
    for (const path of ['[Gmail]', 'Clients']) {
      account.create(path)
      account.holders.add(path)
    }
    account.create('Clients/Acme')
    account.add('[Gmail]/All Mail', modelMessage(), { labels: ['Clients/Acme'] })
  })
  await mailbox.settle(1)
  const { store, mail } = mailbox
  const paths = store.read.folders.paths(mail).map(({ path }) => path)
  assert.ok(paths.includes('Clients/Acme') && !paths.includes('[Gmail]'), paths.join())
  assert.match(mailbox.here().join(), /^Clients\/Acme /)
})

test('a folder that is renamed there below a new one is below it here, and the same', async () => {
  const mailbox = await filled()
  const id = folderOf(mailbox, 'Work')
  const { account } = mailbox
  account.create('Old')
  account.rename('Work', 'Old/Work')
  await mailbox.settle(2)
  assert.equal(folderOf(mailbox, 'Old/Work'), id)
  mailbox.assertEqual('after the rename')
})

test('a folder that is moved here below a new one is below it there', async () => {
  const mailbox = await filled()
  const { store, mail, account } = mailbox
  const parentId = await store.edit.folders.create(mail, { name: 'New', parentId: null })
  const below = await store.edit.folders.create(mail, { name: 'Below', parentId })
  await store.edit.folders.update(mail, folderOf(mailbox, 'Work'), { parentId: below }, () => {})
  await mailbox.settle(2)
  assert.deepEqual([...account.folders.keys()].sort(), ['INBOX', 'New', 'New/Below', 'New/Below/Work'])
  mailbox.assertEqual('after the move')
})

test('a folder whose parent is listed later is filed below it', async () => {
  const mailbox = await models.attach({}, (account) => {
    account.create('Old/Work')
    account.add('Old/Work', modelMessage(), { receivedAt: 1000 })
  })
  await mailbox.settle(1)
  const id = folderOf(mailbox, 'Old.Work')
  mailbox.account.create('Old')
  await mailbox.settle(2)
  assert.equal(folderOf(mailbox, 'Old/Work'), id)
  mailbox.assertEqual('when the parent is there')
})
