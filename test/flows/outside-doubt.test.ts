// Answers of a server that contradict each other: nothing is taken out for one that says that messages are gone.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type ModelMailbox, type ModelSetup, modelMessage, startModels } from '../support/outside-model.ts'

let models: ModelSetup
before(async () => {
  models = await startModels()
})
after(() => models[Symbol.asyncDispose]())

async function filled(abilities: object): Promise<ModelMailbox> {
  const mailbox = await models.attach(abilities, (account) => {
    account.create('Work')
    for (let n = 0; n < 12; n++) account.add('INBOX', modelMessage(), { receivedAt: n * 1000 })
    for (let n = 0; n < 12; n++) account.add('Work', modelMessage(), { receivedAt: n * 1000 })
  })
  await mailbox.settle(1)
  mailbox.assertEqual('after the import')
  return mailbox
}

for (const [name, abilities] of [
  ['with QRESYNC', {}],
  ['without CONDSTORE', { condstore: false, qresync: false }],
] as const) {
  test(`${name}: messages that a search leaves out and FETCH gives are there`, async () => {
    const mailbox = await filled(abilities)
    const { account } = mailbox
    const before = mailbox.numbers()
    for (const uid of [3, 4, 5, 6, 7]) account.unsearched.add(uid)
    // Another client removes one, and one arrives: the folder is looked at.
    account.remove('INBOX', 9)
    account.add('INBOX', modelMessage())
    account.renumber('Work')
    await mailbox.settle(4)
    mailbox.assertEqual('after a removal')
    assert.equal(mailbox.numbers().filter((n) => before.includes(n)).length, 23)
    assert.equal(account.fetched, 25)
  })
}

test('messages that a server names as vanished, and gives, are there', async () => {
  const mailbox = await filled({})
  const { account } = mailbox
  const inbox = account.folder('INBOX')
  const before = mailbox.numbers()
  for (const uid of [3, 4, 5]) inbox.vanished.push({ uid, modSeq: account.touch(inbox) })
  account.remove('INBOX', 9)
  await mailbox.settle(4)
  mailbox.assertEqual('after a removal')
  assert.equal(mailbox.numbers().filter((n) => before.includes(n)).length, 23)
})

test('a folder that lists leave out and that can be selected is kept with its messages, and people are told', async () => {
  const mailbox = await filled({})
  const { account } = mailbox
  const before = mailbox.numbers()
  account.hidden.add('Work')
  await mailbox.settle(4)
  assert.deepEqual(mailbox.numbers(), before)
  const { differences } = await mailbox.record()
  assert.deepEqual(
    differences.map(({ kind, folder }: { kind: string; folder: string }) => [kind, folder]),
    [['folder_left_out', 'Work']],
  )
  account.hidden.clear()
  await mailbox.settle(3)
  mailbox.assertEqual('when it is listed again')
  assert.deepEqual([mailbox.numbers(), account.fetched], [before, 24])
  assert.deepEqual((await mailbox.record()).differences, [])
  account.folders.delete('Work')
  await mailbox.settle(4)
  mailbox.assertEqual('when it is gone')
})

test('a message with the Message-ID and the size of one that is gone is another one', async () => {
  const mailbox = await filled({})
  const { account } = mailbox
  const [gone] = account.folder('Work').messages.values()
  const { bytes } = gone!
  account.remove('Work', gone!.uid)
  const other = Buffer.from(bytes.toString('latin1').replace('From: a@', 'From: b@'), 'latin1')
  account.add('INBOX', other, { receivedAt: models.clock.now() })
  await mailbox.settle(3)
  mailbox.assertEqual('after both')
  assert.equal(account.fetched, 25)
})

test('changes that a server does not name are seen by the number of its messages', async () => {
  const mailbox = await filled({})
  const { account } = mailbox
  const inbox = account.folder('INBOX')
  inbox.messages.delete(5)
  account.touch(inbox)
  await mailbox.settle(2)
  mailbox.assertEqual('without one')
  // Behind the last one that was seen, under a UID that was passed over.
  models.clock.advance(31 * 60_000)
  const { uid } = account.add('INBOX', modelMessage())
  inbox.messages.set(5, { ...inbox.messages.get(uid)!, uid: 5, bytes: modelMessage(), modSeq: 0 })
  await mailbox.settle(3)
  mailbox.assertEqual('with two more')
})

test('a folder that is numbered again, from the beginning, is not taken for an earlier state of it', async () => {
  const mailbox = await filled({})
  mailbox.account.remove('INBOX', 5)
  mailbox.account.renumber('INBOX')
  await mailbox.settle(4)
  mailbox.assertEqual('without the one that was removed')
})
