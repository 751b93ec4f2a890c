// Drafts and messages never disagree: random edits over both, one after the other and at once, and a check of every draft after each.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId } from '../../../src/base/ids.ts'
import { sha256 } from '../../../src/base/secrets.ts'
import { composeContent } from '../../../src/mime/compose/outgoing-content.ts'
import type { DraftContent, StoredDraft } from '../../../src/store/mailbox/drafts.ts'
import type { Account } from '../../../src/store/rows/records.ts'
import { amount } from '../../support/amount.ts'
import { openTestStore, type TestStore } from '../../support/mailbox.ts'
import { ModelMailbox } from '../../support/model-mailbox.ts'
import { Random } from '../../support/random.ts'

/** Set MODEL_ROUNDS for a long run. */
const ROUNDS = Number(process.env.MODEL_ROUNDS ?? amount(50, 150))

let appliance: TestStore
before(async () => {
  appliance = await openTestStore()
})
after(() => appliance[Symbol.asyncDispose]())

function composed(id: string, subject: string): DraftContent {
  const to = [{ email: `${subject}@else.test`, name: subject }]
  const written = composeContent(
    {
      ...{
        from: { email: 'me@own.test', name: '' },
        to,
        cc: [],
        bcc: to,
        replyTo: [],
        subject,
        headers: [],
        attachments: [],
      },
      ...{ textBody: subject, htmlBody: null, messageId: `${id}@own.test`, seed: newId('draft'), date: 0 },
      ...{ inReplyTo: null, references: [], isUnsent: true },
    },
    true,
  )
  const { hash, sizeBytes } = written
  return {
    members: {
      ...{
        identityId: null,
        from: null,
        to,
        cc: [],
        bcc: to,
        replyTo: null,
        subject,
        attachments: [],
        inReplyTo: null,
      },
      ...{ quote: null, forward: null, sendAt: null, undoSeconds: 0, textBytes: subject.length, htmlBytes: null },
    },
    bodies: sha256(subject),
    message: { parsed: written.message!, bcc: to, hash, sizeBytes },
    thread: undefined,
  }
}

class Writer {
  readonly #box: ModelMailbox
  readonly #random: Random
  #made = 0

  constructor(box: ModelMailbox, random: Random) {
    this.#box = box
    this.#random = random
  }

  get #account(): Account {
    return this.#box.account()
  }

  all(): StoredDraft[] {
    return appliance.store.edit.drafts.list(this.#account, { limit: 100, after: null }).items
  }

  /** One random operation on drafts or on the messages below them; a refused one changes nothing. */
  async work(): Promise<void> {
    const { store, db } = appliance
    const account = this.#account
    const target = { account, ownAddresses: ['me@own.test'], quotaBytes: 1e12 }
    const drafts = this.all()
    const one = drafts.length === 0 ? undefined : this.#random.pick(drafts)
    const subject = `s${++this.#made}`
    if (one === undefined || (drafts.length < 8 && this.#random.chance(0.3))) {
      const id = newId('draft')
      return db.write((tx) => store.edit.drafts.create(tx, target, id, composed(id, subject)))
    }
    const folders = store.read.folders.list(account)
    const { messageId } = one
    const others = () =>
      store.edit.messages.change(account, [messageId], { folders: { add: [this.#random.pick(folders).id] } })
    const move = () =>
      store.edit.messages.change(account, [messageId], { folders: { set: [this.#random.pick(folders).id] } })
    const label = () => store.edit.messages.change(account, [messageId], { keywords: { add: [`k${this.#made % 5}`] } })
    const edit = () =>
      db.write((tx) => {
        const current = store.edit.drafts.get(account, one.id, tx)
        if (current?.revision === one.revision)
          store.edit.drafts.replace(tx, target, current, composed(one.id, subject))
      })
    const erase = () => db.write((tx) => void store.edit.messages.deleteIn(tx, account, [messageId]))
    const remove = () =>
      db.write((tx) => {
        const current = store.edit.drafts.get(account, one.id, tx)
        if (current !== undefined) store.edit.drafts.remove(tx, account, current)
      })
    const doings: (() => Promise<unknown>)[] = [edit, edit, edit, label, others, move, erase, remove]
    // Two at once, on the same draft.
    await Promise.all([this.#random.pick(doings)(), this.#random.pick(doings)()])
  }

  check(what: string): void {
    const { store, db } = appliance
    const account = this.#account
    const drafts = this.all()
    const inDrafts = store.read.folders.byRole(account.n, 'drafts').id
    for (const { messageId, members, id } of drafts) {
      const message = store.read.messages.get(account, messageId)
      assert.ok(message, `${what}: ${id} has its message`)
      assert.ok(message.folderIds.includes(inDrafts), what)
      const { subject, to, bcc } = message
      assert.deepEqual({ subject, to, bcc }, { subject: members.subject, to: members.to, bcc: members.bcc }, what)
      assert.equal(store.edit.drafts.byMessage(account, messageId)?.id, id, what)
    }
    assert.equal(new Set(drafts.map(({ messageId }) => messageId)).size, drafts.length, what)
    // No row outlives its message, wherever that is.
    const rows = db.read.all<{ message_id: string }>('SELECT message_id FROM drafts WHERE account = ?', [account.n])
    for (const { message_id } of rows)
      assert.ok(store.read.messages.get(account, message_id), `${what}: a row without a message`)
  }
}

test('every draft is its message, after any edits of either', async () => {
  const random = new Random(1906)
  const box = await ModelMailbox.open(appliance, random)
  const writer = new Writer(box, random)
  for (let round = 0; round < ROUNDS; round++) {
    if (random.chance(0.2)) await box.work()
    await writer.work()
    writer.check(`round ${round}`)
  }
  await box.recount()
})
