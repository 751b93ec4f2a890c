// Two weeks of mail, made within seconds: an appliance on a clock that is moved receives and sends as one would over the days.

import { join } from 'node:path'
import { createTransport, type SendMailOptions, type Transporter } from 'nodemailer'
import { loadConfig } from '../../src/config/load.ts'
import type { Appliance } from '../../src/main.ts'
import { ManualClock } from '../../test/support/clock.ts'
import { openAppliance } from '../../test/support/program.ts'
import { inviteOwner } from './agent.ts'
import { client } from './api.ts'
import { LETTERS, type Letter } from './letters.ts'
import { at, OWN_DOMAINS, OWNER, PEOPLE } from './names.ts'
import { addFailingAccount, type DemoTeam, makeTeam } from './team.ts'
import { CONVERSATIONS, type Conversation, CUSTOMERS, FULL, INCOMING, REFUSING, SHOP_MAIL, TROUBLE } from './texts.ts'
import { tidyMailbox } from './tidy.ts'
import type { World } from './world.ts'

const HOUR_MS = 3_600_000
const DAYS = 14
/** Steps of the clock: short ones on the last day, which is looked at most. */
const STEP_MS = 3 * HOUR_MS
const LAST_STEP_MS = HOUR_MS / 3
/** Messages of one hour at noon of a working day. */
const SENT_AT_NOON = 6
const RECEIVED_AT_NOON = 5
/** Hours between two messages that others refuse, and between two that are refused here. */
const REFUSED_EVERY = 44
const TROUBLE_EVERY = 17

/** The same numbers in every demo. */
function numbers(): () => number {
  let state = 0x2545f491
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}

/** How busy an hour is: most at noon, little at night and on the weekend. 0…1 */
function busyness(ms: number): number {
  const date = new Date(ms)
  const noon = Math.max(0.04, 1 - Math.abs(date.getUTCHours() + 0.5 - 12) / 7)
  return date.getUTCDay() % 6 === 0 ? noon / 3 : noon
}

/** Something of this size that says that it is a PDF. */
const pdfOf = (bytes: number) => Buffer.concat([Buffer.from('%PDF-1.4\n'), Buffer.alloc(bytes)])

/** What is left of a fraction stays for the next step, so that the sums are right. */
class Share {
  #left = 0

  take(amount: number): number {
    this.#left += amount
    const whole = Math.floor(this.#left)
    this.#left -= whole
    return whole
  }
}

class Weeks {
  readonly #appliance: Appliance
  readonly #team: DemoTeam
  readonly #transport: Transporter
  readonly #random = numbers()
  readonly #sending = new Share()
  readonly #receiving = new Share()
  readonly #refused = new Share()
  readonly #troubled = new Share()
  #count = 100
  #refusals = 0

