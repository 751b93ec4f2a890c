// Servers that name other sizes than messages have, or have other bytes of a message after it was moved: no message is taken for another one.

import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { ModelAbilities } from '../support/model-account.ts'
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
  ['a server whose sizes are exact', {}],
  ['a server that estimates sizes', { exactSizes: false }],
  [
    'a server without extensions that estimates sizes',
    { exactSizes: false, qresync: false, condstore: false, uidPlus: false, move: false },
  ],
]

let rewritten = 0
/** The header as the server writes it now: each time one of another size. */
const rewrite = (bytes: Buffer) => Buffer.concat([Buffer.from(`X-Server: ${'x'.repeat(++rewritten)}\r\n`), bytes])
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
  const { account } = mailbox
  account.filed = ({ bytes }) => ({ bytes: rewrite(bytes), receivedAt: models.clock.now() })
  return mailbox
}

/** Folder and subject of each message here. */
function here({ store, mail, mailboxId }: ModelMailbox): string[] {
  const paths = new Map(
    store.read.folders.paths(mail).map(({ n, path, role }) => [n, role === 'inbox' ? 'INBOX' : path] as const),
  )
  const sql = `SELECT m.subject, mf.folder FROM messages m JOIN message_folders mf ON mf.message = m.n
    JOIN accounts a ON a.n = m.account WHERE a.mailbox_id = ?`
  const rows = models.appliance.app.db.read.all<{ subject: string; folder: number }>(sql, [mailboxId])
  return rows.map(({ subject, folder }) => `${paths.get(folder)} ${subject}`).sort()
}

/** The same at the server. */
function there({ account }: ModelMailbox): string[] {
  const lines = [...account.folders.values()].flatMap(({ path, messages }) =>
    [...messages.values()].map(({ bytes }) => `${path} ${/^Subject: (.*)\r$/m.exec(String(bytes))![1]}`),
  )
  return lines.sort()
}

function idOf({ mailboxId }: ModelMailbox, subject: string): string {
  const sql = 'SELECT m.id FROM messages m JOIN accounts a ON a.n = m.account WHERE a.mailbox_id = ? AND m.subject = ?'
  return models.appliance.app.db.read.get<{ id: string }>(sql, [mailboxId, subject])!.id
}

/** Deletes messages here, one after the other: each time the same ones are left on both sides. */
async function eraseEach(mailbox: ModelMailbox, subjects: readonly string[]): Promise<void> {
  const { store, mail } = mailbox
  for (const subject of subjects) {
    const id = idOf(mailbox, subject)
    await models.appliance.app.db.write((tx) => store.edit.messages.deleteIn(tx, mail, [id]))
    await mailbox.settle(2)
    const left = there(mailbox)
    assert.ok(!left.some((line) => line.endsWith(subject)), `${subject} was not removed there: ${left}`)
    assert.deepEqual(here(mailbox), left, `after ${subject} was deleted`)
  }
}

const subjectOf = (bytes: Buffer) => /^Subject: (.*)\r$/m.exec(String(bytes))![1]!

for (const [name, abilities] of SERVERS) {
  for (const kind of ['named', 'nameless']) {
    describe(`${name}, ${kind} messages`, () => {
      const messages = () => [1, 2, 3, 4].map((n) => (kind === 'named' ? modelMessage() : nameless(n)))

      test('are told apart when they are moved there', async () => {
        const all = messages()
        const mailbox = await attach(abilities, all)
        const { account } = mailbox
        account.move('INBOX', 1, 'Work')
        account.move('INBOX', 3, 'Work')
        account.move('INBOX', 2, 'Other')
        await mailbox.settle(3)
        assert.deepEqual(here(mailbox), there(mailbox), 'after the moves')
        await eraseEach(mailbox, all.map(subjectOf).slice(1, 3))
        assert.equal(there(mailbox).length, 2)
      })

      test('are told apart when they are moved here', async () => {
        const all = messages()
        const mailbox = await attach(abilities, all)
        const { store, mail } = mailbox
        const folderOf = (path: string) => store.read.folders.paths(mail).find((one) => one.path === path)!.id
        const [one, two, three] = all.map(subjectOf) as [string, string, string, string]
        for (const [subject, path] of [
          [three, 'Work'],
          [one, 'Other'],
          [two, 'Work'],
        ] as const)
          await store.edit.messages.change(mail, [idOf(mailbox, subject)], { folders: { set: [folderOf(path)] } })
        await mailbox.settle(4)
        assert.deepEqual(here(mailbox), there(mailbox), 'after the moves')
        await eraseEach(mailbox, [two, one])
        assert.equal(there(mailbox).length, 2)
      })
    })
  }
}

test('an account at another server that has other bytes of each message is the same', async () => {
  const messages = Array.from({ length: 12 }, () => modelMessage())
  const mailbox = await attach({}, messages)
  const before = mailbox.numbers()
  const { account, id } = mailbox
  const { fetched } = account
  account.renumber('INBOX')
  for (const message of account.folder('INBOX').messages.values()) {
    message.bytes = rewrite(message.bytes)
    message.receivedAt = models.clock.now()
  }
  const change = { imap_host: '127.0.0.2', password: 'a password' }
  await models.appliance.call('PATCH', `/remote-accounts/${id}`, models.team.key, change)
  await mailbox.settle(4)
  const { status, status_reason: reason, held_removals: held } = await mailbox.record()
  assert.deepEqual([status, reason, held], ['active', null, []])
  assert.deepEqual([mailbox.numbers(), account.fetched, here(mailbox)], [before, fetched, there(mailbox)])
  await eraseEach(mailbox, messages.map(subjectOf).slice(4, 6))
  assert.equal(there(mailbox).length, 10)
})
