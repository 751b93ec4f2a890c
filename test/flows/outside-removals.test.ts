// Messages that are deleted here: how many of them are removed at the server of an outside account, and when a person has to confirm it.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ServerError } from '../../src/sync/model/server.ts'
import type { Json } from '../support/appliance.ts'
import type { ModelAbilities } from '../support/model-account.ts'
import { type ModelMailbox, type ModelSetup, modelMessage, startModels } from '../support/outside-model.ts'

const DAY = 86_400_000

let models: ModelSetup
before(async () => {
  models = await startModels()
})
after(() => models[Symbol.asyncDispose]())

const confirm = (mailbox: ModelMailbox, body?: object) =>
  models.appliance.call('POST', `/remote-accounts/${mailbox.id}/confirm-removal`, models.team.key, body)

const held = async (mailbox: ModelMailbox) =>
  (await mailbox.record()).held_removals.map(({ at, messages, folders }: Json) => [at, messages, folders])

const messages = (count: number) => Array.from({ length: count }, () => modelMessage())

/** An account with messages in its Inbox, imported. */
async function filled(bytes: readonly Buffer[], abilities: ModelAbilities = {}): Promise<ModelMailbox> {
  const mailbox = await models.attach(abilities, (account) => {
    for (const [n, one] of bytes.entries()) account.add('INBOX', one, { receivedAt: n * 1000 })
  })
  await mailbox.settle(1)
  assert.equal(mailbox.here().length, bytes.length)
  return mailbox
}

/** Deletes messages as a mail program does: a hundred at a time. */
async function erase({ store, mail }: ModelMailbox, numbers: readonly number[]): Promise<void> {
  for (let at = 0; at < numbers.length; at += 100) {
    const placed = store.programs.mail.placements(mail, numbers.slice(at, at + 100))
    const ids = [...placed.values()].map(({ id }) => id)
    await models.appliance.app.db.write((tx) => store.edit.messages.deleteIn(tx, mail, ids))
  }
}

async function settlesWith(mailbox: ModelMailbox, there: number): Promise<void> {
  await mailbox.settle(2)
  assert.equal(mailbox.there().length, there)
}

test('many messages deleted here stay at the server until it is confirmed; time does not do it', async () => {
  const mailbox = await filled(messages(1100))
  await erase(mailbox, mailbox.numbers().slice(0, 700))
  await settlesWith(mailbox, 400)
  assert.deepEqual(await held(mailbox), [])
  await erase(mailbox, mailbox.numbers().slice(0, 350))
  await settlesWith(mailbox, 400)
  const record = await mailbox.record()
  assert.deepEqual(await held(mailbox), [['server', 350, ['Inbox']]], 'what was deleted on one day is one removal')
  assert.equal(record.status, 'active')
  assert.match(record.status_reason, /350 messages were deleted here\..*kept at the server/)
  assert.equal(record.allowed_actions.confirm_removal, true)
  models.clock.leap(3 * DAY)
  mailbox.account.add('INBOX', modelMessage(), { receivedAt: models.clock.now() })
  await mailbox.settle(2)
  assert.deepEqual([mailbox.here().length, mailbox.there().length], [51, 401], 'the rest goes on')
  const sql = "SELECT body FROM events WHERE mailbox_id = ? AND type = 'remote_account.failed'"
  const events = await models.appliance.app.db.scan.all<{ body: string }>(sql, [mailbox.mailboxId])
  assert.deepEqual(
    events.map(({ body }) => JSON.parse(body).data.reason),
    ['mass_removal'],
  )
  assert.equal((await confirm(mailbox, { at: 'here' })).status, 409)
  assert.equal((await confirm(mailbox, { at: 'server' })).status, 200)
  await settlesWith(mailbox, 51)
  mailbox.assertEqual('after the confirmation')
  assert.equal((await confirm(mailbox)).status, 409)
  assert.equal((await mailbox.record()).status_reason, null)
})

