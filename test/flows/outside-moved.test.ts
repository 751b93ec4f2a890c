// Outside accounts that move to another server, which has their messages under other UIDs, in folders with other paths.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type ModelMailbox, type ModelSetup, modelMessage, startModels } from '../support/outside-model.ts'

let models: ModelSetup
before(async () => {
  models = await startModels()
})
after(() => models[Symbol.asyncDispose]())

/** An account with messages in three folders, imported. */
async function filled(): Promise<ModelMailbox> {
  const mailbox = await models.attach({}, (account) => {
    account.create('Sent', 'sent')
    account.create('Work')
    for (const path of ['INBOX', 'Sent', 'Work'])
      for (let n = 0; n < 12; n++) account.add(path, modelMessage(), { receivedAt: n * 1000 })
  })
  await mailbox.settle(1)
  assert.equal(mailbox.here().length, 36)
  return mailbox
}

/** The account is at another server: other UIDs and dates, and all folders below INBOX. */
function move({ account }: ModelMailbox): void {
  for (const path of ['INBOX', 'Sent', 'Work']) {
    account.renumber(path)
    for (const message of account.folder(path).messages.values()) message.receivedAt = models.clock.now()
  }
  account.rename('Sent', 'INBOX/Sent Messages')
  account.rename('Work', 'INBOX/Work')
}

const changeHost = ({ id }: ModelMailbox, host: string) =>
  models.appliance.call('PATCH', `/remote-accounts/${id}`, models.team.key, { imap_host: host, password: 'a password' })

const idsIn = (mailbox: ModelMailbox) =>
  [...mailbox.store.programs.mail.placements(mailbox.mail, mailbox.numbers()).values()].map(({ id }) => id)

const folders = ({ store, mail }: ModelMailbox) =>
  store.read.folders
    .paths(mail)
    .map(({ path }) => path)
    .sort()

test('messages and folders of an account at another server are the same, and changes made meanwhile are sent', async () => {
  const mailbox = await filled()
  const { store, mail, account } = mailbox
  const [before, paths, { fetched }] = [mailbox.numbers(), folders(mailbox), account]
  const [marked] = idsIn(mailbox) as [string]
  await models.appliance.call('POST', `/remote-accounts/${mailbox.id}/pause`, models.team.key)
  await store.edit.messages.change(mail, [marked], { keywords: { add: ['$flagged'] } })
  move(mailbox)
  await changeHost(mailbox, '127.0.0.2')
  await models.appliance.call('POST', `/remote-accounts/${mailbox.id}/resume`, models.team.key)
  await mailbox.settle(4)
  const { status, status_reason: reason } = await mailbox.record()
  assert.deepEqual([status, reason], ['active', null])
  assert.deepEqual([mailbox.numbers(), mailbox.there().length, account.fetched], [before, 36, fetched])
  assert.deepEqual(folders(mailbox), paths)
  assert.equal(mailbox.there().filter((line) => line.includes('$flagged')).length, 1)
  // It goes on there.
  account.add('INBOX/Work', modelMessage(), { receivedAt: models.clock.now() })
  await mailbox.import(modelMessage(), store.read.folders.byRole(mail.n, 'sent').id)
  await mailbox.settle(2)
  assert.deepEqual([mailbox.here().length, account.folder('INBOX/Sent Messages').messages.size], [38, 13])
})

test('what was not moved to the other server is held here', async () => {
  const mailbox = await filled()
  move(mailbox)
  for (const uid of [1, 2]) mailbox.account.remove('INBOX', uid)
  await changeHost(mailbox, '127.0.0.2')
  await mailbox.settle(4)
  const { status, held_removals: held } = await mailbox.record()
  assert.deepEqual([status, mailbox.here().length], ['active', 36])
  assert.deepEqual(
    held.map(({ at, messages }: { at: string; messages: number }) => [at, messages]),
    [['here', 2]],
  )
})

test('a server that does not have the newest messages yet changes nothing', async () => {
  const mailbox = await filled()
  const before = mailbox.here()
  move(mailbox)
  for (let uid = 7; uid <= 12; uid++) mailbox.account.remove('INBOX', uid)
  for (let uid = 7; uid <= 12; uid++) mailbox.account.remove('INBOX/Work', uid)
  const there = mailbox.there()
  await changeHost(mailbox, '127.0.0.2')
  await mailbox.settle(3)
  const { status, status_reason: reason } = await mailbox.record()
  assert.equal(status, 'error')
  assert.match(reason, /not all of its messages were moved yet/)
  assert.deepEqual([mailbox.here(), mailbox.there()], [before, there])
})
