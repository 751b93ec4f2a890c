// The load of the soak: SMTP of many sizes, IMAP sessions, reading and searching by the API, sending, uploads, and mail at an outside account.

import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { ImapFlow } from 'imapflow'
import type { RemoteDovecot } from '../test/support/remote-dovecot.ts'
import { SmtpClient } from '../test/support/smtp.ts'
import { MeasuringClient } from './imap-client.ts'
import { mail, numbers, SENDER, SENDER_DOMAIN, subject, text } from './mails.ts'

const KIB = 1024
/** Sizes of arriving messages and how many of a hundred have them. */
const SIZES: readonly (readonly [share: number, bytes: number])[] = [
  [55, 6 * KIB],
  [30, 40 * KIB],
  [12, 300 * KIB],
  [3, 3 * KIB * KIB],
]
/** Every so many arriving messages, one of this size. */
const HUGE_EVERY = 400
const HUGE_BYTES = 30 * KIB * KIB
/** Messages that a mailbox keeps: older ones are deleted. */
const KEPT_MESSAGES = 1500
const FAR_DOMAINS = 40

/** What the load works with. */
export interface SoakTarget {
  smtp: number
  imaps: number
  app: number
  send: number
  /** Addresses and keys of the mailboxes. */
  boxes: readonly { email: string; key: string }[]
  teamKey: string
  outside: { server: RemoteDovecot; user: string; key: string } | null
  /** PEM of the key that signs arriving messages. */
  signingKey: string
  /** Part of the full load. */
  rate: number
}

export class SoakLoad {
  /** Acts that were done, by name, and the errors of the latest failures. */
  readonly counts = new Map<string, number>()
  readonly errors = new Map<string, number>()
  readonly #target: SoakTarget
  readonly #next = numbers(20_260_101)
  readonly #huge: Buffer
  #number = 0
  #isOver = false

  constructor(target: SoakTarget) {
    this.#target = target
    this.#huge = hugeBody()
  }

