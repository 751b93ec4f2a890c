// IMAP beside Dovecot in the same run: the same messages, commands in turn; ratios of rates, ours to theirs (docs/design/structure.md §4).

import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { MeasuringClient } from './imap-client.ts'
import { benchIdleSessions } from './imap-sessions.ts'
import { mail, makeKeys } from './mails.ts'
import { type Form, startMailstead } from './mailstead.ts'
import { type Child, freePort, untilOpen } from './processes.ts'
import { applianceEnv } from './settings.ts'
import { DOVECOT } from './stacks/dovecot.ts'
import { startDovecotImap } from './stacks/dovecot-imap.ts'
import { hasMbsync, MBSYNC } from './stacks/mbsync.ts'
import { printTable, quantile, short } from './table.ts'

const USER = 'box@bench.test'
const NO_DNS = '127.0.0.1:9'
const MESSAGE_BYTES = 4096
/** Different messages; further ones are the same with another number. */
const DISTINCT = 200
const TOGETHER = 50
/** Each command runs so often on both, in turn; the fastest counts. */
const ROUNDS = 3
const APPENDS = 100
const AT_ONCE = 10
const NOTIFIED = 30
const COALESCE_MS = 300

interface Server {
  name: string
  port: number
  secret: string
  child: Child
  open(): Promise<MeasuringClient>
}

interface Measure {
  name: string
  /** The ratio that is aimed at. */
  aim: string
  /** Prepares a round, which is not measured. */
  before?(client: MeasuringClient): Promise<unknown>
  run(client: MeasuringClient, server: Server): Promise<unknown>
  rounds?: number
}

const command = (name: string, aim: string, ...commands: string[]): Measure => ({
  name,
  aim,
  async run(client) {
    for (const one of commands) await client.run(one)
  },
})

class Messages {
  readonly #samples: Buffer[]

  private constructor(samples: Buffer[]) {
    this.#samples = samples
  }

  static async make(): Promise<Messages> {
    const form = { bytes: MESSAGE_BYTES, to: USER, key: makeKeys().private, word: 'imap' }
    return new Messages(await Promise.all(Array.from({ length: DISTINCT }, (_, index) => mail(index, form))))
  }

