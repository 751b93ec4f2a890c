// A million random IMAP commands, whole and damaged, against an appliance: it answers, stays up and has no internal error.

import process from 'node:process'
import { startAppliance, type TestAppliance } from '../test/support/appliance.ts'
import { type ImapClient, logInImap } from '../test/support/imap.ts'
import { CommandMaker } from '../test/support/imap-fuzz.ts'
import { Random } from '../test/support/random.ts'

/** Commands of one connection. */
const TOGETHER = 50
const MESSAGES = 20
/** Between two lines that say how far it is. */
const REPORTED = 100_000

class Fuzzer {
  readonly counts = new Map<string, number>()
  /** Answers that name an internal error, each with the commands of its connection. */
  readonly faulty: string[] = []
  readonly #appliance: TestAppliance
  readonly #mailbox: { email: string; key: string }
  readonly #random: Random
  readonly #maker: CommandMaker

  constructor(appliance: TestAppliance, mailbox: { email: string; key: string }, seed: number) {
    this.#appliance = appliance
    this.#mailbox = mailbox
    this.#random = new Random(seed)
    this.#maker = new CommandMaker(this.#random)
  }

  /** One connection with its commands. */
  async connection(): Promise<void> {
    const random = this.#random
    const client = await logInImap(this.#appliance, this.#mailbox)
    if (random.chance(0.5)) client.write(`e ENABLE ${random.pick(['QRESYNC', 'IMAP4rev2', 'UTF8=ACCEPT'])}\r\n`)
    client.write(`s ${random.pick(['SELECT', 'EXAMINE'])} INBOX\r\n`)
    const sent: string[] = []
    const drained = this.#drain(client, sent)
    for (let i = 0; i < TOGETHER; i++) {
      const command = random.chance(0.5) ? Buffer.from(this.#maker.make(), 'latin1') : this.#maker.damaged()
      sent.push(command.toString('latin1'))
      client.write(command)
    }
    client.write('DONE\r\nz LOGOUT\r\n')
    client.socket.end()
    await drained
    client.close()
  }

  /** Reads everything up to the end of the connection. */
  async #drain(client: ImapClient, sent: string[]): Promise<void> {
    for (let one = await client.response(); one !== null; one = await client.response()) {
      const kind = /^\S+ (OK|NO|BAD|BYE)/.exec(one)?.[1] ?? 'data'
      this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1)
      if (one.includes('[SERVERBUG]')) this.faulty.push(`${one}\n${sent.join('')}`)
    }
  }
}

/** @throws Error naming the commands that led to an internal error */
export async function benchImapFuzz(count: number, seed: number): Promise<void> {
  await using appliance = await startAppliance({ env: { IMAP_MAX_PER_ADDRESS: '1000', IMAP_MAX_PER_MAILBOX: '1000' } })
  const team = await appliance.team()
  await team.domain('fuzz.test')
  const mailbox = await team.mailbox('fuzz@fuzz.test')
  const client = await logInImap(appliance, mailbox)
  for (let i = 0; i < MESSAGES; i++) await client.run(`APPEND INBOX (\\Seen kw) {${20}}`, 'Subject: x\r\n\r\nhello.')
  client.close()
  const fuzzer = new Fuzzer(appliance, mailbox, seed)
  for (let done = 0; done < count && fuzzer.faulty.length === 0; done += TOGETHER) {
    await fuzzer.connection()
    const memory = `${Math.round(process.memoryUsage().rss / 2 ** 20)} MiB`
    if ((done + TOGETHER) % REPORTED === 0) console.log(`${done + TOGETHER} random IMAP commands, ${memory}`)
  }
  await using alive = await logInImap(appliance, mailbox)
  const { status } = await alive.run('NOOP')
  console.log(`IMAP fuzzer, seed ${seed}:`, Object.fromEntries(fuzzer.counts), `then NOOP: ${status}`)
  if (fuzzer.faulty.length > 0) throw new Error(fuzzer.faulty.join('\n'))
}