  constructor(appliance: Appliance, team: DemoTeam) {
    this.#appliance = appliance
    this.#team = team
    this.#transport = createTransport({
      ...{ host: '127.0.0.1', port: appliance.ports.smtp, name: 'mx.seaglass.example', pool: true, maxConnections: 4 },
      // The certificate of the demo is self-signed.
      tls: { rejectUnauthorized: false },
    })
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#random() * from.length)]!
  }

  #numbered(text: string): string {
    return text.replace('#', String(++this.#count))
  }

  /** What happens in one step. @param now its end, ms */
  async pass(now: number, ms: number): Promise<void> {
    const share = busyness(now) * (ms / HOUR_MS)
    await Promise.all([
      this.#send(this.#sending.take(share * SENT_AT_NOON), this.#refused.take(ms / HOUR_MS / REFUSED_EVERY)),
      this.#receive(this.#receiving.take(share * RECEIVED_AT_NOON)),
      this.#trouble(this.#troubled.take(ms / HOUR_MS / TROUBLE_EVERY)),
    ])
  }

  /** The shop writes to its customers. */
  async #send(count: number, refused: number): Promise<void> {
    const refusing = Array.from({ length: refused }, () => REFUSING[this.#refusals++ % REFUSING.length]!)
    const to = [...Array.from({ length: count }, () => this.#pick(CUSTOMERS)), ...refusing]
    if (to.length > 0) await this.sendTo(to)
  }

  async sendTo(addresses: readonly string[]): Promise<void> {
    const messages = addresses.map((email) => {
      const { subject, text } = this.#pick(SHOP_MAIL)
      const from = { email: at('orders'), name: 'Tidewater Boats' }
      const tags = { kind: subject.startsWith('Invoice') ? 'invoice' : 'order' }
      return { from, to: email, subject: this.#numbered(subject), text_body: `${text}\n\nTidewater Boats\n`, tags }
    })
    const { SEND_ORIGIN: origin } = this.#appliance.app.config
    await client(origin, this.#team.rootKey)('POST', '/emails/send/batch', { messages })
  }

  async #receive(count: number): Promise<void> {
    const all = Array.from({ length: count }, () => this.#pick(INCOMING))
    await Promise.all(
      all.map(({ from, to, subject, text, attached }) => {
        const attachments = attached && [{ filename: attached.filename, content: pdfOf(attached.bytes) }]
        const addresses = to.map((local) => at(local))
        return this.deliver({ from, to: addresses, subject: this.#numbered(subject), text, attachments })
      }),
    )
  }

  async #trouble(count: number): Promise<void> {
    if (count === 0) return
    const { from, to, subject } = TROUBLE[this.#count++ % TROUBLE.length]!
    // It is refused, or filed into Junk; the log shows which.
    await this.deliver({ from, to: at(to), subject, text: 'Click here.\n' }).catch(() => {})
  }

  async deliver(options: SendMailOptions): Promise<void> {
    await this.#transport.sendMail({ date: new Date(this.#appliance.app.clock.now()), ...options })
  }

  /** A letter to the owner of the team. */
  letter({ from, subject, text, html, attached, headers }: Letter): Promise<void> {
    const attachments = attached && [{ filename: attached.filename, content: pdfOf(attached.bytes) }]
    return this.deliver({ from, to: `${PEOPLE[0].name} <${OWNER}>`, subject, text, html, attachments, headers })
  }

  /** One turn of a conversation: the customer's by SMTP, the team's from its mailbox. */
  async turn({ customer, local, subject, turns }: Conversation, index: number): Promise<void> {
    const first = `<${subject.replace(/\W+/g, '-').toLowerCase()}@customer.example>`
    const { text } = turns[index]!
    if (index % 2 === 0) {
      const headers = index === 0 ? { messageId: first } : { inReplyTo: first, references: first }
      const title = index === 0 ? subject : `Re: ${subject}`
      return this.deliver({ from: customer, to: at(local), subject: title, text, ...headers })
    }
    const mailbox = client(this.#appliance.app.config.APP_ORIGIN, this.#team.mailboxes.get(local)!.key)
    const [question] = await mailbox<{ id: string }[]>(
      'GET',
      `/mailbox/messages?q=${encodeURIComponent(`subject:"${subject}"`)}`,
    )
    await mailbox('POST', '/mailbox/messages/send', {
      to: [{ email: /<(.+)>/.exec(customer)![1] }],
      subject: `Re: ${subject}`,
      text_body: text,
      in_reply_to_message_id: question!.id,
    })
  }

  close(): void {
    this.#transport.close()
  }
}

/** The turns of all conversations, the earliest first. */
function timetable(now: number) {
  return CONVERSATIONS.flatMap((conversation) =>
    conversation.turns.map(({ hoursAgo }, index) => ({ at: now - hoursAgo * HOUR_MS, conversation, index })),
  ).sort((a, b) => a.at - b.at)
}

/**
 * Fills an empty data folder: a team, and what it wrote and received.
 * @param settings of the appliance that will work on the folder
 * @returns the team, whose calls go to an appliance on the same ports
 */
export async function makeWeeks(world: World, settings: Record<string, string>): Promise<DemoTeam> {
  const end = Date.now()
  const clock = new ManualClock(end - DAYS * 24 * HOUR_MS)
  const config = loadConfig({ ...settings, RECEIVE_THREADS: '0' }, join(settings.DATA_DIR!, 'no-settings-file.json'))
  const appliance = await openAppliance(config, { clock, workers: 'here' })
  const team = await makeTeam(appliance, world, end)
  await appliance.settle()
  const weeks = new Weeks(appliance, team)
  const due = timetable(end)
  const letters = [...LETTERS].sort((a, b) => b.hoursAgo - a.hoursAgo)
  while (clock.now() < end) {
    const isLastDay = clock.now() >= end - 24 * HOUR_MS
    const step = Math.min(isLastDay ? LAST_STEP_MS : STEP_MS, end - clock.now())
    clock.leap(step)
    await weeks.pass(clock.now(), step)
    while (due[0] !== undefined && due[0].at <= clock.now()) {
      const { conversation, index } = due.shift()!
      await weeks.turn(conversation, index)
      await appliance.settle()
    }
    while (letters[0] !== undefined && end - letters[0].hoursAgo * HOUR_MS <= clock.now())
      await weeks.letter(letters.shift()!)
    if (clock.now() === end) await weeks.sendTo([FULL, REFUSING[0], CUSTOMERS[0], `crew@${OWN_DOMAINS.next}`])
    await appliance.settle()
  }
  await tidyMailbox(client(config.APP_ORIGIN, team.mailboxes.get(PEOPLE[0].local)!.key), end)
  await addFailingAccount(team.root, world)
  const robot = { name: 'Robo-Clerk', email: OWNER }
  await inviteOwner(appliance.app.config.APP_ORIGIN, robot, () => appliance.settle())
  weeks.close()
  await appliance.close()
  return team
}
