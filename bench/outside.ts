// An outside account at a Dovecot: the import against mbsync from the same server, killed once, with its memory; and how soon each side sees a change.

import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { ImapFlow } from 'imapflow'
import { type RemoteDovecot, remoteDovecotMissing, startRemoteDovecot } from '../test/support/remote-dovecot.ts'
import { numbers, SENDER, subject, text } from './mails.ts'
import { type Form, type Mailstead, startMailstead } from './mailstead.ts'
import { get, type ImportResult, reportEnv, watchImport } from './outside-import.ts'
import { startNode } from './processes.ts'
import type { SeededAccount } from './seed-outside.ts'
import { applianceEnv } from './settings.ts'
import { hasMbsync } from './stacks/mbsync.ts'
import { megabytes, printTable, quantile, ratio, short } from './table.ts'

const USER = 'bench@elsewhere.test'
/** An account for mbsync as it runs unless told otherwise: it flushes each file, which takes half an hour for 200,000. */
const FLUSHED = { user: 'flushed@elsewhere.test', messages: 5000 }
/** Changes of each kind that are timed. */
const CHANGES = 10
/** ... during the import. */
const CHANGES_MEANWHILE = 3

/** @param messages in the Inbox of the account */
export async function benchOutside(folder: string, form: Form, messages: number): Promise<void> {
  const missing = remoteDovecotMissing()
  if (missing) return console.log(`outside: left out, ${missing}`)
  await using server = await startRemoteDovecot()
  server.fill(USER, '', mails(messages))
  server.fill(FLUSHED.user, '', mails(FLUSHED.messages))
  const peers = !hasMbsync()
    ? []
    : [
        { name: 'mbsync', ...(await timeMbsync(server, folder, { ...FLUSHED, flushes: 'yes' })) },
        { name: 'mbsync, FSync no', ...(await timeMbsync(server, folder, { user: USER, messages, flushes: 'no' })) },
      ]
  const dataDir = join(folder, 'outside')
  const env = { ...applianceEnv(dataDir, '127.0.0.1:9'), ALLOW_PRIVATE_IMAP_HOSTS: 'true' }
  const account = await seed(server, env)
  const meanwhile: Delays = { inward: [], outward: [] }
  const [imported, mailstead] = await watchImport(folder, {
    start: () => startMailstead(form, { ...env, ...reportEnv(folder) }),
    ...{ account, messages, newest: subjectOf(messages) },
    onChanges: (running) => timeChanges(server, running, account, { count: CHANGES_MEANWHILE, delays: meanwhile }),
  })
  await using _ = mailstead.child
  printImport(messages, peers, imported)
  const after: Delays = { inward: [], outward: [] }
  await timeChanges(server, mailstead, account, { count: CHANGES, delays: after })
  printDelays({ 'during the import': meanwhile, afterwards: after })
}

interface Peer {
  name: string
  messagesPerSecond: number
  /** ms */
  cpuPerMessage: number
}

function printImport(messages: number, peers: Peer[], imported: ImportResult): void {
  const rate = messages / imported.seconds
  printTable(
    `Import of ${messages} messages from Dovecot`,
    ['', 'messages/s', 'Mailstead is', 'CPU ms/message', 'readable after, ms', 'goes on after kill -9, ms'],
    [
      [
        ...['Mailstead', short(rate), '', short((imported.cpuSeconds * 1000) / messages)],
        ...[short(imported.readableMs), short(imported.goesOnMs)],
      ],
      ...peers.map(({ name, messagesPerSecond, cpuPerMessage }) => [
        ...[name, short(messagesPerSecond), ratio(rate, messagesPerSecond), short(cpuPerMessage), '', ''],
      ]),
    ],
  )
  printTable(
    'Memory during the import',
    ['messages', 'RSS', 'without mapped files', 'heap of the first thread', 'of the import', 'of the other threads'],
    imported.points.map(({ messages: done, resident, anonymous, heaps }) => [
      short(done),
      ...[resident, anonymous, heaps.first, heaps.sync, heaps.others].map(megabytes),
    ]),
  )
}

/** ms from the answer to one side until the other one shows the change. */
interface Delays {
  inward: number[]
  outward: number[]
}

function printDelays(all: Record<string, Delays>): void {
  const row = (name: string, sample: number[]) => [name, ...[0.5, 1].map((share) => short(quantile(sample, share)))]
  printTable(
    'From a change on one side until the other shows it, ms',
    ['', 'median', 'most'],
    Object.entries(all).flatMap(([when, { inward, outward }]) => [
      row(`new at the server, here, ${when}`, inward),
      row(`flag here, at the server, ${when}`, outward),
    ]),
  )
}

function subjectOf(n: number): string {
  return `Message ${n}`
}

