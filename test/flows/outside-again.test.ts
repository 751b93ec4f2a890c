// Outside accounts that were ended and are attached again: nothing is stored twice on either side, and ids stay.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type ModelMailbox, type ModelSetup, modelMessage, startModels } from '../support/outside-model.ts'

let models: ModelSetup
before(async () => {
  models = await startModels()
})
after(() => models[Symbol.asyncDispose]())

const end = async (id: string, kept = 'keep') => {
  const reply = await models.appliance.call('DELETE', `/remote-accounts/${id}?on_messages=${kept}`, models.team.key)
  assert.equal(reply.status, 200)
  await models.appliance.settle()
}

const attach = (email: string, more: object = {}) =>
  models.appliance.call('POST', '/remote-accounts', models.team.key, {
    ...{ email, password: 'a password', imap_host: '127.0.0.1', imap_port: 143, imap_protocol: 'none' },
    ...more,
  })

async function mirror(): Promise<{ mailbox: ModelMailbox; email: string }> {
  const mailbox = await models.attach({}, (account) => {
    account.create('Work')
    for (let n = 0; n < 5; n++) account.add('INBOX', modelMessage(), { receivedAt: n * 1000 })
    for (let n = 0; n < 2; n++) account.add('Work', modelMessage(), { receivedAt: n * 1000 })
  })
  await mailbox.settle(1)
  return { mailbox, email: (await mailbox.record()).email }
}

test('an account that was ended and kept is attached again to its mailbox, and goes on with what changed since', async () => {
  const { mailbox, email } = await mirror()
  const { account } = mailbox
  const [numbers, fetched] = [mailbox.numbers(), account.fetched]
  await end(mailbox.id)
  account.setFlags('INBOX', 1, { add: ['\\Flagged'], remove: [] })
  account.move('INBOX', 2, 'Work')
  account.add('INBOX', modelMessage(), { receivedAt: models.clock.now() })
  models.clock.advance(60_000)
  const again = await attach(email, { display_name: 'Ana' })
  assert.equal(again.status, 201, JSON.stringify(again.body))
  assert.equal(again.body.data.mailbox_id, mailbox.mailboxId)
  assert.notEqual(again.body.data.id, mailbox.id)
  await mailbox.settle(2)
  mailbox.assertEqual('after it was attached again')
  assert.deepEqual([mailbox.numbers().slice(0, 7), account.fetched], [numbers, fetched + 1])
  const box = (await models.appliance.get(`/mailboxes/${mailbox.mailboxId}`, models.team.key)).body.data
  assert.deepEqual([box.status, box.display_name], ['active', 'Ana'])
  const record = (await models.appliance.get(`/remote-accounts/${again.body.data.id}`, models.team.key)).body.data
  assert.deepEqual([record.status, record.import.state], ['active', 'done'])
  const sql = "SELECT count(*) AS count FROM events WHERE mailbox_id = ? AND type = 'message.received'"
  const rows = await models.appliance.app.db.scan.all<{ count: number }>(sql, [mailbox.mailboxId])
  assert.deepEqual(rows, [{ count: 0 }], 'what came while it was not attached is old mail')
})

test('another account at the address is not mixed with the messages that stayed', async () => {
  const { mailbox, email } = await mirror()
  await end(mailbox.id)
  for (const folder of mailbox.account.folders.values()) {
    folder.messages.clear()
    folder.uidValidity += 1
    folder.uidNext = 1
  }
  mailbox.account.add('INBOX', modelMessage())
  const again = (await attach(email)).body.data
  await mailbox.settle(2)
  const record = (await models.appliance.get(`/remote-accounts/${again.id}`, models.team.key)).body.data
  assert.equal(record.status, 'error')
  assert.deepEqual([mailbox.here().length, mailbox.there().length], [7, 1])
})

test('a kept mailbox that cannot be the account again is named, with what to do', async () => {
  const { mailbox, email } = await mirror()
  await end(mailbox.id)
  const path = `/mailboxes/${mailbox.mailboxId}/suspend`
  assert.equal((await models.appliance.call('POST', path, models.team.key, { reason: 'Left.' })).status, 200)
  const refused = await attach(email)
  assert.equal(refused.status, 409)
  assert.match(refused.body.error.message, new RegExp(`${mailbox.mailboxId}.*Reactivate it first`))
  const deleted = await models.appliance.call('DELETE', `/mailboxes/${mailbox.mailboxId}`, models.team.key)
  assert.equal(deleted.status, 200)
  await models.appliance.settle()
  assert.deepEqual(
    models.appliance.app.db.read.all('SELECT * FROM remote_ended WHERE mailbox_id = ?', [mailbox.mailboxId]),
    [],
  )
  assert.equal((await attach(email)).status, 201)
})

test('mail that was collected is not collected again when the account is attached again', async () => {
  await models.team.domain('again.test')
  const hosted = await models.team.mailbox('me@again.test')
  const mailbox = await models.attach({}, (account) => void account.add('INBOX', modelMessage()), {
    ...{ mode: 'collect', mailbox_id: hosted.id },
  })
  await mailbox.settle(1)
  const { email } = await mailbox.record()
  await end(mailbox.id)
  mailbox.account.add('INBOX', modelMessage(), { receivedAt: models.clock.now() })
  const again = await attach(email, { mode: 'collect', mailbox_id: hosted.id })
  assert.equal(again.status, 201, JSON.stringify(again.body))
  await mailbox.settle(2)
  assert.equal((await models.appliance.get('/mailbox/messages', hosted.key)).body.data.length, 2)
  assert.equal(mailbox.account.fetched, 2)
})
