// A large mailbox as Roundcube reads it, beside Dovecot in the same run: its own commands, quiet and while deliveries arrive.

import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { startDns } from '../test/support/dns.ts'
import { type Arrivals, startArrivals } from './arrivals.ts'
import { MeasuringClient } from './imap-client.ts'
import { mail, makeKeys, zoneOf } from './mails.ts'
import { type Form, startMailstead } from './mailstead.ts'
import { type Child, freePort, untilOpen } from './processes.ts'
import { applianceEnv } from './settings.ts'
import { DOVECOT, LMTP } from './stacks/dovecot.ts'
import { startDovecotImap } from './stacks/dovecot-imap.ts'
import { printTable, short } from './table.ts'

const USER = 'box@bench.test'
const MESSAGE_BYTES = 4096
const TOGETHER = 50
/** Rows of a page of Roundcube (`mail_pagesize`). */
const PAGE = 50
/** Each request runs so often on both, in turn; the fastest counts. */
const ROUNDS = 3
/** Deliveries a second for the second half of the rows, by SMTP and by LMTP. */
const ARRIVALS_PER_SECOND = 20
/** The fields that Roundcube lists messages by (`rcube_imap_generic::fetchHeaders`). */
const LISTED =
  'UID RFC822.SIZE FLAGS INTERNALDATE BODY.PEEK[HEADER.FIELDS (DATE FROM TO SUBJECT CONTENT-TYPE CC REPLY-TO LIST-POST DISPOSITION-NOTIFICATION-TO X-PRIORITY)]'

export interface Server {
  name: string
  port: number
  secret: string
  child: Child
  /** Where deliveries arrive; null where they cannot. */
  delivery: { port: number; protocol: 'SMTP' | 'LMTP' } | null
}

/** A request of the browser: PHP opens a connection for each. */
interface Request {
  name: string
  rounds?: number
  run(client: MeasuringClient): Promise<unknown>
}

/** Runs a command that answers with UIDs. @returns the last of them, as they are ordered */
async function lastUids(client: MeasuringClient, command: string, count: number): Promise<number[]> {
  const text = await client.run(command)
  const list = text.match(/\d+(?: \d+){20,}/g)?.at(-1) ?? ''
  return list.split(' ').slice(-count).map(Number)
}

/** `_action=list`: the count, the order, and the rows of the first page. */
async function list(client: MeasuringClient, order: string, count: number): Promise<void> {
  await client.run('STATUS INBOX (MESSAGES UNSEEN)')
  await client.run('SELECT INBOX')
  await client.run(`UID SEARCH ${count}`)
  const uids = await lastUids(client, order, PAGE)
  await client.run(`UID FETCH ${uids.toSorted((a, b) => a - b).join(',')} (${LISTED})`)
}

/** Everything between the login and the first page of messages. */
async function open(client: MeasuringClient, count: number): Promise<void> {
  for (const command of ['CAPABILITY', 'NAMESPACE', 'LIST (SUBSCRIBED) "" "*"', 'LIST "" "*"'])
    await client.run(command)
  await list(client, 'UID SEARCH ALL', count)
  for (const folder of ['Drafts', 'Sent', 'Junk', 'Trash']) await client.run(`STATUS ${folder} (MESSAGES UNSEEN)`)
}

/** What a person does with a page of messages, and with all. Each round leaves as many messages on both. */
function changes(count: number): Request[] {
  const from = count - 900
  const ofPage = (name: string, run: (client: MeasuringClient, uids: string) => Promise<unknown>): Request => ({
    name,
    async run(client) {
      await client.run('SELECT INBOX')
      const uids = await lastUids(client, `UID SEARCH ${from}:${from + PAGE - 1}`, PAGE)
      await run(client, uids.join(','))
    },
  })
  return [
    ofPage('mark a page as read and unread', async (client, uids) => {
      for (const sign of ['+', '-']) await client.run(`UID STORE ${uids} ${sign}FLAGS.SILENT (\\Seen)`)
    }),
    ofPage('move a page to Trash, and empty it', async (client, uids) => {
      await client.run(`UID MOVE ${uids} Trash`)
      for (const each of ['SELECT Trash', 'UID STORE 1:* +FLAGS.SILENT (\\Deleted)', 'EXPUNGE']) await client.run(each)
    }),
    ofPage('delete a page for good', async (client, uids) => {
      await client.run(`UID STORE ${uids} +FLAGS.SILENT (\\Deleted)`)
      await client.run(`UID EXPUNGE ${uids}`)
    }),
    {
      name: 'mark all as read and unread',
      rounds: 2,
      async run(client) {
        await client.run('SELECT INBOX')
        for (const sign of ['+', '-']) await client.run(`UID STORE 1:* ${sign}FLAGS.SILENT (\\Seen)`)
      },
    },
  ]
}

