// Records of a sent message: the copy in Sent, its thread, the submission, and the answered flag of the original.

import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { newId } from '../../../src/base/ids.ts'
import { sha256 } from '../../../src/base/secrets.ts'
import type { ParsedMessage } from '../../../src/mime/message.ts'
import type { AcceptedSubmission, RecordedSubmission } from '../../../src/store/mailbox/sent-copies.ts'
import type { Account, ChangeType } from '../../../src/store/rows/records.ts'
import type { Inspection } from '../../../src/workers/inspection.ts'
import { mailOf, openTestStore, person, type TestStore } from '../../support/mailbox.ts'

const ME = 'me@shop.test'

let appliance: TestStore
let mailboxId: string
let account: Account

before(async () => {
  appliance = await openTestStore()
})
beforeEach(async () => {
  mailboxId = newId('mailbox')
  await appliance.db.write((tx) => appliance.store.edit.openAccount(tx, mailboxId, 'ana@shop.test'))
  account = appliance.store.accounts.byMailbox(mailboxId)!
})
after(() => appliance[Symbol.asyncDispose]())

const again = () => appliance.store.accounts.byMailbox(mailboxId)!

/** Delivers a message. @returns its id */
async function arrive(given: Partial<ParsedMessage>): Promise<string> {
  const bytes = Buffer.from(newId('message'))
  const inspection = {
    message: mailOf({ from: [person('bob@else.test')], to: [person(ME)], ...given }),
    hash: sha256(bytes),
    arrivedHash: sha256(bytes),
    sizeBytes: bytes.length,
    forwardMarks: [],
    linkTokens: [],
    chunks: [{ start: 0, sizeBytes: bytes.length, zstd: false, data: bytes }],
  } as unknown as Inspection
  const none = 'none' as const
  const target = {
    mailboxId,
    rcptTo: ME,
    reached: ME,
    step: 'address' as const,
    patternOf: null,
    email: ME,
    quotaBytes: 1e9,
    junk: false,
    authentication: { spf: none, dkim: none, dmarc: none, arc: none, fromAligned: false, reasons: [] },
    spam: { score: 0, isSpam: false, reasons: [] },
  }
  const receivedAt = appliance.clock.now()
  const arrived = { inspection, mailFrom: 'bob@else.test', receivedAt }
  const [delivered] = await appliance.store.delivery.deliver(arrived, [target], (_tx, results) => results)
  return delivered!.messageId!
}

/** A submission with the given fields. */
function sending(mail: Partial<ParsedMessage>, more: Partial<AcceptedSubmission> = {}): AcceptedSubmission {
  const subject = mail.subject ?? 'Hello'
  return {
    emailId: newId('email'),
    internetMessageId: mail.messageId ?? `${newId('email')}@shop.test`,
    subject,
    copy: {
      parsed: mailOf({ from: [person(ME)], to: [person('bob@else.test')], subject, ...mail }),
      bcc: [],
      hash: sha256(subject),
      sizeBytes: 500,
    },
    envelope: { mailFrom: 'b+1@bounce.shop.test', rcptTo: ['bob@else.test'] },
    ownAddresses: [ME],
    answers: null,
    identityId: newId('identity'),
    sendAt: appliance.clock.now(),
    ...more,
  }
}

const record = (sent: AcceptedSubmission): Promise<RecordedSubmission> =>
  appliance.db.write((tx) => appliance.store.sending.copies.record(tx, account, sent))

function folderOf(role: string) {
  return appliance.store.read.folders.list(account).find((folder) => folder.role === role)!
}

/** The changes of each type since a state of the account. */
function changesSince(before: Account): Partial<Record<ChangeType, [string[], string[]]>> {
  const reported: Partial<Record<ChangeType, [string[], string[]]>> = {}
  for (const type of ['messages', 'threads', 'folders', 'submissions'] as const) {
    const { created, updated } = appliance.store.read.changes.since(account, type, before.states[type], 100)
    if (created.length + updated.length > 0) reported[type] = [created, updated]
  }
  return reported
}

