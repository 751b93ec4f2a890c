// What a mailbox keeps of the mail it sends: the copy, its thread, the submission, the mark on what was answered.

import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { newId } from '../../../src/base/ids.ts'
import { sha256 } from '../../../src/base/secrets.ts'
import type { ParsedMessage } from '../../../src/mime/message.ts'
import type { Account, ChangeType } from '../../../src/store/records.ts'
import type { AcceptedSubmission, RecordedSubmission } from '../../../src/store/sent.ts'
import type { Inspection } from '../../../src/workers/inspection.ts'
import { mailOf, openTestStore, person, type TestStore } from '../../support/mailbox.ts'

const ME = 'me@shop.test'

let house: TestStore
let mailboxId: string
let account: Account

before(async () => {
  house = await openTestStore()
})
beforeEach(async () => {
  mailboxId = newId('mailbox')
  await house.db.write((tx) => house.store.openAccount(tx, mailboxId, 'ana@shop.test'))
  account = (await house.store.accounts.byMailbox(mailboxId))!
})
after(() => house[Symbol.asyncDispose]())

const again = async () => (await house.store.accounts.byMailbox(mailboxId))!

/** A mail that comes in. @returns the id of its message */
async function arrive(given: Partial<ParsedMessage>): Promise<string> {
  const bytes = Buffer.from(newId('message'))
  const inspection = {
    message: mailOf({ from: [person('bob@else.test')], to: [person(ME)], ...given }),
    hash: sha256(bytes),
    arrivedHash: sha256(bytes),
    sizeBytes: bytes.length,
    linkTokens: [],
    chunks: [{ start: 0, sizeBytes: bytes.length, zstd: false, data: bytes }],
  } as unknown as Inspection
  const none = 'none' as const
  const target = {
    mailboxId,
    rcptTo: ME,
    email: ME,
    quotaBytes: 1e9,
    junk: false,
    authentication: { spf: none, dkim: none, dmarc: none, arc: none, fromAligned: false, reasons: [] },
    spam: { score: 0, isSpam: false, reasons: [] },
  }
  const receivedAt = house.clock.now()
  const arrived = { inspection, mailFrom: 'bob@else.test', receivedAt }
  const [delivered] = await house.store.deliver(arrived, [target], async () => {})
  return delivered!.messageId!
}

/** What the mailbox sends; `mail` says nothing but what is given. */
function sending(mail: Partial<ParsedMessage>, more: Partial<AcceptedSubmission> = {}): AcceptedSubmission {
  const subject = mail.subject ?? 'Hello'
  return {
    emailId: newId('email'),
    subject,
    copy: {
      mail: mailOf({ from: [person(ME)], to: [person('bob@else.test')], subject, ...mail }),
      bcc: [],
      hash: sha256(subject),
      sizeBytes: 500,
    },
    envelope: { mailFrom: 'b+1@bounce.shop.test', rcptTo: ['bob@else.test'] },
    own: [ME],
    answers: null,
    identityId: newId('identity'),
    sendAt: house.clock.now(),
    ...more,
  }
}

const keep = (sent: AcceptedSubmission): Promise<RecordedSubmission> =>
  house.db.write((tx) => house.store.sent.keep(tx, account, sent))

async function folderOf(role: string) {
  return (await house.store.folders.list(account)).find((folder) => folder.role === role)!
}

/** What the ledger tells of each type since a state of the account. */
async function changesSince(before: Account): Promise<Partial<Record<ChangeType, [string[], string[]]>>> {
  const told: Partial<Record<ChangeType, [string[], string[]]>> = {}
  for (const type of ['messages', 'threads', 'folders', 'submissions'] as const) {
    const { created, updated } = await house.store.changes.since(account, type, before.states[type], 100)
    if (created.length + updated.length > 0) told[type] = [created, updated]
  }
  return told
}