function requests(count: number): Request[] {
  const sorted = (field: string): Request => ({
    name: `sort by ${field.toLowerCase()}`,
    run: (client) => list(client, `UID SORT (${field}) US-ASCII ALL`, count),
  })
  const command = (name: string, ...commands: string[]): Request => ({
    name,
    async run(client) {
      for (const each of ['SELECT INBOX', ...commands]) await client.run(each)
    },
  })
  return [
    { name: 'open', run: (client) => open(client, count) },
    { name: 'list', run: (client) => list(client, 'UID SEARCH ALL', count) },
    ...['SUBJECT', 'FROM', 'DATE', 'SIZE', 'ARRIVAL'].map(sorted),
    command('list without deleted', 'UID SEARCH RETURN (ALL COUNT MAX) ALL UNDELETED'),
    command('count unseen', 'UID SEARCH RETURN (COUNT) ALL UNDELETED UNSEEN'),
    command('search in subjects', 'UID SEARCH RETURN (ALL) CHARSET UTF-8 HEADER SUBJECT lantern'),
    command('threads', 'UID THREAD REFERENCES US-ASCII ALL'),
    command('check for new messages', `UID SEARCH ${count}`, `UID FETCH ${count - PAGE}:${count} (UID FLAGS)`),
    ...changes(count),
    { ...command('all flags', 'UID FETCH 1:* (UID FLAGS)'), rounds: 2 },
    { ...command('all rows', `UID FETCH 1:* (${LISTED})`), rounds: 2 },
    { ...command('all envelopes', 'UID FETCH 1:* (UID ENVELOPE)'), rounds: 2 },
  ]
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return (performance.now() - began) / 1000
}

export async function fill({ port, secret, name }: Server, count: number, key: string): Promise<void> {
  const form = { bytes: MESSAGE_BYTES, to: USER, key, word: 'roundcube' }
  using client = await MeasuringClient.open(port, USER, secret)
  const took = await seconds(async () => {
    for (let from = 0; from < count; from += TOGETHER) {
      const parts: Buffer[] = [Buffer.from('APPEND INBOX')]
      for (let index = from; index < Math.min(from + TOGETHER, count); index++) {
        const bytes = await mail(index * 2, form)
        parts.push(Buffer.from(` {${bytes.length}+}\r\n`), bytes)
      }
      await client.run(Buffer.concat(parts))
    }
    for (const folder of ['Drafts', 'Sent', 'Junk', 'Trash']) await client.run(`CREATE ${folder}`).catch(() => {})
  })
  console.log(`  ${name} has ${count.toLocaleString('en')} messages after ${short(took)} s`)
}

interface Measured {
  /** Seconds of the first time, which fills caches, and of the fastest. */
  first: number
  best: number
  /** Seconds of processor time, the mean of all rounds. */
  cpu: number
}

async function measure({ port, secret }: Server, { run }: Request): Promise<number> {
  return seconds(async () => {
    using client = await MeasuringClient.open(port, USER, secret)
    await run(client)
    await client.run('LOGOUT')
  })
}

async function compare(servers: readonly Server[], list: readonly Request[]): Promise<Measured[][]> {
  const rows: Measured[][] = []
  for (const request of list) {
    const taken: number[][] = servers.map(() => [])
    const cpu = servers.map(() => 0)
    const { rounds = ROUNDS } = request
    for (let round = 0; round < rounds; round++)
      for (const [at, server] of servers.entries()) {
        const used = server.child.usage().cpuSeconds
        taken[at]!.push(await measure(server, request))
        cpu[at]! += server.child.usage().cpuSeconds - used
      }
    rows.push(taken.map((times, at) => ({ first: times[0]!, best: Math.min(...times), cpu: cpu[at]! / rounds })))
    const milliseconds = (seconds: readonly number[]) => seconds.map((each) => short(each * 1000)).join(' ')
    const each = taken.map((times, at) => `${milliseconds(times)} (CPU ${milliseconds([cpu[at]! / rounds])})`)
    console.log(`  ${request.name}: ${each.join(' | ')} ms`)
  }
  return rows
}