describe('the copy in Sent', () => {
  it('is seen, counted, uses quota, and creates a thread', async () => {
    const before = again()
    const recorded = await record(sending({ subject: 'Offer', messageId: 'one@shop.test' }))
    const message = appliance.store.read.messages.get(account, recorded.messageId!)!
    const sent = folderOf('sent')
    assert.deepEqual(message.folderIds, [sent.id])
    assert.deepEqual([message.flags.seen, message.flags.draft, message.threadId], [true, false, recorded.threadId])
    assert.deepEqual([sent.totalMessages, sent.unreadMessages, sent.totalThreads, sent.unreadThreads], [1, 0, 1, 0])
    const after = again()
    assert.deepEqual([after.usedBytes - before.usedBytes, after.messageCount - before.messageCount], [500, 1])
    assert.deepEqual(changesSince(before), {
      messages: [[recorded.messageId], []],
      threads: [[recorded.threadId], []],
      folders: [[], [sent.id]],
      submissions: [[recorded.submissionId], []],
    })
    assert.notEqual(after.states.quotas, before.states.quotas)
  })

  it('shows Bcc recipients to the sender, and is found by them', async () => {
    const sent = sending({ subject: 'Quiet', searchText: '请查收合同' })
    sent.copy!.bcc = [person('eve@else.test', 'Eve 王小明')]
    const { messageId } = await record(sent)
    assert.deepEqual(appliance.store.read.messages.get(account, messageId!)!.bcc, [
      person('eve@else.test', 'Eve 王小明'),
    ])
    const cut = { direction: 'desc', limit: 5, sort: 'received_at', collapseThreads: false, after: null } as const
    for (const q of ['bcc:eve@else.test', 'bcc:eve', 'in:sent quiet', 'in:sent 合同', 'bcc:小明']) {
      const page = await appliance.store.read.messages.list(again(), { q }, cut)
      assert.deepEqual(
        page.items.map(({ id }) => id),
        [messageId],
        q,
      )
    }
  })

  it('is not kept when a mail program has stored the message in Sent before', async () => {
    const none = 'none' as const
    const [mail, sent] = [mailOf({ subject: 'Stored first', messageId: 'first@shop.test' }), folderOf('sent')]
    const imported = {
      ...{ parsed: mail, hash: sha256('Stored first'), sizeBytes: 300, folderIds: [sent.id], keywords: ['$seen'] },
      ...{ receivedAt: appliance.clock.now(), spam: { score: 0, isSpam: false, reasons: [] } },
      authentication: { spf: none, dkim: none, dmarc: none, arc: none, fromAligned: false, reasons: [] },
      envelope: { mailFrom: '', rcptTo: '' },
    }
    const target = { account: again(), ownAddresses: [ME], quotaBytes: 1e9 }
    const stored = await appliance.db.write((tx) => appliance.store.programs.sentLinks.append(tx, target, imported))
    assert.equal(stored.outcome, 'new')
    const id = 'id' in stored ? stored.id : null
    const before = folderOf('sent').totalMessages
    const recorded = await record(sending({ subject: 'Stored first', messageId: 'first@shop.test' }))
    assert.equal(recorded.messageId, id)
    assert.equal(folderOf('sent').totalMessages, before)
    assert.equal(appliance.store.sending.submissions.byMessage(account, id!)?.id, recorded.submissionId)
    // A further submission of the message has no message of its own to be linked to: its copy is kept.
    const second = await record(sending({ subject: 'Stored first', messageId: 'first@shop.test' }))
    assert.notEqual(second.messageId, id)
  })

  it('does not prevent delivery of the same message to this mailbox', async () => {
    const mail = { subject: 'To myself', messageId: 'self@shop.test', to: [person(ME)] }
    const recorded = await record(sending(mail))
    const arrived = await arrive({ ...mail, from: [person(ME)] })
    const message = appliance.store.read.messages.get(account, arrived)!
    assert.equal(message.threadId, recorded.threadId)
    const thread = appliance.store.read.threads.get(account, message.threadId)!
    assert.deepEqual([thread.messageIds.length, thread.unreadCount], [2, 1])
  })

  it('is not stored if not wanted; the submission is', async () => {
    const before = again()
    const recorded = await record(sending({}, { copy: null }))
    assert.deepEqual([recorded.messageId, recorded.threadId], [null, null])
    assert.deepEqual(changesSince(before), { submissions: [[recorded.submissionId], []] })
    const now = again()
    assert.equal(now.usedBytes, before.usedBytes)
    assert.notEqual(now.states.quotas, before.states.quotas, 'recipients of the day are a quota too')
    assert.equal(folderOf('sent').totalMessages, 0)
  })
})