describe('the copy in Sent', () => {
  it('is seen, counted, takes room, and opens a thread', async () => {
    const before = await again()
    const kept = await keep(sending({ subject: 'Offer', messageId: 'one@shop.test' }))
    const message = (await house.store.messages.get(account, kept.messageId!))!
    const sent = await folderOf('sent')
    assert.deepEqual(message.folderIds, [sent.id])
    assert.deepEqual([message.flags.seen, message.flags.draft, message.threadId], [true, false, kept.threadId])
    assert.deepEqual([sent.totalMessages, sent.unreadMessages, sent.totalThreads, sent.unreadThreads], [1, 0, 1, 0])
    const after = await again()
    assert.deepEqual([after.usedBytes - before.usedBytes, after.messageCount - before.messageCount], [500, 1])
    assert.deepEqual(await changesSince(before), {
      messages: [[kept.messageId], []],
      threads: [[kept.threadId], []],
      folders: [[], [sent.id]],
      submissions: [[kept.submissionId], []],
    })
    assert.notEqual(after.states.quotas, before.states.quotas)
  })

  it('shows its sender whom no header names, and is found by them', async () => {
    const sent = sending({ subject: 'Quiet', searchText: '请查收合同' })
    sent.copy!.bcc = [person('eve@else.test', 'Eve 王小明')]
    const { messageId } = await keep(sent)
    assert.deepEqual((await house.store.messages.get(account, messageId!))!.bcc, [
      person('eve@else.test', 'Eve 王小明'),
    ])
    const cut = { direction: 'desc', limit: 5, sort: 'received_at', collapseThreads: false, after: null } as const
    for (const q of ['bcc:eve@else.test', 'bcc:eve', 'in:sent quiet', 'in:sent 合同', 'bcc:小明']) {
      const page = await house.store.messages.list(await again(), { q }, cut)
      assert.deepEqual(
        page.items.map(({ id }) => id),
        [messageId],
        q,
      )
    }
  })

  it('does not hinder the same mail from arriving here', async () => {
    const mail = { subject: 'To myself', messageId: 'self@shop.test', to: [person(ME)] }
    const kept = await keep(sending(mail))
    const arrived = await arrive({ ...mail, from: [person(ME)] })
    const message = (await house.store.messages.get(account, arrived))!
    assert.equal(message.threadId, kept.threadId)
    const thread = (await house.store.threads.get(account, message.threadId))!
    assert.deepEqual([thread.messageIds.length, thread.unreadCount], [2, 1])
  })

  it('is not made when nobody wants it; the submission is', async () => {
    const before = await again()
    const kept = await keep(sending({}, { copy: null }))
    assert.deepEqual([kept.messageId, kept.threadId], [null, null])
    assert.deepEqual(await changesSince(before), { submissions: [[kept.submissionId], []] })
    const now = await again()
    assert.equal(now.usedBytes, before.usedBytes)
    assert.notEqual(now.states.quotas, before.states.quotas, 'recipients of the day are a quota too')
    assert.equal((await folderOf('sent')).totalMessages, 0)
  })
})

