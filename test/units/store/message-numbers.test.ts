// Inserted messages: row, keywords, attachments, correspondents and number.

import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { nextNumbers } from '../../../src/store/entries/numbers.ts'
import { numberRange } from '../../../src/store/rows/accounts-numbers.ts'
import { CORRESPONDENTS_PER_FILTER, CORRESPONDENTS_PER_MESSAGE } from '../../../src/store/search/correspondents.ts'
import { attachmentOf, mailOf, openTestStore, person, TestMailbox, type TestStore } from '../../support/mailbox.ts'

let appliance: TestStore
let box: TestMailbox

before(async () => {
  appliance = await openTestStore()
})
beforeEach(async () => {
  box = await TestMailbox.open(appliance)
})
after(() => appliance[Symbol.asyncDispose]())

const T0 = Date.UTC(2026, 0, 1)
let count = 0
const put = (mail: Parameters<typeof mailOf>[0], more: Partial<Parameters<TestMailbox['put']>[0]> = {}) =>
  box.put({ mail: mailOf(mail), receivedAt: T0 + count, thread: `t${count++}`, folders: ['inbox'], ...more })

describe('an inserted message', () => {
  it('reads back as written', async () => {
    const mail = {
      subject: 'Invoice \u0000 \u{1f4e7}',
      from: [person('ana@shop.example', 'Ana')],
      sender: person('desk@shop.example'),
      to: [person('bob@shop.example', 'Bob')],
      cc: [person('cy@shop.example')],
      bcc: [person('dee@shop.example')],
      replyTo: [person('reply@shop.example')],
      messageId: 'one@shop.example',
      inReplyTo: ['zero@shop.example'],
      references: ['zero@shop.example', 'minus@shop.example'],
      sentAt: T0 - 5,
      preview: 'Hello',
      attachments: [attachmentOf('a.pdf'), { ...attachmentOf('b.png'), partId: '3', inline: true, contentId: 'b@x' }],
      hasAttachments: true,
    }
    const receivedAt = T0 + 77
    const id = await put(mail, { receivedAt, keywords: ['work', '$flagged', 'alpha', 'work'], flags: { seen: true } })
    const message = appliance.store.read.messages.get(box.account, id)!
    const { attachments, blobHash, threadId, ...rest } = message
    assert.deepEqual(rest, {
      id,
      folderIds: [box.folder('inbox').id],
      subject: mail.subject,
      preview: 'Hello',
      from: mail.from[0],
      to: mail.to,
      cc: mail.cc,
      bcc: mail.bcc,
      receivedAt,
      sentAt: T0 - 5,
      sizeBytes: 100,
      hasAttachments: true,
      keywords: ['$flagged', '$seen', 'alpha', 'work'],
      flags: { seen: true, flagged: true, draft: false, answered: false },
      internetMessageId: 'one@shop.example',
      inReplyTo: mail.inReplyTo,
      references: mail.references,
      replyTo: mail.replyTo,
      sender: mail.sender,
      parsed: true,
      authentication: { spf: 'none', dkim: 'none', dmarc: 'none', arc: 'none', fromAligned: false, reasons: [] },
      spam: { score: 0, isSpam: false, reasons: [] },
      envelope: { mailFrom: 'from@test.example', rcptTo: 'to@test.example' },
    })
    assert.deepEqual(
      attachments.map(({ filename, partId, inline, contentId, messageId }) => [
        filename,
        partId,
        inline,
        contentId,
        messageId,
      ]),
      [
        ['a.pdf', '2', false, null, id],
        ['b.png', '3', true, 'b@x', id],
      ],
    )
    assert.match(attachments[0]!.id, /^att_[a-z0-9]{24}$/)
    assert.equal(blobHash.length, 32)
    assert.equal(appliance.store.read.threads.get(box.account, threadId)!.messageIds[0], id)
  })

  it('is not visible in other mailboxes', async () => {
    const id = await put({ subject: 'mine' })
    const { threadId } = appliance.store.read.messages.get(box.account, id)!
    const other = await TestMailbox.open(appliance)
    assert.equal(appliance.store.read.messages.get(other.account, id), undefined)
    assert.equal(await appliance.store.read.messages.headers(other.account, id), undefined)
    assert.equal(await appliance.store.read.messages.bodies(other.account, id, 10), undefined)
    assert.equal(appliance.store.read.threads.get(other.account, threadId), undefined)
  })

  it('refers to its content', async () => {
    const id = await put({})
    const { blobHash } = appliance.store.read.messages.get(box.account, id)!
    const named = await appliance.store.read.messages.namedBlobs([blobHash, new Uint8Array(32)])
    assert.deepEqual([...named], [Buffer.from(blobHash).toString('hex')])
    assert.deepEqual(await appliance.store.read.messages.namedBlobs([]), new Set())
  })
})