function show(title: string, list: readonly Request[], measured: readonly Measured[][]): void {
  const ms = (value: number) => `${short(value * 1000)} ms`
  const rowOf = (name: string, [ours, theirs]: readonly Measured[]) => {
    const ratio = (of: keyof Measured) => `${short(ours![of] / theirs![of])} ×`
    const firsts = [ms(ours!.first), ms(theirs!.first), ratio('first')]
    return [name, ms(ours!.best), ms(theirs!.best), ratio('best'), ...firsts, ms(ours!.cpu), ms(theirs!.cpu)]
  }
  const sum = [0, 1].map((at) => {
    const all = measured.map((each) => each[at]!)
    const of = (member: keyof Measured) => all.reduce((total, each) => total + each[member], 0)
    return { first: of('first'), best: of('best'), cpu: of('cpu') }
  })
  const rows = [...list.map(({ name }, at) => rowOf(name, measured[at]!)), rowOf('sum', sum)]
  const columns = [
    'ours',
    'Dovecot',
    'time to theirs',
    'ours, first time',
    'Dovecot',
    'to theirs',
    'CPU, ours',
    'Dovecot',
  ]
  printTable(title, ['', ...columns], rows)
}

/** @param servers are filled already */
export async function compareRoundcube(servers: readonly Server[], count: number, key: string): Promise<void> {
  const list = requests(count)
  const size = count.toLocaleString('en')
  show(`Roundcube's requests in a folder of ${size} messages`, list, await compare(servers, list))
  const deliveries = servers.flatMap(({ delivery }) => delivery ?? [])
  if (deliveries.length < servers.length) return console.log('While messages arrive: left out, install dovecot-lmtpd')
  const arrivals: Arrivals[] = []
  for (const delivery of deliveries)
    arrivals.push(startArrivals({ ...delivery, to: USER, key, bytes: MESSAGE_BYTES, perSecond: ARRIVALS_PER_SECOND }))
  const busy = await compare(servers, list)
  const counts = await Promise.all(arrivals.map((each) => each.stop()))
  show(`The same while ${ARRIVALS_PER_SECOND} messages a second arrive at each`, list, busy)
  console.log(`Delivered meanwhile: ${servers.map(({ name }, at) => `${name} ${counts[at]}`).join(', ')}`)
}

/** @param count messages of the folder */
export async function benchRoundcube(folder: string, form: Form, count: number): Promise<void> {
  if (!existsSync(DOVECOT)) return console.log('\nRoundcube beside Dovecot: left out, install dovecot-imapd')
  const keys = makeKeys()
  await using dns = await startDns(zoneOf(keys))
  dns.negativeTtl = 3600
  const imaps = await freePort()
  const ports = { CLIENT_PROTOCOLS: 'imaps', IMAPS_PORT: String(imaps) }
  const limits = { IMAP_MAX_PER_ADDRESS: '5000', IMAP_MAX_PER_MAILBOX: '5000' }
  const data = join(folder, 'roundcube')
  const env = { ...applianceEnv(data, dns.address), ...ports, ...limits }
  const { child, keys: secrets, smtp } = await startMailstead(form, env, [USER])
  await using _ours = child
  mkdirSync(join(folder, 'dovecot-roundcube'))
  const theirs = await startDovecotImap(join(folder, 'dovecot-roundcube'), { takesMail: existsSync(LMTP) })
  await using _theirs = theirs.child
  await untilOpen(child, imaps)
  const servers: Server[] = [
    { name: 'Mailstead', port: imaps, secret: secrets[0]!, child, delivery: { port: smtp, protocol: 'SMTP' } },
    {
      name: 'Dovecot',
      ...theirs,
      secret: 'any',
      delivery: theirs.lmtp === null ? null : { port: theirs.lmtp, protocol: 'LMTP' },
    },
  ]
  for (const server of servers) await fill(server, count, keys.private)
  await compareRoundcube(servers, count, keys.private)
}
