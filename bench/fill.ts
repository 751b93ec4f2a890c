// Child process: fills a mailbox through the store's delivery path, without SMTP and authentication, so that it takes minutes, not hours.

import { once } from 'node:events'
import process from 'node:process'
import { sha256 } from '../src/base/secrets.ts'
import { loadConfig } from '../src/config/load.ts'
import { type Context, openContext } from '../src/context.ts'
import type { Mailbox } from '../src/directory/mailboxes/mailboxes.ts'
import { parseMessage } from '../src/mime/parse.ts'
import { messageTraits } from '../src/mime/spam-traits.ts'
import type { Inspection } from '../src/workers/inspection.ts'
import { numbers, SENDER, subject, text } from './mails.ts'
import { seedMailbox } from './seed.ts'

export interface FillRequest {
  email: string
  messages: number
  /** Messages per measured range. */
  range: number
  /** One message in so many is HTML; without it none is. */
  htmlEvery?: number
}

export interface FillResult {
  mailboxId: string
  key: string
  /** Per range: messages in the mailbox at its end, and the cost of one message in it (ms). */
  stretches: { at: number; wall: number; cpu: number }[]
}

/** Concurrent deliveries; group commit combines their transactions. */
const AT_ONCE = 256
const BODY_BYTES = 1500
/** One message in this many contains a rare word for searches. */
export const RARE_EVERY = 500
/** One message in this many has a sentence without spaces. */
const CHINESE_EVERY = 20
const CHINESE = '北京大学的学生明天参加会议，请准时到达。'
/** The time range of the messages of a mailbox (ms). */
const SPAN_MS = 2 * 365 * 24 * 60 * 60 * 1000

const app = await openContext(loadConfig(process.env))
const next = numbers(42)
const FIELDS = `From: Writer <${SENDER}>\r\nTo: <box@bench.test>\r\nSubject: x\r\n`
const HTML_FIELDS = 'Content-Type: text/html; charset=utf-8\r\n'
const templates = {
  text: parseMessage(Buffer.from(`${FIELDS}\r\n${text(BODY_BYTES, next)}`)),
  html: parseMessage(Buffer.from(`${FIELDS}${HTML_FIELDS}\r\n${htmlOf(text(BODY_BYTES, next))}`)),
}
const recent: string[] = []

/** Text as a shop writes it: a table, colors, a style sheet and a link. */
function htmlOf(body: string): string {
  const rows = body.trim().split('\r\n')
  return `<html><head><style>td { padding: 4px; color: #223344 }</style></head><body><table width="600">${rows
    .map((row) => `<tr><td style="border-bottom: 1px solid #dddddd">${row}</td></tr>`)
    .join('\r\n')}</table><p><a href="https://shop.example/order">Your order</a></p></body></html>\r\n`
}

/** One message as returned by inspection; every second one replies to one of the last two hundred. */
function inspection(index: number, email: string, isHtml: boolean): Inspection {
  const body = `${text(BODY_BYTES, next)}${index % CHINESE_EVERY === 0 ? CHINESE : ''}`
  const rare = index % RARE_EVERY === 0 ? ' zanzibar' : ''
  const parent = recent.length > 0 && next(2) === 0 ? recent[next(recent.length)]! : null
  const id = `${index}.${email}`
  recent.push(id)
  if (recent.length > 200) recent.shift()
  const template = isHtml ? templates.html : templates.text
  const head = `Message-ID: <${id}>\r\n${isHtml ? HTML_FIELDS : ''}\r\n`
  const bytes = Buffer.from(`${head}${isHtml ? htmlOf(body) : body}`)
  const mail = {
    ...template,
    subject: `${parent ? 'Re: ' : ''}${subject(next)}${rare}`,
    to: [{ email, name: '' }],
    messageId: id,
    inReplyTo: parent ? [parent] : [],
    references: parent ? [parent] : [],
    searchText: body,
    preview: body.slice(0, 200),
    structure: template.structure && { ...template.structure, bodyStart: head.length, bodyEnd: bytes.length },
  }
  const hash = sha256(bytes)
  const chunk = { start: 0, sizeBytes: bytes.length, zstd: false, data: bytes }
  return {
    verdict: {} as Inspection['verdict'],
    message: mail,
    traits: messageTraits(bytes, mail, index),
    content: null,
    hash,
    sizeBytes: bytes.length,
    chunks: [chunk],
    arrivedHash: hash,
    scriptOutcomes: [],
    report: null,
    forwardMarks: [],
    linkTokens: [],
  }
}

/** Where a message of a fill is stored. */
interface Fill extends Pick<FillRequest, 'messages' | 'htmlEvery'> {
  mailbox: Mailbox
}

async function deliver(appliance: Context, { mailbox, messages, htmlEvery }: Fill, index: number): Promise<void> {
  const pass = 'pass' as const
  const target = {
    mailboxId: mailbox.id,
    rcptTo: mailbox.email,
    reached: mailbox.email,
    step: 'address' as const,
    patternOf: null,
    email: mailbox.email,
    quotaBytes: mailbox.quotaBytes,
    junk: false,
    authentication: { spf: pass, dkim: pass, dmarc: pass, arc: 'none' as const, fromAligned: true, reasons: [] },
    spam: { score: 0, isSpam: false, reasons: [] },
  }
  const receivedAt = appliance.clock.now() - Math.floor(((messages - index) * SPAN_MS) / messages)
  const isHtml = htmlEvery !== undefined && index % htmlEvery === 0
  const mail = { inspection: inspection(index, mailbox.email, isHtml), mailFrom: SENDER, receivedAt }
  await appliance.store.delivery.deliver(mail, [target], () => {})
}

async function fill({ email, messages, range, htmlEvery }: FillRequest): Promise<FillResult> {
  const { mailbox, key } = await seedMailbox(app, email)
  const stretches: FillResult['stretches'] = []
  for (let done = 0; done < messages; ) {
    const end = Math.min(messages, done + range)
    const size = end - done
    const wall = performance.now()
    const cpu = process.cpuUsage()
    const worker = async () => {
      while (done < end) await deliver(app, { mailbox, messages, htmlEvery }, done++)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, worker))
    const used = process.cpuUsage(cpu)
    const cost = (used.user + used.system) / 1000
    stretches.push({ at: done, wall: (performance.now() - wall) / size, cpu: cost / size })
  }
  return { mailboxId: mailbox.id, key, stretches }
}

process.send!({ ready: true })
for (;;) {
  const [request] = (await once(process, 'message')) as [FillRequest | { close: true }]
  if ('close' in request) break
  process.send!(await fill(request))
}
await app.close()
process.disconnect!()
