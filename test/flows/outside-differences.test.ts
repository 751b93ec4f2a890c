// What of an outside account is lastingly not as it is at its server: each is named with a sentence and a next step.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ServerError } from '../../src/sync/model/server.ts'
import type { Json } from '../support/appliance.ts'
import { type ModelMailbox, type ModelSetup, modelMessage, startModels } from '../support/outside-model.ts'

const HOUR_MS = 3_600_000

let models: ModelSetup
before(async () => {
  models = await startModels()
})
after(() => models[Symbol.asyncDispose]())

const named = async (mailbox: ModelMailbox) =>
  (await mailbox.record()).differences.map(({ kind, folder }: Json) => [kind, folder])

test('a folder whose name the server refuses is named until it has another one', async () => {
  const mailbox = await models.attach({}, (account) => {
    account.add('INBOX', modelMessage())
    account.fault = (command, moment, path) => {
      if (command === 'CREATE' && moment === 'before' && (path ?? '').includes('.'))
        throw new ServerError('refused', 'Character not allowed in mailbox name.')
    }
  })
  await mailbox.settle(1)
  assert.deepEqual(await named(mailbox), [])
  const { store, mail } = mailbox
  const { id } = await createFolder(mailbox, 'a.b', null)
  await createFolder(mailbox, 'below', id)
  await mailbox.import(modelMessage(), id)
  await mailbox.settle(1)
  assert.deepEqual(await named(mailbox), [['folder_name', 'a.b']])
  const record = await mailbox.record()
  assert.match(record.status_reason, /does not take the folder a\.b: it is only here.*Character not allowed/)
  assert.match(record.differences[0].next_step, /another name/)
  await store.edit.folders.update(mail, id, { name: 'ab' }, () => {})
  await mailbox.settle(2)
  assert.deepEqual([await named(mailbox), (await mailbox.record()).status_reason], [[], null])
  assert.equal(mailbox.account.folder('ab').messages.size, 1)
})

test('a folder whose name the server takes and hides stays with its messages, and is named', async () => {
  const mailbox = await models.attach({}, (account) => {
    account.add('INBOX', modelMessage())
    account.create('Work')
    account.add('Work', modelMessage())
    for (const path of ['.new', '.renamed']) account.hidden.add(path)
  })
  await mailbox.settle(1)
  const { store, mail } = mailbox
  const { id } = await createFolder(mailbox, '.new', null)
  await mailbox.import(modelMessage(), id)
  const { id: work } = store.read.folders.paths(mail).find(({ path }) => path === 'Work')!
  await store.edit.folders.update(mail, work, { name: '.renamed' }, () => {})
  await mailbox.settle(4)
  assert.deepEqual((await named(mailbox)).sort(), [
    ['folder_name', '.new'],
    ['folder_name', '.renamed'],
  ])
  assert.deepEqual([mailbox.here().length, mailbox.there().length], [3, 2])
  await store.edit.folders.update(mail, id, { name: 'New' }, () => {})
  await store.edit.folders.update(mail, work, { name: 'Renamed' }, () => {})
  await mailbox.settle(3)
  assert.deepEqual(await named(mailbox), [])
  mailbox.assertEqual('with other names')
})

test('keywords that the server does not keep stay here, and are named', async () => {
  const mailbox = await models.attach({ keywords: [] }, (account) => account.add('INBOX', modelMessage()))
  await mailbox.settle(1)
  assert.deepEqual(await named(mailbox), [])
  const [id] = idsOf(mailbox) as [string]
  await mailbox.store.edit.messages.change(mailbox.mail, [id], { keywords: { add: ['blue'] } })
  await mailbox.settle(2)
  assert.deepEqual(await named(mailbox), [['labels', 'Inbox']])
  assert.match(mailbox.here()[0]!, /blue/)
})

const idsOf = (mailbox: ModelMailbox) =>
  [...mailbox.store.programs.mail.placements(mailbox.mail, mailbox.numbers()).values()].map(({ id }) => id)

test('a folder in which the server lets nothing be changed is named; changes in it are sent when it lets them', async () => {
  const mailbox = await models.attach({}, (account) => {
    account.create('Shared')
    for (let n = 0; n < 3; n++) account.add('Shared', modelMessage())
    account.readOnly.add('Shared')
  })
  await mailbox.settle(1)
  assert.deepEqual(await named(mailbox), [['read_only', 'Shared']])
  const { store, mail } = mailbox
  const [marked, moved, erased] = idsOf(mailbox) as [string, string, string]
  await store.edit.messages.change(mail, [marked], { keywords: { add: ['$flagged'] } })
  await store.edit.messages.change(mail, [moved], { folders: { set: [store.read.folders.byRole(mail.n, 'inbox').id] } })
  await models.appliance.app.db.write((tx) => store.edit.messages.deleteIn(tx, mail, [erased]))
  await mailbox.settle(1)
  assert.equal(mailbox.here().length, 2)
  assert.equal(mailbox.there().length, 3)
  assert.doesNotMatch(mailbox.there().join(), /flagged|INBOX/)
  mailbox.account.readOnly.clear()
  mailbox.account.touch(mailbox.account.folder('Shared'))
  models.clock.leap(2 * HOUR_MS)
  await mailbox.settle(2)
  assert.deepEqual(await named(mailbox), [])
  mailbox.assertEqual('when it can be changed')
  assert.match(mailbox.there().join(), /flagged/)
})

for (const command of ['STORE', 'MOVE', 'APPEND', 'EXPUNGE']) {
  test(`what the server refuses lastingly is named, and sent when it takes it: ${command}`, async () => {
    const mailbox = await models.attach({}, (account) => {
      account.create('Work')
      for (let n = 0; n < 3; n++) account.add('INBOX', modelMessage())
    })
    await mailbox.settle(1)
    const { store, mail, account } = mailbox
    let refusals = 0
    account.fault = (given, moment) => {
      if (given !== command || moment !== 'before') return
      refusals++
      throw new ServerError('refused', 'Permission denied.')
    }
    const [id] = idsOf(mailbox) as [string]
    const { id: work } = store.read.folders.paths(mail).find(({ path }) => path === 'Work')!
    if (command === 'STORE') await store.edit.messages.change(mail, [id], { keywords: { add: ['$flagged'] } })
    else if (command === 'MOVE') await store.edit.messages.change(mail, [id], { folders: { set: [work] } })
    else if (command === 'APPEND') await mailbox.import(modelMessage(), work)
    else await models.appliance.app.db.write((tx) => store.edit.messages.deleteIn(tx, mail, [id]))
    for (let day = 0; day < 10; day++) {
      models.clock.leap(24 * HOUR_MS)
      await mailbox.settle(1)
      assert.deepEqual(await named(mailbox), [['changes_refused', null]])
    }
    assert.ok(refusals <= 20, `${refusals} times in ten days`)
    const [{ sentence }] = (await mailbox.record()).differences
    assert.match(sentence, command === 'EXPUNGE' ? /deleted here/ : /Permission denied/)
    account.fault = () => {}
    models.clock.leap(25 * HOUR_MS)
    await mailbox.settle(2)
    mailbox.assertEqual('when it is taken')
    assert.deepEqual([await named(mailbox), (await mailbox.record()).status_reason], [[], null])
  })
}

async function createFolder({ store, mail }: ModelMailbox, name: string, parentId: string | null) {
  await store.edit.folders.create(mail, { name, parentId })
  return store.read.folders.paths(mail).find(({ path }) => path.split('/').at(-1) === name)!
}
