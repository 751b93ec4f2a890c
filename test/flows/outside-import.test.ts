// The import of a large outside account: what changes on either side meanwhile has its turn, and nothing of it is missed.

import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { hashOf, type ModelAccount } from '../support/model-account.ts'
import { type ModelMailbox, type ModelSetup, modelMessage, startModels } from '../support/outside-model.ts'

/** Messages that are fetched together. */
const BATCH = 50
/** What fetching them takes, ms: as of a server that is read at its pace limit. */
const BATCH_MS = 2000

let models: ModelSetup
before(async () => {
  // A team may have four fifths of them: two.
  models = await startModels({ REMOTE_CONNECTIONS: '3' })
})
after(() => models[Symbol.asyncDispose]())

/** Their connections would be missing in the next test. */
const attached: ModelMailbox[] = []
afterEach(async () => {
  for (const { id } of attached.splice(0))
    await models.appliance.call('POST', `/remote-accounts/${id}/pause`, models.team.key)
  await models.appliance.settle()
})

async function attach(fillAccount: (account: ModelAccount) => void): Promise<ModelMailbox> {
  const mailbox = await models.attach({}, fillAccount)
  attached.push(mailbox)
  return mailbox
}

/** Calls `each` before a command, with how often it was given. */
function on(account: ModelAccount, command: string, each: (count: number) => void): void {
  let count = 0
  const { fault } = account
  account.fault = (given, moment) => {
    fault(given, moment)
    if (given === command && moment === 'before') each(++count)
  }
}

function fill(account: ModelAccount, messages: number): void {
  for (let n = 0; n < messages; n++) account.add('INBOX', modelMessage(), { receivedAt: n * 1000 })
}

const isHere = (mailbox: ModelMailbox, bytes: Buffer) => mailbox.here().some((line) => line.includes(hashOf(bytes)))

/** Flags a message that is here already. */
async function flagOne(mailbox: ModelMailbox): Promise<void> {
  const { store, mail } = mailbox
  const [placement] = store.programs.mail.placements(mail, mailbox.numbers().slice(-1)).values()
  await store.edit.messages.change(mail, [placement!.id], { keywords: { add: ['$flagged'] } })
}

test('new mail and changes here have their turn while old mail is imported', async () => {
  const isAt = { added: 0, stored: 0, flagged: 0, sent: 0 }
  let [logins, fetched] = [0, 0]
  let mailbox: ModelMailbox | undefined
  const arrived = modelMessage('new ')
  mailbox = await attach((account) => {
    fill(account, 16 * BATCH)
    on(account, 'LOGIN', () => logins++)
    on(account, 'STORE', () => {
      isAt.sent = fetched
    })
    on(account, 'FETCH BODY', (count) => {
      fetched = count
      models.clock.advance(BATCH_MS)
      if (mailbox === undefined) return
      if (isAt.added > 0 && isAt.stored === 0 && isHere(mailbox, arrived)) isAt.stored = count
      if (count === 6) {
        account.add('INBOX', arrived, { receivedAt: models.clock.now() })
        isAt.added = count
      }
      if (count === 10) void flagOne(mailbox).then(() => (isAt.flagged = fetched))
    })
  })
  await models.appliance.settle()
  mailbox.assertEqual('after the import')
  assert.equal(logins, 2)
  assert.ok(isAt.stored > isAt.added && isAt.stored <= isAt.added + 4, JSON.stringify(isAt))
  assert.ok(isAt.flagged >= 10 && isAt.sent <= isAt.flagged + 2, JSON.stringify(isAt))
})

test('a message that arrives while another folder is read is seen without the next list', async () => {
  const mailbox = await attach((account) => {
    account.create('Work')
    fill(account, 1)
    account.add('Work', modelMessage())
    on(account, 'FETCH BODY', (count) => {
      if (count === 2) account.add('INBOX', modelMessage())
    })
  })
  await models.appliance.settle()
  mailbox.assertEqual('after the import')
  assert.equal(mailbox.account.folder('INBOX').messages.size, 2)
})

test('a second connection gives way to an account without one', async () => {
  let [logins, fetched, other] = [0, 0, 0]
  let second: Promise<ModelMailbox> | undefined
  const fillOther = (account: ModelAccount) => {
    fill(account, 1)
    on(account, 'FETCH BODY', () => {
      other = fetched
    })
  }
  const mailbox = await attach((account) => {
    fill(account, 16 * BATCH)
    on(account, 'LOGIN', () => logins++)
    on(account, 'FETCH BODY', (count) => {
      fetched = count
      models.clock.advance(BATCH_MS)
      if (count === 6) second = attach(fillOther)
    })
  })
  await models.appliance.settle()
  for (const one of [mailbox, await second!]) one.assertEqual('after the import')
  assert.equal(logins, 2)
  assert.ok(other > 6 && other < 16, String(other))
})
