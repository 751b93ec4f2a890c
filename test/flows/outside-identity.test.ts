// Which message is meant: UIDs that a server uses again, and messages that look alike, never cost another message.

import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { hashOf, type ModelAbilities } from '../support/model-account.ts'
import { type ModelMailbox, type ModelSetup, modelMessage, startModels } from '../support/outside-model.ts'

let models: ModelSetup
before(async () => {
  models = await startModels()
})
after(() => models[Symbol.asyncDispose]())

/** Accounts of the running test: those of others would be followed meanwhile. */
const attached: ModelMailbox[] = []
afterEach(async () => {
  for (const { id } of attached.splice(0))
    await models.appliance.call('POST', `/remote-accounts/${id}/pause`, models.team.key)
})

const SERVERS: [string, ModelAbilities][] = [
  ['QRESYNC', {}],
  ['UIDPLUS without MOVE and CONDSTORE', { qresync: false, condstore: false, move: false }],
  ['none of the extensions', { qresync: false, condstore: false, uidPlus: false }],
]

/** Messages without Message-ID, of one size. */
const nameless = (n: number) => Buffer.from(`From: a@example.com\r\nSubject: Report ${n}\r\n\r\nText ${n}\r\n`)

async function attach(abilities: ModelAbilities, messages: readonly Buffer[]): Promise<ModelMailbox> {
  const mailbox = await models.attach(abilities, (account) => {
    account.create('Other')
    account.create('Work')
    for (const bytes of messages) account.add('INBOX', bytes, { receivedAt: 60_000 })
  })
  attached.push(mailbox)
  await mailbox.settle(1)
  mailbox.assertEqual('after the import')
  return mailbox
}

const folderOf = ({ store, mail }: ModelMailbox, path: string) =>
  store.read.folders.paths(mail).find((one) => one.path === path)!.id

/** The id of the message here with a content. */
function idWith(mailbox: ModelMailbox, bytes: Buffer): string {
  const numbers = mailbox.numbers()
  const contents = mailbox.store.programs.mail.contents(numbers)
  const n = numbers.find((one) => Buffer.from(contents.get(one)!.blob).toString('hex').startsWith(hashOf(bytes)))!
  return mailbox.store.programs.mail.placements(mailbox.mail, [n]).get(n)!.id
}

const erase = ({ store, mail }: ModelMailbox, id: string) =>
  models.appliance.app.db.write((tx) => store.edit.messages.deleteIn(tx, mail, [id]))
const isIn = (lines: readonly string[], bytes: Buffer) => lines.some((line) => line.includes(hashOf(bytes)))