function* mails(count: number) {
  const next = numbers(7)
  for (let n = 0; n < count; n++) {
    const head = [
      `From: ${SENDER}`,
      `To: ${USER}`,
      `Subject: ${n === count - 1 ? subjectOf(count) : `${subject(next)} ${n}`}`,
      `Message-ID: <${n}@bench.example>`,
    ]
    const bytes = Buffer.from(`${head.join('\r\n')}\r\n\r\n${text(500 + next(6000), next)}`)
    yield { bytes, receivedAt: Date.UTC(2020, 0, 1) + n * 60_000, flags: next(3) === 0 ? '' : 'S' }
  }
}

async function signIn({ host, port, password }: RemoteDovecot, user = USER): Promise<ImapFlow> {
  const client = new ImapFlow({
    host,
    port,
    secure: false,
    doSTARTTLS: false,
    logger: false,
    auth: { user, pass: password },
  })
  await client.connect()
  await client.mailboxOpen('INBOX')
  return client
}

async function timeMbsync(
  server: RemoteDovecot,
  folder: string,
  { user, messages, flushes }: { user: string; messages: number; flushes: 'yes' | 'no' },
): Promise<Omit<Peer, 'name'>> {
  // Dovecot makes its index with the first sign-in: neither side pays for it.
  await (await signIn(server, user)).logout()
  const { port, password } = server
  const home = join(folder, `outside-mbsync-${flushes}`)
  mkdirSync(join(home, 'mail'), { recursive: true })
  const lines = [
    ...[`FSync ${flushes}`, '', 'IMAPAccount a', 'Host 127.0.0.1', `Port ${port}`, `User ${user}`, `Pass ${password}`],
    ...['AuthMechs PLAIN', 'SSLType None', '', 'IMAPStore far', 'Account a', ''],
    ...['MaildirStore near', `Path ${home}/mail/`, `Inbox ${home}/mail/INBOX`, ''],
    ...['Channel all', 'Far :far:', 'Near :near:', 'Create Near', 'SyncState *', ''],
  ]
  writeFileSync(join(home, 'rc'), lines.join('\n'), { mode: 0o600 })
  const began = performance.now()
  // "user system" of the program, seconds.
  const timed = ['-c', 'TIMEFORMAT="%U %S"; time mbsync -c "$0" all', join(home, 'rc')]
  const { stderr } = await promisify(execFile)('bash', timed)
  const elapsed = performance.now() - began
  const [inUser, inSystem] = stderr.trim().split('\n').at(-1)!.split(' ').map(Number)
  return { messagesPerSecond: (messages * 1000) / elapsed, cpuPerMessage: ((inUser! + inSystem!) * 1000) / messages }
}

async function seed({ port, password }: RemoteDovecot, env: Record<string, string>): Promise<SeededAccount> {
  await using child = startNode('bench/seed-outside.ts', [String(port), USER, password], env)
  const seeded = await child.message<SeededAccount>()
  await child.ended
  return seeded
}

/** New messages and flags, each way. */
async function timeChanges(
  server: RemoteDovecot,
  mailstead: Mailstead,
  { mailboxKey }: SeededAccount,
  { count, delays }: { count: number; delays: Delays },
): Promise<void> {
  const client = await signIn(server)
  const list = async (query: string) =>
    (await get(mailstead, `/mailbox/messages?limit=1&${query}`, mailboxKey)) as { id: string }[]
  for (let n = 0; n < count; n++) {
    const subject = `noticed ${n} ${Date.now()}`
    await client.append('INBOX', `From: ${SENDER}\r\nSubject: ${subject}\r\n\r\nNew.\r\n`)
    const began = performance.now()
    let found = await list(`subject=${encodeURIComponent(subject)}`)
    for (; found.length === 0; found = await list(`subject=${encodeURIComponent(subject)}`)) await pause(5)
    delays.inward.push(performance.now() - began)
    await client.noop()
    delays.outward.push(await timeFlag(client, mailstead, mailboxKey, found[0]!.id))
  }
  await client.logout()
}

async function timeFlag(client: ImapFlow, { app }: Mailstead, key: string, id: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, host: 'app.bench.test', 'content-type': 'application/json' }
  const body = JSON.stringify({ flags: { flagged: true } })
  const answer = await fetch(`http://127.0.0.1:${app}/api/v1/mailbox/messages/${id}`, {
    method: 'PATCH',
    headers,
    body,
  })
  if (!answer.ok) throw new Error(`The flag was refused: ${await answer.text()}`)
  const began = performance.now()
  for (;;) {
    const last = await client.fetchOne('*', { flags: true })
    if (last !== false && last.flags?.has('\\Flagged')) return performance.now() - began
    await pause(5)
  }
}