test('what is deleted after a confirmation is held back by itself, although the server has refused some of it', async () => {
  const mailbox = await filled(messages(2150))
  await erase(mailbox, mailbox.numbers().slice(0, 1100))
  await mailbox.settle(1)
  assert.deepEqual(await held(mailbox), [['server', 1100, ['Inbox']]])
  let expunged = 0
  mailbox.account.fault = (command, moment) => {
    if (command !== 'EXPUNGE' || moment !== 'before' || ++expunged <= 2) return
    throw new ServerError('refused', 'Not now.')
  }
  assert.equal((await confirm(mailbox)).status, 200)
  await models.appliance.settle()
  assert.equal(mailbox.there().length, 1150)
  mailbox.account.fault = () => {}
  await erase(mailbox, mailbox.numbers().slice(0, 1000))
  await models.appliance.settle()
  assert.equal(mailbox.there().length, 1150)
  assert.deepEqual(await held(mailbox), [['server', 1100, ['Inbox']]])
})

test('messages that are put back here are the same at the server, and lift the hold', async () => {
  const bytes = messages(1050)
  const mailbox = await filled(bytes)
  await erase(mailbox, mailbox.numbers())
  await settlesWith(mailbox, 1050)
  assert.deepEqual(await held(mailbox), [['server', 1050, ['Inbox']]])
  const uids = [...mailbox.account.folder('INBOX').messages.keys()]
  const inbox = mailbox.store.read.folders.byRole(mailbox.mail.n, 'inbox').id
  for (const one of bytes.slice(-60)) await mailbox.import(one, inbox, ['$flagged'])
  await settlesWith(mailbox, 60)
  mailbox.assertEqual('after they were put back')
  assert.deepEqual([...mailbox.account.folder('INBOX').messages.keys()], uids.slice(-60), 'none is stored twice')
  assert.deepEqual(await held(mailbox), [])
})

test('folders that are emptied one by one are one removal; Trash is there to be emptied', async () => {
  const paths = ['Trash', 'A', 'B', 'C']
  const mailbox = await models.attach({}, (account) => {
    account.create('Trash', 'trash')
    for (let n = 0; n < 1001; n++) account.add('Trash', modelMessage(), { receivedAt: n * 1000 })
    for (const path of paths.slice(1)) {
      account.create(path)
      for (let n = 0; n < 350; n++) account.add(path, modelMessage(), { receivedAt: n * 1000 })
    }
  })
  await mailbox.settle(1)
  const { store, mail } = mailbox
  for (const path of paths) {
    const { n } = store.read.folders.paths(mail).find((one) => one.path === path)!
    const entries = store.programs.views.entries(n, [{ first: 1, last: 2 ** 32 }], 2000)
    await erase(
      mailbox,
      entries.map(({ message }) => message),
    )
    await models.appliance.settle()
  }
  await settlesWith(mailbox, 350)
  assert.deepEqual(await held(mailbox), [['server', 350, ['C']]])
})

test('without UIDPLUS, what cannot be removed because of marks of others does not come back', async () => {
  const mailbox = await filled(messages(3), { qresync: false, condstore: false, uidPlus: false })
  mailbox.account.setFlags('INBOX', 1, { add: ['\\Deleted'], remove: [] })
  await mailbox.settle(1)
  await erase(mailbox, mailbox.numbers().slice(0, 1))
  await mailbox.settle(3)
  assert.deepEqual([mailbox.here().length, mailbox.there().length], [2, 3])
  mailbox.account.setFlags('INBOX', 1, { add: [], remove: ['\\Deleted'] })
  await mailbox.settle(5)
  assert.equal(mailbox.there().length, 2)
  mailbox.assertEqual('when no other message is marked')
})

test('with labels, what is deleted here goes to Trash there', async () => {
  const mailbox = await models.attach({ labels: true }, (account) => {
    for (let n = 0; n < 2; n++) account.add('[Gmail]/All Mail', modelMessage(), { labels: ['\\Inbox'] })
  })
  await mailbox.settle(1)
  await erase(mailbox, mailbox.numbers().slice(0, 1))
  await mailbox.settle(2)
  const counts = ['[Gmail]/All Mail', '[Gmail]/Trash'].map((path) => mailbox.account.folder(path).messages.size)
  assert.deepEqual(counts, [1, 1])
  assert.equal(mailbox.here().length, 1)
})