describe('a thread', () => {
  it('covers the messages outside Trash and Junk, or all if there are none outside', async () => {
    const inside = await put({ subject: 'in' }, { thread: 'x', receivedAt: T0 + 1000 })
    const trashed = await put({ subject: 'out' }, { thread: 'x', receivedAt: T0 + 2000, folders: ['trash'] })
    const { threadId } = appliance.store.read.messages.get(box.account, trashed)!
    const thread = appliance.store.read.threads.get(box.account, threadId)!
    assert.deepEqual([thread.messageIds, thread.messageCount, thread.lastMessage.id], [[inside], 1, inside])
    assert.deepEqual(thread.folderIds, [box.folder('inbox').id])
    const junk = await put({ subject: 'spam' }, { thread: 'y', folders: ['junk'] })
    const hidden = appliance.store.read.messages.get(box.account, junk)!.threadId
    const all = appliance.store.read.threads.get(box.account, hidden)!
    assert.deepEqual([all.messageIds, all.folderIds], [[junk], [box.folder('junk').id]])
  })

  it('lists its messages oldest first', async () => {
    const late = await put({}, { thread: 'z', receivedAt: T0 + 3000 })
    const early = await put({}, { thread: 'z', receivedAt: T0 + 1000 })
    const { threadId } = appliance.store.read.messages.get(box.account, late)!
    assert.deepEqual(appliance.store.read.threads.get(box.account, threadId)!.messageIds, [early, late])
  })
})

describe('correspondents', () => {
  it('are recorded once, and only the first ones of a message with very many', async () => {
    const to = Array.from({ length: CORRESPONDENTS_PER_MESSAGE + 50 }, (_, index) => person(`p${index}@many.example`))
    const id = await put({ from: [person('Ana@shop.example', 'Ana')], to })
    await put({ from: [person('ana@SHOP.example', 'ana')], to: to.slice(0, 5) })
    const rows = appliance.db.read.all('SELECT n FROM correspondents WHERE account = ?', [box.account.n])
    assert.equal(rows.length, CORRESPONDENTS_PER_MESSAGE)
    const list = async (participant: string) => {
      const cut = { sort: 'received_at', direction: 'asc', limit: 10, after: null, collapseThreads: false } as const
      return (await appliance.store.read.messages.list(box.account, { participant }, cut)).items.map(
        (message) => message.id,
      )
    }
    assert.equal((await list('p3@many')).length, 2)
    assert.deepEqual(await list('p200@many'), [id])
    assert.deepEqual(await list(`p${CORRESPONDENTS_PER_MESSAGE + 20}@many`), [], 'those beyond the bound are not noted')
    assert.ok(CORRESPONDENTS_PER_MESSAGE - 1 > CORRESPONDENTS_PER_FILTER)
    assert.equal((await list('@MANY.example')).length, 2, 'more people than a filter looks up one by one')
  })
})

describe('message numbers', () => {
  const second = (at: number) => Math.floor(at / 1000)
  const low = () => numberRange(box.account.n).low
  const next = (receivedAt: number) =>
    appliance.db.write((tx) => nextNumbers(tx, [{ account: box.account.n, receivedAt }])[0]!)
  const numbers = () => {
    const rows = appliance.db.read.all<{ n: number }>(
      'SELECT n FROM messages WHERE account = ? ORDER BY received_at, n',
      [box.account.n],
    )
    return rows.map(({ n }) => n)
  }

  it('are the second of receipt, or consecutive for concurrent messages', async () => {
    assert.equal(await next(T0), low() + second(T0))
    for (let i = 0; i < 3; i++) await put({}, { receivedAt: T0 })
    await put({}, { receivedAt: T0 + 1500 })
    await put({}, { receivedAt: T0 + 60_000 })
    const first = low() + second(T0)
    assert.deepEqual(numbers(), [first, first + 1, first + 2, first + 3, first + 60])
  })

  it('of old messages stored late are near their time, and are never assigned twice', async () => {
    await put({}, { receivedAt: T0 + 1_000_000 })
    for (let i = 0; i < 40; i++) await put({}, { receivedAt: T0 })
    const all = numbers()
    assert.equal(new Set(all).size, 41)
    for (const n of all.slice(0, 40))
      assert.ok(n >= low() + second(T0) && n < low() + second(T0) + 1000, String(n - low()))
  })

  it('stay in the range of the account for any time of receipt', async () => {
    const { high } = numberRange(box.account.n)
    for (const at of [-1e15, 0, 1, 1e15, Number.MAX_SAFE_INTEGER]) {
      const n = await next(at)
      assert.ok(n > low() && n <= high, `${at}: ${n}`)
      await put({}, { receivedAt: at })
    }
    assert.equal(numberRange(1).high + 1, numberRange(2).low)
    assert.ok(Number.isSafeInteger(numberRange(2_000_000).high))
  })
})
