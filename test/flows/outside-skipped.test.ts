// Messages that the server of an outside account does not give: they are skipped, told, and asked for again; the others are fetched.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ServerError } from '../../src/sync/model/server.ts'
import type { ModelAccount } from '../support/model-account.ts'
import { type ModelMailbox, type ModelSetup, modelMessage, startModels } from '../support/outside-model.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

let models: ModelSetup
before(async () => {
  models = await startModels()
})
after(() => models[Symbol.asyncDispose]())

function fill(account: ModelAccount, messages: number): void {
  for (let n = 0; n < messages; n++) account.add('INBOX', modelMessage(), { receivedAt: n * 1000 })
}

const foldersOf = async ({ id }: ModelMailbox) =>
  (await models.appliance.get(`/remote-accounts/${id}/folders`, models.team.key)).body.data

/** What the event of the end of an import says. */
function importedOf({ mailboxId }: ModelMailbox) {
  const sql = "SELECT body FROM events WHERE mailbox_id = ? AND type = 'remote_account.imported'"
  const [event] = models.appliance.app.db.read.all<{ body: string }>(sql, [mailboxId])
  const { messages, messages_skipped: skipped, folders_ignored: ignored } = JSON.parse(event!.body).data
  return { messages, skipped, ignored }
}

for (const kind of ['refusedContents', 'refused'] as const) {
  const what = kind === 'refused' ? 'anything of a message' : 'the content of a message'
  test(`an import whose server refuses ${what} fetches all others, and says what is missing`, async () => {
    const mailbox = await models.attach({}, (account) => {
      fill(account, 300)
      account[kind].add(150)
    })
    await mailbox.settle(1)
    assert.equal(mailbox.here().length, 299)
    const record = await mailbox.record()
    assert.deepEqual([record.status, record.import.state, record.import.messages_done], ['active', 'done', 299])
    assert.match(record.status_reason, /^1 message is not given by the server/)
    assert.deepEqual([record.skipped_messages.messages, record.skipped_messages.too_large], [1, 0])
    assert.notEqual(record.skipped_messages.next_try_at, null)
    assert.deepEqual(importedOf(mailbox), { messages: 299, skipped: 1, ignored: 0 })
    const [inbox] = await foldersOf(mailbox)
    assert.deepEqual([inbox.state, inbox.messages_done, inbox.messages_skipped], ['followed', 299, 1])
    // The server gives it again.
    mailbox.account[kind].clear()
    models.clock.leap(HOUR_MS)
    await mailbox.settle(2)
    mailbox.assertEqual('when the server gives it')
    const after = await mailbox.record()
    assert.deepEqual([after.skipped_messages.messages, after.status_reason, after.import.messages_done], [0, null, 300])
  })

  test(`mail behind a message of which the server refuses ${what.split(' of ')[0]} arrives`, async () => {
    for (const abilities of [{}, { qresync: false, condstore: false }, { qresync: false }]) {
      const mailbox = await models.attach(abilities, (account) => fill(account, 3))
      await mailbox.settle(1)
      const { account } = mailbox
      account[kind].add(account.add('INBOX', modelMessage(), { receivedAt: models.clock.now() }).uid)
      for (let n = 0; n < 2; n++) account.add('INBOX', modelMessage(), { receivedAt: models.clock.now() })
      account.setFlags('INBOX', 1, { add: ['\\Flagged'], remove: [] })
      await mailbox.settle(2)
      assert.equal(mailbox.here().length, 5)
      assert.equal(mailbox.here().filter((line) => line.includes('$flagged')).length, 1, 'changes are seen')
      assert.equal((await mailbox.record()).skipped_messages.messages, 1)
    }
  })
}

test('messages whose flags the server refuses are told, and their changes are followed when it gives them', async () => {
  for (const abilities of [{ qresync: false }, { qresync: false, condstore: false }]) {
    const mailbox = await models.attach(abilities, (account) => fill(account, 5))
    await mailbox.settle(1)
    const { account } = mailbox
    account.refused.add(2)
    for (const uid of [2, 3]) account.setFlags('INBOX', uid, { add: ['\\Flagged'], remove: [] })
    models.clock.leap(HOUR_MS)
    await mailbox.settle(1)
    assert.equal(mailbox.here().filter((line) => line.includes('flagged')).length, 1)
    const { status_reason: reason, differences } = await mailbox.record()
    assert.match(differences[0].sentence, /does not give the flags of 1 message/)
    assert.equal(reason, differences[0].sentence)
    account.refused.clear()
    models.clock.leap(HOUR_MS)
    await mailbox.settle(1)
    mailbox.assertEqual('when it gives them')
    assert.deepEqual((await mailbox.record()).differences, [])
  }
})

