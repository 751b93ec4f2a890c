// The `message.received` event: the examples of docs/design/events.md §4 member by member, and its size limits for hostile messages.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Tx } from '../../../src/db/db.ts'
import { Outbox } from '../../../src/events/outbox.ts'
import {
  DATA_BYTES_MAX,
  LIST_MAX,
  type ReceivedCopy,
  receivedData,
  recordReceived,
} from '../../../src/events/received.ts'
import type { Address, ParsedMessage } from '../../../src/mime/message.ts'
import { attachmentOf, mailOf, person } from '../../support/mailbox.ts'

const EVENT_BYTES_MAX = 64 * 1024
const TEAM = 'team_0a1b2c3d4e5f6g7h8i9j0k1l'
const DOMAIN = 'mdom_0a1b2c3d4e5f6g7h8i9j0k1l'

const RECEIVED =
  '{"mailbox_id":"mbx_a1b2c3d4e5f6g7h8i9j0k1l2","mailbox_email":"ana@shop.example","message_id":"msg_0z9y8x7w6v5u4t3s2r1q0p9o","thread_id":"thr_1a2s3d4f5g6h7j8k9l0z1x2c","folder_ids":["fld_5t4r3e2w1q0p9o8i7u6y5t4r"],"internet_message_id":"<abc@customer.example>","in_reply_to":"<eml_7h2k9s4d1f6g3j8l5z0x2c4v@shop.example>","envelope":{"mail_from":"bob@customer.example","rcpt_to":"ana@shop.example"},"from":{"email":"bob@customer.example","name":"Bob"},"to":[{"email":"ana@shop.example","name":""}],"cc":[],"subject":"Re: Your order","preview":"Thanks, it arrived today.","received_at":"2030-01-02T04:00:00.000Z","size_bytes":4821,"has_attachments":true,"attachments":[{"id":"att_2w3e4r5t6y7u8i9o0p1a2s3d","filename":"photo.jpg","content_type":"image/jpeg","size_bytes":3120,"inline":false}],"authentication":{"spf":"pass","dkim":"pass","dmarc":"pass"},"untrusted_content":true,"truncated":false}'
const SPAM =
  '{"mailbox_id":"mbx_a1b2c3d4e5f6g7h8i9j0k1l2","mailbox_email":"ana@shop.example","message_id":"msg_3e4r5t6y7u8i9o0p1a2s3d4f","thread_id":"thr_4f5g6h7j8k9l0z1x2c3v4b5n","folder_ids":["fld_6y5t4r3e2w1q0p9o8i7u6y5t"],"internet_message_id":"<xyz@spam.example>","in_reply_to":null,"envelope":{"mail_from":"win@spam.example","rcpt_to":"ana@shop.example"},"from":{"email":"win@spam.example","name":"Prize"},"to":[{"email":"ana@shop.example","name":""}],"cc":[],"subject":"You won","preview":"Click now","received_at":"2030-01-02T04:05:00.000Z","size_bytes":2210,"has_attachments":false,"attachments":[],"authentication":{"spf":"fail","dkim":"none","dmarc":"fail"},"untrusted_content":true,"truncated":false,"spam":{"score":8.4,"reasons":["spf_fail","dmarc_fail","url_shortener"]}}'

interface Given {
  mail?: Partial<ParsedMessage>
  mailFrom?: string
  receivedAt?: number
  sizeBytes?: number
  target?: Partial<ReceivedCopy['target']>
  delivered?: Partial<ReceivedCopy['delivered']>
}

/** A copy of an empty message in Ana's Inbox, with the given values. */
function copyOf(given: Given = {}): ReceivedCopy {
  const { mailFrom = 'bob@customer.example', receivedAt = Date.UTC(2030, 0, 2, 4), sizeBytes = 4821 } = given
  return {
    teamId: TEAM,
    domainId: DOMAIN,
    message: { inspection: { message: mailOf(given.mail), sizeBytes }, mailFrom, receivedAt },
    target: {
      mailboxId: 'mbx_a1b2c3d4e5f6g7h8i9j0k1l2',
      email: 'ana@shop.example',
      rcptTo: 'ana@shop.example',
      junk: false,
      authentication: { spf: 'pass', dkim: 'pass', dmarc: 'pass' },
      spam: { score: 0, reasons: [] },
      ...given.target,
    },
    delivered: {
      outcome: 'stored',
      messageId: 'msg_0z9y8x7w6v5u4t3s2r1q0p9o',
      threadId: 'thr_1a2s3d4f5g6h7j8k9l0z1x2c',
      folderIds: ['fld_5t4r3e2w1q0p9o8i7u6y5t4r'],
      attachmentIds: ['att_2w3e4r5t6y7u8i9o0p1a2s3d'],
      ...given.delivered,
    },
  }
}

/** What one unit of work wrote. */
function written(copy: ReceivedCopy): Record<string, unknown>[] {
  const rows: Record<string, unknown>[] = []
  const ends: ((tx: Tx) => void)[] = []
  const run = (_sql: string, values: unknown[]) => {
    const [id, team_id, type, mailbox_id, domain_id, body, created_at, dispatched] = values
    rows.push({ id, team_id, type, mailbox_id, domain_id, body, created_at, dispatched })
  }
  const all = (): never[] => []
  const tx = { all, run, atEnd: (work: (tx: Tx) => void) => ends.push(work), afterCommit() {} } as unknown as Tx
  const wake = { notify() {}, listen: () => () => {}, close() {} }
  recordReceived(tx, new Outbox(wake), copy)
  // The end of the transaction has a handle of its own.
  const end = { ...tx } as Tx
  for (const work of ends) work(end)
  return rows
}

