// What of an outside account is lastingly not as it is at its server: each is named with a sentence and a next step.

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
  await store.folderEdits.update(mail, id, { name: 'ab' }, () => {})
  await mailbox.settle(2)
  assert.deepEqual([await named(mailbox), (await mailbox.record()).status_reason], [[], null])
  assert.equal(mailbox.account.folder('ab').messages.size, 1)
})

test('a folder in which the server lets nothing be changed is named, and changes in it stay here', async () => {
  const mailbox = await models.attach({}, (account) => {
    account.create('Shared')
    account.add('Shared', modelMessage())
    account.readOnly.add('Shared')
  })
  await mailbox.settle(1)
  assert.deepEqual(await named(mailbox), [['read_only', 'Shared']])
  const placed = mailbox.store.mail.placements(mailbox.mail, mailbox.numbers())
  const ids = [...placed.values()].map(({ id }) => id)
  await mailbox.store.edits.change(mailbox.mail, ids, { keywords: { add: ['$flagged'] } })
  await mailbox.settle(1)
  assert.match(mailbox.here()[0]!, /flagged/)
  assert.doesNotMatch(mailbox.there()[0]!, /flagged/)
  mailbox.account.readOnly.clear()
  mailbox.account.touch(mailbox.account.folder('Shared'))
  await mailbox.settle(1)
  assert.deepEqual(await named(mailbox), [])
})

async function createFolder({ store, mail }: ModelMailbox, name: string, parentId: string | null) {
  await store.folderEdits.create(mail, { name, parentId })
  return store.folders.paths(mail).find(({ path }) => path.split('/').at(-1) === name)!
}