  /** One that no other call returns. */
  at(index: number): Buffer {
    return Buffer.concat([Buffer.from(`X-Number: ${index}\r\n`), this.#samples[index % DISTINCT]!])
  }

  /** APPEND of several messages. */
  append(from: number, count: number): Buffer {
    const parts: Buffer[] = [Buffer.from('APPEND INBOX')]
    for (let index = from; index < from + count; index++) {
      const bytes = this.at(index)
      parts.push(Buffer.from(` {${bytes.length}+}\r\n`), bytes)
    }
    return Buffer.concat(parts)
  }
}

function measures(count: number, messages: Messages): Measure[] {
  let next = count
  const appendOn = async (client: MeasuringClient, times: number) => {
    for (let i = 0; i < times; i++) await client.run(messages.append(next++, 1))
  }
  const part = Math.min(10_000, Math.floor(count / 2))
  return [
    command('FETCH 1:* (UID FLAGS)', '0.4', 'FETCH 1:* (UID FLAGS)'),
    command('FETCH 1:* (ENVELOPE)', '0.4', 'FETCH 1:* (ENVELOPE)'),
    command('FETCH 1:* header fields', '0.4', 'FETCH 1:* (BODY.PEEK[HEADER.FIELDS (FROM SUBJECT DATE)])'),
    command('SEARCH FROM', '0.5', 'SEARCH FROM writer'),
    command('SEARCH SINCE', '0.5', 'SEARCH SINCE 1-Jan-2020'),
    { ...command('SEARCH TEXT (they scan)', '5', 'SEARCH TEXT "lantern"'), rounds: 1 },
    command('STORE 1:* FLAGS', '0.3', 'STORE 1:* +FLAGS.SILENT (\\Flagged)', 'STORE 1:* -FLAGS.SILENT (\\Flagged)'),
    command('SELECT, the folder is open elsewhere', '', 'SELECT INBOX', 'SELECT INBOX'),
    { name: 'APPEND, 1 connection', aim: '0.8', run: (client) => appendOn(client, APPENDS) },
    {
      name: `APPEND, ${AT_ONCE} connections`,
      aim: '2',
      // Dovecot's connections wait for a lock file of the Maildir, sometimes for minutes.
      rounds: 1,
      async run(_, server) {
        const clients = await Promise.all(Array.from({ length: AT_ONCE }, () => server.open()))
        await Promise.all(clients.map((client) => appendOn(client, APPENDS / 2)))
        for (const client of clients) client[Symbol.dispose]()
      },
    },
    { ...command(`COPY of ${part}`, '0.2', `COPY 1:${part} Copies`), rounds: 1 },
    {
      name: `EXPUNGE of ${part}`,
      aim: '0.2',
      rounds: 1,
      async before(client) {
        await client.run('SELECT Copies')
        await client.run(`STORE 1:${part} +FLAGS.SILENT (\\Deleted)`)
      },
      async run(client) {
        await client.run('EXPUNGE')
        await client.run('SELECT INBOX')
      },
    },
  ]
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return (performance.now() - began) / 1000
}

async function fill(server: Server, messages: Messages, count: number): Promise<void> {
  using client = await server.open()
  const took = await seconds(async () => {
    for (let from = 0; from < count; from += TOGETHER) await client.run(messages.append(from, TOGETHER))
    await client.run('CREATE Copies')
  })
  console.log(`  ${server.name} has ${count.toLocaleString('en')} messages after ${short(took)} s`)
}

async function compare(servers: readonly Server[], list: readonly Measure[]): Promise<string[][]> {
  const clients = await Promise.all(servers.map((server) => server.open()))
  // Also the first SELECT of each.
  for (const client of clients) await client.run('SELECT INBOX')
  const rows: string[][] = []
  for (const { name, aim, before, run, rounds = ROUNDS } of list) {
    const best = servers.map(() => Number.POSITIVE_INFINITY)
    const cpu = servers.map(() => 0)
    for (let round = 0; round < rounds; round++) {
      for (const [at, server] of servers.entries()) {
        await before?.(clients[at]!)
        const used = server.child.usage().cpuSeconds
        best[at] = Math.min(best[at]!, await seconds(() => run(clients[at]!, server)))
        cpu[at]! += server.child.usage().cpuSeconds - used
      }
    }
    const ratios = [best[1]! / best[0]!, cpu[1]! / cpu[0]!].map((ratio) => `${short(ratio)} ×`)
    rows.push([name, ratios[0]!, aim, ratios[1]!, `${short(best[0]! * 1000)} ms`])
    console.log(`  ${name}: ${ratios.join(', CPU ')}`)
  }
  for (const client of clients) client[Symbol.dispose]()
  return rows
}

/**
 * mbsync to an empty Maildir, and again when nothing is new. It compresses wherever it is offered: neither by Mailstead to a client on the
 * same machine, nor by Dovecot as Debian sets it up.
 */
async function sync({ port, secret, name }: Server, folder: string): Promise<[first: number, again: number]> {
  const home = join(folder, `mbsync-${name}`)
  mkdirSync(join(home, 'mail'), { recursive: true })
  const config = join(home, 'rc')
  const account = [
    'IMAPAccount a',
    'Host 127.0.0.1',
    `Port ${port}`,
    `User ${USER}`,
    `Pass ${secret}`,
    'AuthMechs PLAIN',
  ]
  const lines = [
    // Its own flushes, two for each message, would be most of what is measured.
    ...[
      'FSync no',
      '',
      ...account,
      'SSLType IMAPS',
      `CertificateFile ${home}/cert.pem`,
      '',
      'IMAPStore far',
      'Account a',
      '',
    ],
    ...['MaildirStore near', `Path ${home}/mail/`, `Inbox ${home}/mail/INBOX`, ''],
    ...['Channel all', 'Far :far:', 'Near :near:', 'Create Near', 'SyncState *', ''],
  ]
  writeFileSync(config, lines.join('\n'), { mode: 0o600 })
  const run = promisify(execFile)
  const { stdout } = await run('sh', [
    '-c',
    `openssl s_client -connect 127.0.0.1:${port} </dev/null 2>/dev/null | openssl x509`,
  ])
  writeFileSync(join(home, 'cert.pem'), stdout)
  const once = () => seconds(() => run(MBSYNC, ['-c', config, 'all']))
  return [await once(), await once()]
}

async function compareSyncs(servers: readonly Server[], folder: string): Promise<string[][]> {
  const [ours, theirs] = [await sync(servers[0]!, folder), await sync(servers[1]!, folder)]
  return ['first', 'nothing new'].map((which, at) => {
    const name = `mbsync, ${which}`
    return [name, `${short(theirs[at]! / ours[at]!)} ×`, ['0.5', '0.8'][at]!, '', `${short(ours[at]! * 1000)} ms`]
  })
}

/** From the answer of APPEND on one connection to EXISTS on another one that is in IDLE, ms. */
async function notification(server: Server, messages: Messages): Promise<number[]> {
  using idle = await server.open()
  using writer = await server.open()
  await idle.run('SELECT INBOX')
  idle.write('i IDLE\r\n')
  await idle.until(/\+ /)
  const delays: number[] = []
  for (let i = 0; i < NOTIFIED; i++) {
    await pause(COALESCE_MS)
    idle.write('')
    const arrived = idle.until(/EXISTS/)
    await writer.run(messages.append(1_000_000 + i, 1))
    delays.push(await seconds(() => arrived))
  }
  return delays.map((delay) => delay * 1000)
}

/** @param count messages of the folder */
export async function benchImap(folder: string, form: Form, count: number): Promise<void> {
  if (!existsSync(DOVECOT)) return console.log('\nIMAP beside Dovecot: left out, install dovecot-imapd')
  const imaps = await freePort()
  const limits = { IMAP_MAX_PER_ADDRESS: '5000', IMAP_MAX_PER_MAILBOX: '5000' }
  const ports = { CLIENT_PROTOCOLS: 'imaps', IMAPS_PORT: String(imaps) }
  const env = { ...applianceEnv(join(folder, 'imap'), NO_DNS), ...limits, ...ports }
  const { child, keys } = await startMailstead(form, env, [USER])
  mkdirSync(join(folder, 'dovecot-imap'))
  const theirs = await startDovecotImap(join(folder, 'dovecot-imap'))
  await using _ours = child
  await using _theirs = theirs.child
  await untilOpen(child, imaps)
  const serverOf = (name: string, { port, secret, child: process }: Omit<Server, 'name' | 'open'>): Server => ({
    ...{ name, port, secret, child: process },
    open: () => MeasuringClient.open(port, USER, secret),
  })
  const servers = [
    serverOf('Mailstead', { port: imaps, secret: keys[0]!, child }),
    serverOf('Dovecot', { ...theirs, secret: 'any' }),
  ]
  const messages = await Messages.make()
  for (const server of servers) await fill(server, messages, count)
  const rows = await compare(servers, measures(count, messages))
  if (hasMbsync()) rows.push(...(await compareSyncs(servers, folder)))
  printTable(
    `IMAP with ${count.toLocaleString('en')} messages, rates beside Dovecot's`,
    ['', 'ratio', 'aim', 'CPU', 'ours'],
    rows,
  )
  const delays = await notification(servers[0]!, messages)
  printTable(
    'IDLE, from the commit to the line at the client',
    ['', 'ms', 'aim'],
    [...[0.5, 0.99].map((share) => [`${share * 100} %`, short(quantile(delays, share)), share === 0.99 ? '400' : ''])],
  )
  await benchIdleSessions({ port: imaps, child, user: USER, secret: keys[0]! })
}