test('message.received', () => {
  const photo = { ...attachmentOf('photo.jpg'), contentType: 'image/jpeg', sizeBytes: 3120 }
  const copy = copyOf({
    mail: {
      ...{ from: [person('bob@customer.example', 'Bob')], to: [person('ana@shop.example')], subject: 'Re: Your order' },
      ...{ messageId: 'abc@customer.example', inReplyTo: ['eml_7h2k9s4d1f6g3j8l5z0x2c4v@shop.example', 'other@x'] },
      ...{ preview: 'Thanks, it arrived today.', attachments: [photo], hasAttachments: true },
    },
  })
  assert.equal(JSON.stringify(receivedData(copy)), RECEIVED)
  const [row, ...more] = written(copy)
  assert.deepEqual(more, [])
  assert.deepEqual(
    [row!.type, row!.team_id, row!.mailbox_id, row!.domain_id, row!.created_at],
    ['message.received', TEAM, copy.target.mailboxId, DOMAIN, copy.message.receivedAt],
  )
  assert.equal(JSON.stringify((JSON.parse(row!.body as string) as { data: object }).data), RECEIVED)
})

test('message.received.spam', () => {
  const copy = copyOf({
    mail: {
      ...{ from: [person('win@spam.example', 'Prize')], to: [person('ana@shop.example')], subject: 'You won' },
      ...{ messageId: 'xyz@spam.example', preview: 'Click now' },
    },
    ...{ mailFrom: 'win@spam.example', receivedAt: Date.UTC(2030, 0, 2, 4, 5), sizeBytes: 2210 },
    target: {
      junk: true,
      authentication: { spf: 'fail', dkim: 'none', dmarc: 'fail' },
      spam: { score: 8.4, reasons: ['spf_fail', 'dmarc_fail', 'url_shortener'] },
    },
    delivered: {
      ...{ messageId: 'msg_3e4r5t6y7u8i9o0p1a2s3d4f', threadId: 'thr_4f5g6h7j8k9l0z1x2c3v4b5n' },
      ...{ folderIds: ['fld_6y5t4r3e2w1q0p9o8i7u6y5t'], attachmentIds: [] },
    },
  })
  assert.equal(JSON.stringify(receivedData(copy)), SPAM)
  assert.equal(written(copy)[0]!.type, 'message.received.spam')
})

test('a message without headers', () => {
  const data = receivedData(copyOf())
  assert.deepEqual(
    [data.from, data.to, data.internet_message_id, data.in_reply_to, data.subject],
    [{ email: '', name: '' }, [], null, null, ''],
  )
})

test('a copy that was not stored has no event', () => {
  for (const outcome of ['duplicate', 'full'] as const) {
    assert.deepEqual(written(copyOf({ delivered: { outcome } })), [])
  }
})

test('lists are truncated, and `truncated` is set', () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => person(`p${index}@x.test`))
  const files = (count: number) => Array.from({ length: count }, (_, index) => attachmentOf(`${index}.txt`))
  const attachmentIds = files(LIST_MAX + 1).map((_, index) => `att_${index}`)
  const cut = (mail: Partial<ParsedMessage>) => {
    const { to, cc, attachments, truncated } = receivedData(copyOf({ mail, delivered: { attachmentIds } })) as {
      to: Address[]
      cc: Address[]
      attachments: { id: string; filename: string }[]
      truncated: boolean
    }
    return { lengths: [to.length, cc.length, attachments.length], truncated, last: attachments.at(-1) }
  }
  const [full, over] = [LIST_MAX, LIST_MAX + 1]
  assert.equal(cut({ to: many(full), cc: many(full), attachments: files(full) }).truncated, false)
  assert.deepEqual(cut({ to: many(over) }), { lengths: [full, 0, 0], truncated: true, last: undefined })
  assert.deepEqual(cut({ cc: many(over) }).lengths, [0, full, 0])
  const { lengths, truncated, last } = cut({ attachments: files(over) })
  assert.deepEqual([lengths, truncated], [[0, 0, full], true])
  assert.deepEqual([last!.id, last!.filename], [`att_${full - 1}`, `${full - 1}.txt`])
})

test('an event is never larger than its limit, also for hostile messages', () => {
  for (const piece of ['\0', '"', '\ud800', '𐀀', 'x']) {
    const text = (max: number) => piece.repeat(max).slice(0, max)
    const people = Array.from({ length: 1000 }, () => person(text(320), text(512)))
    // As long as the parser lets each of them be.
    const mail = {
      ...{ from: people, to: people, cc: people, subject: text(998), preview: text(256), messageId: text(998) },
      ...{ inReplyTo: [text(998)], attachments: Array.from({ length: 1000 }, () => attachmentOf(text(255))) },
    }
    const attachmentIds = mail.attachments.map(() => 'att_2w3e4r5t6y7u8i9o0p1a2s3d')
    const copy = copyOf({ mail, delivered: { attachmentIds } })
    const data = receivedData(copy) as { truncated: boolean; to: unknown[] }
    assert.ok(Buffer.byteLength(JSON.stringify(data)) <= DATA_BYTES_MAX)
    assert.equal(data.truncated, true)
    const [row] = written(copy)
    assert.ok(Buffer.byteLength(row!.body as string) <= EVENT_BYTES_MAX)
    if (piece === 'x') assert.ok(data.to.length > 10, 'as much as fits is told')
  }
})