test('a message at whose head the connection breaks each time does not keep the others away', async () => {
  const mailbox = await models.attach({}, (account) => {
    fill(account, 30)
    account.breakingHeads.add(15)
  })
  const { account } = mailbox
  await mailbox.settle(6)
  assert.deepEqual([mailbox.here().length, (await mailbox.record()).status], [29, 'active'])
  account.breakingHeads.add(account.add('INBOX', modelMessage(), { receivedAt: models.clock.now() }).uid)
  account.add('INBOX', modelMessage(), { receivedAt: models.clock.now() })
  await mailbox.settle(8)
  const record = await mailbox.record()
  assert.deepEqual([mailbox.here().length, record.status, record.skipped_messages.messages], [30, 'active', 2])
  account.breakingHeads.clear()
  models.clock.leap(8 * DAY_MS)
  await mailbox.settle(2)
  mailbox.assertEqual('when the server gives them')
})

test('a message whose content cannot be compared stays at the server, and the account goes on', async () => {
  const bytes = Buffer.from('From: a@example.com\r\n\r\nNo name\r\n')
  const mailbox = await models.attach({}, (account) => {
    account.add('INBOX', bytes, { receivedAt: 60_000 })
    fill(account, 2)
  })
  await mailbox.settle(1)
  const { store, mail, account } = mailbox
  const placed = [...store.programs.mail.placements(mail, mailbox.numbers()).values()]
  const { id } = placed.find(({ sizeBytes }) => sizeBytes === bytes.length)!
  account.fault = (command, moment) => {
    if (command === 'FETCH PIECE' && moment === 'before') throw new ServerError('delay', 'Broken in a content.')
  }
  await models.appliance.app.db.write((tx) => store.edit.messages.deleteIn(tx, mail, [id]))
  await mailbox.settle(6)
  account.add('INBOX', modelMessage(), { receivedAt: models.clock.now() })
  await mailbox.settle(2)
  const { status, differences } = await mailbox.record()
  assert.deepEqual([mailbox.here().length, mailbox.there().length, status], [3, 4, 'active'])
  assert.match(differences[0].sentence, /deleted here/)
})

test('a skipped message is asked for again after growing pauses', async () => {
  const asked: number[] = []
  const mailbox = await models.attach({}, (account) => {
    fill(account, 2)
    account.refusedContents.add(1)
  })
  await mailbox.settle(1)
  const begin = models.clock.now()
  mailbox.account.fault = (command, moment) => {
    if (command === 'FETCH BODY' && moment === 'before') asked.push(models.clock.now() - begin)
  }
  for (let step = 0; step < 60; step++) {
    models.clock.leap(12 * HOUR_MS)
    await models.appliance.settle()
  }
  assert.ok(asked.length >= 4 && asked.length <= 9, `${asked.length} times`)
  const pauses = asked.slice(1).map((at, index) => at - asked[index]!)
  assert.ok(
    pauses.slice(1).every((pause, index) => pause >= pauses[index]!),
    pauses.join(' '),
  )
  assert.ok(pauses.every((pause) => pause <= 8 * DAY_MS))
})

test('a message that is too large is not counted as imported, and said', async () => {
  const mailbox = await models.attach({}, (account) => {
    fill(account, 2)
    const large = account.add('INBOX', modelMessage())
    account.sizes.set(large.uid, 60_000_000)
  })
  await mailbox.settle(1)
  const record = await mailbox.record()
  assert.deepEqual([record.import.messages_done, record.import.messages_total], [2, 3])
  assert.deepEqual(record.skipped_messages, { messages: 1, too_large: 1, next_try_at: null })
  assert.match(record.status_reason, /1 message is too large/)
  const [inbox] = await foldersOf(mailbox)
  assert.match(inbox.reason, /too large/)
  assert.deepEqual(importedOf(mailbox), { messages: 2, skipped: 1, ignored: 0 })
  // What is removed at the server is missing no longer.
  mailbox.account.remove('INBOX', 3)
  await mailbox.settle(2)
  const after = await mailbox.record()
  assert.deepEqual([after.skipped_messages.messages, after.status_reason], [0, null])
})

test('an import with a folder that the server refuses says so when it is done', async () => {
  const mailbox = await models.attach({}, (account) => {
    fill(account, 2)
    account.create('Locked')
    account.add('Locked', modelMessage())
    account.fault = (command, moment, path) => {
      if (command === 'SELECT' && moment === 'before' && path === 'Locked')
        throw new ServerError('refused', 'Permission denied.')
    }
  })
  await mailbox.settle(2)
  const record = await mailbox.record()
  assert.equal(record.import.state, 'done')
  assert.equal(record.status_reason, 'The folder Locked is not read. Permission denied.')
  assert.deepEqual([record.import.folders_done, record.import.folders_total], [1, 2])
  assert.deepEqual(importedOf(mailbox), { messages: 2, skipped: 0, ignored: 1 })
  mailbox.account.fault = () => {}
  await mailbox.settle(2)
  mailbox.assertEqual('when it opens')
  assert.equal((await mailbox.record()).status_reason, null)
})