for (const [name, abilities] of SERVERS) {
  for (const kind of ['named', 'nameless']) {
    test(`${name}: nothing is done to a ${kind} message that has the UID of another one`, async () => {
      for (const change of ['erase', 'move', 'flag', 'leave'] as const) {
        const [first, second] = [modelMessage(), kind === 'named' ? modelMessage() : nameless(1)]
        const mailbox = await attach(abilities, [first, second])
        const { store, mail, account } = mailbox
        const id = idWith(mailbox, second)
        if (change === 'leave') {
          await store.edit.messages.change(mail, [id], { folders: { add: [folderOf(mailbox, 'Work')] } })
          await mailbox.settle(1)
        }
        const other = kind === 'named' ? modelMessage() : nameless(2)
        account.replace('INBOX', 2, other)
        if (change === 'erase') await erase(mailbox, id)
        else if (change === 'flag') await store.edit.messages.change(mail, [id], { keywords: { add: ['$flagged'] } })
        else await store.edit.messages.change(mail, [id], { folders: { set: [folderOf(mailbox, 'Work')] } })
        await mailbox.settle(3)
        const line = `INBOX ${hashOf(other)}`
        assert.ok(mailbox.there().includes(line), `${change}: ${mailbox.there()}`)
        assert.ok(mailbox.here().includes(line), `${change}: it is here as well`)
        if (change !== 'flag') mailbox.assertEqual(change)
      }
    })
  }

  for (const withModSeq of [true, false]) {
    test(`${name}: new messages with UIDs of lost ones are read${withModSeq ? ' when modification numbers go back' : ''}`, async () => {
      const mailbox = await attach(abilities, [modelMessage(), nameless(1)])
      const { account } = mailbox
      const backup = structuredClone(account.folder('INBOX'))
      const lost = [modelMessage(), nameless(2)]
      for (const bytes of lost) account.add('INBOX', bytes, { receivedAt: 60_000 })
      await mailbox.settle(1)
      mailbox.assertEqual('before')
      account.restore('INBOX', backup, withModSeq)
      const fresh = [modelMessage(), nameless(3), modelMessage()]
      for (const bytes of fresh) account.add('INBOX', bytes, { receivedAt: 60_000 })
      await mailbox.settle(3)
      for (const bytes of fresh) assert.ok(isIn(mailbox.here(), bytes))
      // The server lost them: a person decides.
      for (const bytes of lost) assert.ok(isIn(mailbox.here(), bytes))
      assert.equal(mailbox.here().length, 7)
      assert.deepEqual(
        (await mailbox.record()).held_removals.map(({ messages }: { messages: number }) => messages),
        [2],
      )
    })
  }

  test(`${name}: a folder that lost as many messages as it got is read again`, async () => {
    const mailbox = await attach(abilities, [modelMessage(), modelMessage()])
    const { account } = mailbox
    const backup = structuredClone(account.folder('INBOX'))
    const [lost, fresh] = [modelMessage(), modelMessage()]
    account.add('INBOX', lost, { receivedAt: 60_000 })
    await mailbox.settle(1)
    mailbox.assertEqual('before')
    account.restore('INBOX', backup, false)
    account.add('INBOX', fresh, { receivedAt: 90_000 })
    await mailbox.settle(3)
    assert.ok(isIn(mailbox.here(), fresh) && isIn(mailbox.here(), lost))
    assert.deepEqual(
      (await mailbox.record()).held_removals.map(({ messages }: { messages: number }) => messages),
      [1],
    )
  })

  test(`${name}: messages that look alike are told apart when they are moved there`, async () => {
    const alike = [1, 2, 3].map(nameless)
    const mailbox = await attach(abilities, alike)
    const before = mailbox.numbers()
    const { account } = mailbox
    const { fetched } = account
    account.move('INBOX', 1, 'Work')
    account.move('INBOX', 3, 'Work')
    account.move('INBOX', 2, 'Other')
    await mailbox.settle(2)
    mailbox.assertEqual('after the moves')
    assert.deepEqual([mailbox.numbers(), account.fetched], [before, fetched], 'they are the same')
    await erase(mailbox, idWith(mailbox, alike[1]!))
    await mailbox.settle(2)
    assert.equal(account.folder('Other').messages.size, 0)
    mailbox.assertEqual('after one was deleted here')
    assert.equal(mailbox.there().length, 2)
  })

  test(`${name}: messages that look alike are told apart when they are moved and copied here`, async () => {
    const alike = [1, 2, 3, 4].map(nameless)
    const mailbox = await attach(abilities, alike)
    const { store, mail } = mailbox
    const [one, two, three] = alike.map((bytes) => idWith(mailbox, bytes)) as [string, string, string]
    await store.edit.messages.change(mail, [three], { folders: { set: [folderOf(mailbox, 'Work')] } })
    await store.edit.messages.change(mail, [one], { folders: { add: [folderOf(mailbox, 'Work')] } })
    await store.edit.messages.change(mail, [two], { folders: { set: [folderOf(mailbox, 'Work')] } })
    await mailbox.settle(2)
    mailbox.assertEqual('after the changes')
    await erase(mailbox, two)
    await mailbox.settle(2)
    assert.ok(!isIn(mailbox.there(), alike[1]!))
    mailbox.assertEqual('after one was deleted here')
    assert.equal(mailbox.there().length, 4)
  })

  test(`${name}: a message that looks like one that was deleted there is another one`, async () => {
    const mailbox = await attach(abilities, [nameless(1), modelMessage()])
    const { account } = mailbox
    account.remove('INBOX', 1)
    account.add('Work', nameless(2), { receivedAt: 60_000 })
    await mailbox.settle(3)
    mailbox.assertEqual('after both')
    assert.equal(mailbox.there().length, 2)
  })
}