describe('a reply', () => {
  it('joins the thread of its original and marks it as answered', async () => {
    const id = await arrive({ subject: 'Question', messageId: 'q@else.test', references: ['p@else.test'] })
    const original = appliance.store.read.messages.original(account, id)!
    assert.deepEqual(
      [original.internetMessageId, original.references, original.thread.id],
      ['q@else.test', ['p@else.test'], appliance.store.read.messages.get(account, id)!.threadId],
    )
    const before = again()
    const recorded = await record(sending({ subject: 'Something else' }, { answers: original }))
    assert.equal(recorded.threadId, original.thread.id)
    const answered = appliance.store.read.messages.get(account, id)!
    assert.deepEqual([answered.flags.answered, answered.keywords], [true, ['$answered']])
    const reported = changesSince(before)
    assert.deepEqual(reported.messages, [[recorded.messageId], [id]])
    assert.deepEqual(reported.threads, [[], [original.thread.id]])
    const twice = again()
    const second = await record(sending({ subject: 'And again' }, { answers: original, copy: null }))
    assert.equal(second.threadId, original.thread.id)
    assert.deepEqual(changesSince(twice), { submissions: [[second.submissionId], []] })
  })

  it('without a copy still marks the original, and records the change', async () => {
    const id = await arrive({ subject: 'Short' })
    const original = appliance.store.read.messages.original(account, id)!
    const before = again()
    await record(sending({}, { answers: original, copy: null }))
    const reported = changesSince(before)
    assert.deepEqual(
      [reported.messages, reported.threads],
      [
        [[], [id]],
        [[], [original.thread.id]],
      ],
    )
  })

  it('refers to the In-Reply-To of an original without References', async () => {
    const one = await arrive({ messageId: 'b@else.test', inReplyTo: ['a@else.test'] })
    assert.deepEqual(appliance.store.read.messages.original(account, one)!.references, ['a@else.test'])
    const many = await arrive({ messageId: 'c@else.test', inReplyTo: ['a@else.test', 'b@else.test'] })
    assert.deepEqual(appliance.store.read.messages.original(account, many)!.references, [])
  })

  it('joins a thread by its Message-IDs if only they name the original', async () => {
    const id = await arrive({ subject: 'Plan', messageId: 'plan@else.test' })
    const { threadId } = appliance.store.read.messages.get(account, id)!
    const recorded = await record(sending({ subject: 'Re: Plan', inReplyTo: ['plan@else.test'] }))
    assert.equal(recorded.threadId, threadId)
    assert.equal(appliance.store.read.messages.get(account, id)!.flags.answered, false)
  })

  it('to a message of another mailbox has no original', async () => {
    const id = await arrive({ subject: 'Mine' })
    const other = newId('mailbox')
    await appliance.db.write((tx) => appliance.store.edit.openAccount(tx, other, 'bob@shop.test'))
    const stranger = appliance.store.accounts.byMailbox(other)!
    assert.equal(appliance.store.read.messages.original(stranger, id), undefined)
  })
})

describe('a submission', () => {
  it('reads back as submitted, by its id and by its copy', async () => {
    const sent = sending({ subject: 'Read me' }, { sendAt: appliance.clock.now() + 5000 })
    const recorded = await record(sent)
    const submission = appliance.store.sending.submissions.get(account, recorded.submissionId)!
    const { n, ...reported } = submission
    assert.ok(n > 0)
    assert.deepEqual(reported, {
      id: recorded.submissionId,
      emailId: sent.emailId,
      messageId: recorded.messageId,
      threadId: recorded.threadId,
      identityId: sent.identityId,
      envelope: { mailFrom: 'b+1@bounce.shop.test', rcptTo: ['bob@else.test'] },
      subject: 'Read me',
      sendAt: sent.sendAt,
      canceledAt: null,
      createdAt: appliance.clock.now(),
      updatedAt: appliance.clock.now(),
    })
    assert.deepEqual(appliance.store.sending.submissions.byMessage(account, recorded.messageId!), submission)
    const other = newId('mailbox')
    await appliance.db.write((tx) => appliance.store.edit.openAccount(tx, other, 'bob@shop.test'))
    const stranger = appliance.store.accounts.byMailbox(other)!
    assert.equal(appliance.store.sending.submissions.get(stranger, recorded.submissionId), undefined)
    assert.equal(appliance.store.sending.submissions.byMessage(stranger, recorded.messageId!), undefined)
  })

  it('is reported when it changes; a message without one is not', async () => {
    const sent = sending({})
    const recorded = await record(sent)
    const before = again()
    appliance.clock.advance(1000)
    await appliance.db.write((tx) => appliance.store.sending.submissions.touch(tx, sent.emailId))
    assert.deepEqual(changesSince(before), { submissions: [[], [recorded.submissionId]] })
    const submission = appliance.store.sending.submissions.get(account, recorded.submissionId)!
    assert.equal(submission.updatedAt - submission.createdAt, 1000)
    const after = again()
    await appliance.db.write((tx) => appliance.store.sending.submissions.touch(tx, newId('email')))
    assert.deepEqual(again().states, after.states)
  })

  it('is listed newest first, page by page', async () => {
    const ids: string[] = []
    for (let i = 0; i < 5; i++) ids.unshift((await record(sending({ subject: `S${i}` }))).submissionId)
    const first = appliance.store.sending.submissions.list(account, { limit: 3, cursor: null })
    const second = appliance.store.sending.submissions.list(account, { limit: 3, cursor: first.next })
    assert.deepEqual(
      [...first.items, ...second.items].map(({ id }) => id),
      ids,
    )
    assert.equal(second.next, null)
  })
})
