// An outside account at a Dovecot: the import against mbsync from the same server, memory while it runs, and how soon each side sees a change.

import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { ImapFlow } from 'imapflow'
import { type RemoteDovecot, remoteDovecotMissing, startRemoteDovecot } from '../test/support/remote-dovecot.ts'
import { numbers, SENDER, subject, text } from './mails.ts'
import { type Form, type Mailstead, startMailstead } from './mailstead.ts'
import { startNode } from './processes.ts'
import type { SeededAccount } from './seed-outside.ts'
import { applianceEnv } from './settings.ts'
import { megabytes, printTable, quantile, ratio, short } from './table.ts'

const USER = 'bench@elsewhere.test'
const LOOK_MS = 200
/** Changes of each kind that are timed. */
const CHANGES = 10
/** Memory is compared between these parts of the import. */
const EARLY = 0.2

/** @param messages in the Inbox of the account */
export async function benchOutside(folder: string, form: Form, messages: number): Promise<void> {
  const missing = remoteDovecotMissing()
  if (missing) return console.log(`outside: left out, ${missing}`)
  await using server = await startRemoteDovecot()
  server.fill(USER, '', mails(messages))
  // Dovecot makes its index with the first sign-in: neither side pays for it.
  await (await signIn(server)).logout()
  const mbsyncSeconds = await timeMbsync(server, folder)
  const env = { ...applianceEnv(join(folder, 'outside'), '127.0.0.1:9'), ALLOW_PRIVATE_IMAP_HOSTS: 'true' }
  const seeded = await seed(server, env)
  const mailstead = await startMailstead(form, env)
  await using _ = mailstead.child
  const imported = await timeImport(mailstead, seeded, messages)
  const [rate, base] = [messages / imported.seconds, messages / mbsyncSeconds]
  printTable(
    `Import of ${messages} messages from Dovecot`,
    ['', 'messages/s', 'ratio', 'CPU s', 'memory at 20 %', 'at the end', 'most'],
    [
      ['mbsync', short(base), '', '', '', '', ''],
      [
        ...['Mailstead', short(rate), ratio(rate, base), short(imported.cpuSeconds)],
        ...[imported.early, imported.end, imported.most].map(megabytes),
      ],
    ],
  )
  await timeChanges(server, mailstead, seeded)
}

function* mails(count: number) {
  const next = numbers(7)
  for (let n = 0; n < count; n++) {
    const head = [
      `From: ${SENDER}`,
      `To: ${USER}`,
      `Subject: ${subject(next)} ${n}`,
      `Message-ID: <${n}@bench.example>`,
    ]
    const bytes = Buffer.from(`${head.join('\r\n')}\r\n\r\n${text(500 + next(6000), next)}`)
    yield { bytes, receivedAt: Date.UTC(2020, 0, 1) + n * 60_000, flags: next(3) === 0 ? '' : 'S' }
  }
}

async function signIn({ host, port, password }: RemoteDovecot): Promise<ImapFlow> {
  const client = new ImapFlow({
    host,
    port,
    secure: false,
    doSTARTTLS: false,
    logger: false,
    auth: { user: USER, pass: password },
  })
  await client.connect()
  await client.mailboxOpen('INBOX')
  return client
}

async function timeMbsync({ port, password }: RemoteDovecot, folder: string): Promise<number> {
  const home = join(folder, 'outside-mbsync')
  mkdirSync(join(home, 'mail'), { recursive: true })
  const lines = [
    ...['FSync no', '', 'IMAPAccount a', 'Host 127.0.0.1', `Port ${port}`, `User ${USER}`, `Pass ${password}`],
    ...['AuthMechs PLAIN', 'SSLType None', '', 'IMAPStore far', 'Account a', ''],
    ...['MaildirStore near', `Path ${home}/mail/`, `Inbox ${home}/mail/INBOX`, ''],
    ...['Channel all', 'Far :far:', 'Near :near:', 'Create Near', 'SyncState *', ''],
  ]
  writeFileSync(join(home, 'rc'), lines.join('\n'), { mode: 0o600 })
  const began = performance.now()
  await promisify(execFile)('mbsync', ['-c', join(home, 'rc'), 'all'])
  return (performance.now() - began) / 1000
}

async function seed({ port, password }: RemoteDovecot, env: Record<string, string>): Promise<SeededAccount> {
  await using child = startNode('bench/seed-outside.ts', [String(port), USER, password], env)
  const seeded = await child.message<SeededAccount>()
  await child.ended
  return seeded
}

async function get({ app }: Mailstead, path: string, key: string) {
  const headers = { authorization: `Bearer ${key}`, host: 'app.bench.test' }
  const answer = await fetch(`http://127.0.0.1:${app}/api/v1${path}`, { headers })
  return ((await answer.json()) as { data: unknown }).data
}

async function timeImport(mailstead: Mailstead, { key, id }: SeededAccount, messages: number) {
  const { child } = mailstead
  const before = child.usage()
  let [began, early, most] = [0, 0, 0]
  for (;;) {
    const record = (await get(mailstead, `/remote-accounts/${id}`, key)) as {
      status: string
      status_reason: string | null
      import: { messages_done: number }
    }
    const now = performance.now()
    if (record.status === 'error') throw new Error(`The import failed: ${record.status_reason}`)
    if (began === 0 && record.status !== 'pending') began = now - LOOK_MS / 2
    const { memoryBytes, cpuSeconds } = child.usage()
    most = Math.max(most, memoryBytes)
    if (record.import.messages_done < messages * EARLY) early = Math.max(early, memoryBytes)
    if (record.status === 'active') {
      return {
        seconds: (now - began) / 1000,
        cpuSeconds: cpuSeconds - before.cpuSeconds,
        early,
        end: memoryBytes,
        most,
      }
    }
    await pause(LOOK_MS)
  }
}

/** New messages and flags, each way: from the answer to one side until the other one shows it. */
async function timeChanges(server: RemoteDovecot, mailstead: Mailstead, { mailboxKey }: SeededAccount): Promise<void> {
  const client = await signIn(server)
  const [inward, outward]: number[][] = [[], []]
  const list = async (query: string) =>
    (await get(mailstead, `/mailbox/messages?limit=1&${query}`, mailboxKey)) as { id: string }[]
  for (let n = 0; n < CHANGES; n++) {
    const subject = `noticed ${n} ${Date.now()}`
    await client.append('INBOX', `From: ${SENDER}\r\nSubject: ${subject}\r\n\r\nNew.\r\n`)
    const began = performance.now()
    let found = await list(`subject=${encodeURIComponent(subject)}`)
    for (; found.length === 0; found = await list(`subject=${encodeURIComponent(subject)}`)) await pause(5)
    inward!.push(performance.now() - began)
    await client.noop()
    const changed = await timeFlag(client, mailstead, mailboxKey, found[0]!.id)
    outward!.push(changed)
  }
  await client.logout()
  const row = (name: string, sample: number[]) => [name, ...[0.5, 1].map((share) => short(quantile(sample, share)))]
  printTable(
    'From a change on one side until the other shows it, ms',
    ['', 'median', 'most'],
    [row('new at the server, here', inward!), row('flag here, at the server', outward!)],
  )
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