describe('an answer', () => {
  it('goes into the thread of its original and marks it', async () => {
    const id = await arrive({ subject: 'Question', messageId: 'q@else.test', references: ['p@else.test'] })
    const original = (await house.store.messages.original(account, id))!
    assert.deepEqual(
      [original.internetMessageId, original.references, original.thread.id],
      ['q@else.test', ['p@else.test'], (await house.store.messages.get(account, id))!.threadId],
    )
    const before = await again()
    const kept = await keep(sending({ subject: 'Something else' }, { answers: original }))
    assert.equal(kept.threadId, original.thread.id)
    const answered = (await house.store.messages.get(account, id))!
    assert.deepEqual([answered.flags.answered, answered.keywords], [true, ['$answered']])
    const told = await changesSince(before)
    assert.deepEqual(told.messages, [[kept.messageId], [id]])
    assert.deepEqual(told.threads, [[], [original.thread.id]])
    const twice = await again()
    const second = await keep(sending({ subject: 'And again' }, { answers: original, copy: null }))
    assert.equal(second.threadId, original.thread.id)
    assert.deepEqual(await changesSince(twice), { submissions: [[second.submissionId], []] })
  })

  it('without a copy still marks it, and tells so', async () => {
    const id = await arrive({ subject: 'Short' })
    const original = (await house.store.messages.original(account, id))!
    const before = await again()
    await keep(sending({}, { answers: original, copy: null }))
    const told = await changesSince(before)
    assert.deepEqual(
      [told.messages, told.threads],
      [
        [[], [id]],
        [[], [original.thread.id]],
      ],
    )
  })

  it('names what its original answered where that has no References of its own', async () => {
    const one = await arrive({ messageId: 'b@else.test', inReplyTo: ['a@else.test'] })
    assert.deepEqual((await house.store.messages.original(account, one))!.references, ['a@else.test'])
    const many = await arrive({ messageId: 'c@else.test', inReplyTo: ['a@else.test', 'b@else.test'] })
    assert.deepEqual((await house.store.messages.original(account, many))!.references, [])
  })

  it('is found by its ids when only they say what it answers', async () => {
    const id = await arrive({ subject: 'Plan', messageId: 'plan@else.test' })
    const { threadId } = (await house.store.messages.get(account, id))!
    const kept = await keep(sending({ subject: 'Re: Plan', inReplyTo: ['plan@else.test'] }))
    assert.equal(kept.threadId, threadId)
    assert.equal((await house.store.messages.get(account, id))!.flags.answered, false)
  })

  it('to a message of somebody else is an answer to nothing', async () => {
    const id = await arrive({ subject: 'Mine' })
    const other = newId('mailbox')
    await house.db.write((tx) => house.store.openAccount(tx, other, 'bob@shop.test'))
    const stranger = (await house.store.accounts.byMailbox(other))!
    assert.equal(await house.store.messages.original(stranger, id), undefined)
  })
})

describe('a submission', () => {
  it('reads back as it was asked for, by its id and by its copy', async () => {
    const sent = sending({ subject: 'Read me' }, { sendAt: house.clock.now() + 5000 })
    const kept = await keep(sent)
    const submission = (await house.store.submissions.get(account, kept.submissionId))!
    const { n, ...told } = submission
    assert.ok(n > 0)
    assert.deepEqual(told, {
      id: kept.submissionId,
      emailId: sent.emailId,
      messageId: kept.messageId,
      threadId: kept.threadId,
      identityId: sent.identityId,
      envelope: { mailFrom: 'b+1@bounce.shop.test', rcptTo: ['bob@else.test'] },
      subject: 'Read me',
      sendAt: sent.sendAt,
      canceledAt: null,
      createdAt: house.clock.now(),
      updatedAt: house.clock.now(),
    })
    assert.deepEqual(await house.store.submissions.ofMessage(account, kept.messageId!), submission)
    const other = newId('mailbox')
    await house.db.write((tx) => house.store.openAccount(tx, other, 'bob@shop.test'))
    const stranger = (await house.store.accounts.byMailbox(other))!
    assert.equal(await house.store.submissions.get(stranger, kept.submissionId), undefined)
    assert.equal(await house.store.submissions.ofMessage(stranger, kept.messageId!), undefined)
  })

  it('is told of when something of it changed; a mail without one is not', async () => {
    const sent = sending({})
    const kept = await keep(sent)
    const before = await again()
    house.clock.advance(1000)
    await house.db.write((tx) => house.store.submissions.touch(tx, sent.emailId))
    assert.deepEqual(await changesSince(before), { submissions: [[], [kept.submissionId]] })
    const submission = (await house.store.submissions.get(account, kept.submissionId))!
    assert.equal(submission.updatedAt - submission.createdAt, 1000)
    const after = await again()
    await house.db.write((tx) => house.store.submissions.touch(tx, newId('email')))
    assert.deepEqual((await again()).states, after.states)
  })

  it('is listed newest first, page by page', async () => {
    const ids: string[] = []
    for (let i = 0; i < 5; i++) ids.unshift((await keep(sending({ subject: `S${i}` }))).submissionId)
    const first = await house.store.submissions.list(account, { limit: 3, cursor: null })
    const second = await house.store.submissions.list(account, { limit: 3, cursor: first.next })
    assert.deepEqual(
      [...first.items, ...second.items].map(({ id }) => id),
      ids,
    )
    assert.equal(second.next, null)
  })
})