  /** Runs until {@link end}. */
  async run(): Promise<void> {
    const acts: [name: string, everyMs: number, act: () => Promise<void>][] = [
      ['smtp', 350, () => this.#receive()],
      ['smtp', 900, () => this.#receive()],
      ['imap', 700, () => this.#imapSession()],
      ['append', 5000, () => this.#append()],
      ['read', 120, () => this.#read()],
      ['search', 600, () => this.#search()],
      ['send', 400, () => this.#send()],
      ['upload', 9000, () => this.#upload()],
      ['delete', 4000, () => this.#deleteOld()],
      ['outside', 1500, () => this.#outside()],
    ]
    const idle = this.#target.boxes.slice(0, 4).map((box) => this.#idle(box))
    await Promise.all([
      ...idle,
      ...acts.map(([name, everyMs, act]) => this.#repeat(name, everyMs / this.#target.rate, act)),
    ])
  }

  end(): void {
    this.#isOver = true
  }

  async #repeat(name: string, everyMs: number, act: () => Promise<void>): Promise<void> {
    while (!this.#isOver) {
      const began = performance.now()
      try {
        await act()
        this.counts.set(name, (this.counts.get(name) ?? 0) + 1)
      } catch (error) {
        const key = `${name}: ${(error as Error).message.slice(0, 120)}`
        this.errors.set(key, (this.errors.get(key) ?? 0) + 1)
      }
      await pause(Math.max(10, everyMs - (performance.now() - began)))
    }
  }

  #box(): SoakTarget['boxes'][number] {
    const { boxes } = this.#target
    return boxes[this.#next(boxes.length)]!
  }

  /** One connection with one to five messages. */
  async #receive(): Promise<void> {
    const { smtp, signingKey } = this.#target
    await using client = await SmtpClient.greet(smtp, `mx.${SENDER_DOMAIN}`)
    for (let left = 1 + this.#next(5); left > 0; left--) {
      const { email } = this.#box()
      const number = ++this.#number
      const content =
        number % HUGE_EVERY === 0
          ? this.#hugeMail(email, number)
          : await mail(number, { bytes: this.#size(), to: email, key: signingKey, word: 'soak' })
      const reply = await client.mail({ from: SENDER, to: email, content })
      if (reply.code !== 250) throw new Error(`refused: ${reply.text}`)
    }
    await client.command('QUIT', 221)
  }

  #size(): number {
    let share = this.#next(100)
    for (const [part, bytes] of SIZES) {
      if (share < part) return bytes / 2 + this.#next(bytes)
      share -= part
    }
    return KIB
  }

  #hugeMail(to: string, number: number): Buffer {
    const head = [
      ...[`From: ${SENDER}`, `To: ${to}`, `Subject: Huge ${number}`, `Message-ID: <huge.${number}@${SENDER_DOMAIN}>`],
      ...['MIME-Version: 1.0', 'Content-Type: application/octet-stream', 'Content-Transfer-Encoding: base64'],
    ]
    return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), this.#huge])
  }

  /** Signs in, lists, reads and flags, as a mail program does. */
  async #imapSession(): Promise<void> {
    const { email, key } = this.#box()
    using client = await MeasuringClient.open(this.#target.imaps, email, key)
    const selected = await client.run('SELECT INBOX')
    const count = Number(/\* (\d+) EXISTS/.exec(selected)?.[1] ?? 0)
    const from = Math.max(1, count - 50)
    await client.run('LIST "" "*" RETURN (STATUS (MESSAGES UNSEEN))')
    if (count > 0) {
      await client.run(`FETCH ${from}:* (UID FLAGS ENVELOPE BODYSTRUCTURE)`)
      await client.run(`FETCH ${1 + this.#next(count)} (BODY.PEEK[])`)
      await client.run(`STORE ${1 + this.#next(count)} +FLAGS.SILENT (\\Seen)`)
      await client.run(`SEARCH SUBJECT ${subject(this.#next).split(' ')[0]}`)
    }
    await client.run('LOGOUT').catch(() => {})
  }

  /** A session that stays in IDLE and is renewed every few minutes. */
  async #idle({ email, key }: SoakTarget['boxes'][number]): Promise<void> {
    while (!this.#isOver) {
      try {
        using client = await MeasuringClient.open(this.#target.imaps, email, key)
        await client.run('SELECT INBOX')
        client.write('i IDLE\r\n')
        await client.until(/\+ /)
        for (let seconds = 0; seconds < 180 && !this.#isOver; seconds++) await pause(1000)
        this.counts.set('idle', (this.counts.get('idle') ?? 0) + 1)
      } catch (error) {
        const name = `idle: ${(error as Error).message.slice(0, 120)}`
        this.errors.set(name, (this.errors.get(name) ?? 0) + 1)
        await pause(1000)
      }
    }
  }

  async #append(): Promise<void> {
    const { email, key } = this.#box()
    using client = await MeasuringClient.open(this.#target.imaps, email, key)
    const content = Buffer.from(`Subject: Appended ${++this.#number}\r\n\r\n${text(this.#size(), this.#next)}`)
    await client.run(Buffer.concat([Buffer.from(`APPEND Drafts {${content.length}+}\r\n`), content]))
  }

  async #read(): Promise<void> {
    const { key } = this.#box()
    const list = (await this.#get(`/mailbox/messages?limit=20`, key)) as { id: string }[]
    const message = list[this.#next(Math.max(1, list.length))]
    if (message === undefined) return
    await this.#get(`/mailbox/messages/${message.id}`, key)
    if (this.#next(4) === 0) await this.#get(`/mailbox/messages/${message.id}/clean-content`, key)
    if (this.#next(6) === 0) await this.#get('/mailbox/threads?limit=10', key)
    if (this.#next(12) === 0) await this.#get(`/mailbox/messages/${message.id}/raw`, key)
  }

  async #search(): Promise<void> {
    const { key } = this.#box()
    const word = subject(this.#next).split(' ')[0]!
    await this.#get(`/mailbox/messages?limit=10&q=${word}`, key)
  }

  async #send(): Promise<void> {
    const number = ++this.#number
    const to = [{ email: `p${number}@far${number % FAR_DOMAINS}.test` }]
    const body = { to, subject: subject(this.#next), text_body: text(500 + this.#next(20_000), this.#next) }
    if (number % 50 === 0) {
      const content = Buffer.alloc(this.#next(6 * KIB * KIB), `${number}`).toString('base64')
      Object.assign(body, { attachments: [{ filename: 'a.txt', content, encoding: 'base64' }] })
    }
    await this.#post('/mailbox/messages/send', this.#box().key, JSON.stringify(body))
  }

  async #upload(): Promise<void> {
    const bytes = createHash('sha256')
      .update(`${++this.#number}`)
      .digest('hex')
      .repeat(this.#next(60_000))
    const path = `/mailbox/attachments?filename=a${this.#number}.txt`
    await this.#post(path, this.#box().key, bytes === '' ? 'empty' : bytes, 'text/plain')
  }

  async #deleteOld(): Promise<void> {
    const { email, key } = this.#box()
    using client = await MeasuringClient.open(this.#target.imaps, email, key)
    const count = Number(/\* (\d+) EXISTS/.exec(await client.run('SELECT INBOX'))?.[1] ?? 0)
    if (count <= KEPT_MESSAGES) return
    await client.run(`STORE 1:${Math.min(count - KEPT_MESSAGES, 500)} +FLAGS.SILENT (\\Deleted)`)
    await client.run('EXPUNGE')
  }

  /** A new message at the server, a flag in Mailstead. */
  async #outside(): Promise<void> {
    const { outside } = this.#target
    if (outside === null) return
    const { server, user, key } = outside
    const auth = { user, pass: server.password }
    const options = { host: server.host, port: server.port, secure: false, doSTARTTLS: false, logger: false } as const
    const client = new ImapFlow({ ...options, auth })
    await client.connect()
    const number = ++this.#number
    const head = `From: ${SENDER}\r\nSubject: Outside ${number}\r\nMessage-ID: <o${number}@${SENDER_DOMAIN}>\r\n\r\n`
    await client.append('INBOX', head + text(this.#size(), this.#next))
    await client.logout()
    const [newest] = (await this.#get('/mailbox/messages?limit=1', key)) as { id: string }[]
    if (newest === undefined) return
    const body = JSON.stringify({ flags: { flagged: number % 2 === 0 } })
    await this.#request('PATCH', `/mailbox/messages/${newest.id}`, key, { body })
  }

  async #get(path: string, key: string): Promise<unknown> {
    const answer = await this.#request('GET', path, key, {})
    const bytes = await answer.text()
    return path.endsWith('/raw') ? bytes : (JSON.parse(bytes) as { data: unknown }).data
  }

  async #post(path: string, key: string, body: string, type = 'application/json'): Promise<void> {
    await (await this.#request('POST', path, key, { body }, type)).arrayBuffer()
  }

  async #request(
    method: string,
    path: string,
    key: string,
    init: { body?: string },
    type = 'application/json',
  ): Promise<Response> {
    const headers = { authorization: `Bearer ${key}`, host: 'app.bench.test', 'content-type': type }
    const answer = await fetch(`http://127.0.0.1:${this.#target.app}/api/v1${path}`, { method, headers, ...init })
    if (!answer.ok) throw new Error(`${method} ${path.split('?')[0]}: ${answer.status} ${await answer.text()}`)
    return answer
  }
}

/** Lines of base64 that do not compress. */
function hugeBody(): Buffer {
  const lines: string[] = []
  for (let bytes = 0; bytes < HUGE_BYTES; bytes += 78) {
    const sum = createHash('sha512').update(`${bytes}`).digest('base64')
    lines.push(sum.slice(0, 76))
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n`)
}
