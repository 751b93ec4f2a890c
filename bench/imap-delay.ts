// Delay of the first thread while one client selects, reads, searches, sorts, threads and synchronises a large folder.
// node bench/imap-delay.ts [messages]

import { once } from 'node:events'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import process from 'node:process'
import { Worker } from 'node:worker_threads'
import { stopwatch } from '../src/base/clock.ts'
import { startAppliance } from '../test/support/appliance.ts'
import { fillInbox } from '../test/support/large-folder.ts'
import { printTable, short } from './table.ts'

const COUNT = Number(process.argv[2] ?? 200_000)
const NS_PER_MS = 1e6
/** More are not threaded (`THREAD_MESSAGES`). */
const THREADED = Math.min(COUNT, 100_000)

/** What is measured: a name, and the command. */
const COMMANDS: readonly [name: string, command: string][] = [
  ['SELECT', 'SELECT INBOX'],
  ['FETCH 1:* FLAGS', 'FETCH 1:* (FLAGS)'],
  ['FETCH 1:* ENVELOPE', `FETCH 1:${Math.min(COUNT, 20_000)} (ENVELOPE)`],
  ['SEARCH ALL', 'SEARCH ALL'],
  ['SEARCH RETURN ALL', 'SEARCH RETURN (ALL) UNSEEN'],
  ['SEARCH SUBJECT', 'SEARCH SUBJECT s19999'],
  ['SEARCH FROM', 'SEARCH FROM "Person 17"'],
  ['SEARCH SENTSINCE', 'UID SEARCH SENTSINCE 1-Jan-2025'],
  ['SEARCH BODY, words', 'SEARCH BODY w976'],
  ['SEARCH BODY, exact', 'SEARCH 1:2000 BODY nothing-here'],
  ['SEARCH HEADER, rare', 'SEARCH 1:2000 HEADER X-Rare yes'],
  ['SORT ARRIVAL', 'SORT (REVERSE ARRIVAL) UTF-8 ALL'],
  ['SORT SUBJECT DATE', 'SORT (SUBJECT DATE) UTF-8 ALL'],
  ['THREAD', `THREAD REFERENCES UTF-8 1:${THREADED}`],
  ['THREAD subjects', `UID THREAD ORDEREDSUBJECT UTF-8 1:${THREADED}`],
  ['STORE 1:2000', 'STORE 1:2000 +FLAGS.SILENT (\\Flagged)'],
  ['QRESYNC, 2,000 changed', `SELECT INBOX (QRESYNC (%uidvalidity% ${COUNT + 1}))`],
  ['QRESYNC, all changed', 'SELECT INBOX (QRESYNC (%uidvalidity% 1))'],
  ['COPY 1:2000', 'COPY 1:2000 Archive'],
  ['MOVE 1:2000', 'MOVE 1:2000 Trash'],
  ['SELECT Trash', 'SELECT Trash'],
  ['STORE 1:2000 \\Deleted', 'STORE 1:2000 +FLAGS.SILENT (\\Deleted)'],
  ['EXPUNGE of 2000', 'EXPUNGE'],
]

/** The client has a thread of its own: its work must not delay the server's. */
const CLIENT = `
  const { parentPort, workerData } = require('node:worker_threads')
  const socket = require('node:tls').connect({ host: '127.0.0.1', port: workerData.port, rejectUnauthorized: false })
  let rest = ''
  let bytes = 0
  let validity = ''
  socket.on('data', (chunk) => {
    bytes += chunk.length
    const text = rest + chunk.toString('latin1')
    validity = /UIDVALIDITY (\\d+)/.exec(text)?.[1] ?? validity
    const done = /(?:^|\\n)t (OK|NO|BAD)[^\\r\\n]*\\r\\n$/.exec(text.slice(-20000))
    rest = text.slice(-20000)
    if (done !== null) {
      parentPort.postMessage({ bytes, answer: done[0].trim() })
      rest = ''
      bytes = 0
    }
  })
  parentPort.on('message', (line) => socket.write('t ' + line.replace('%uidvalidity%', validity) + '\\r\\n'))
`

/** CPU time of this thread between two ticks of 1 ms: the longest is about the longest stretch without a turn for others. */
class StretchProbe {
  longestMs = 0
  #last = process.threadCpuUsage()
  readonly #timer = setInterval(() => {
    const { user, system } = process.threadCpuUsage(this.#last)
    this.longestMs = Math.max(this.longestMs, (user + system) / 1000)
    this.#last = process.threadCpuUsage()
  }, 1)

  stop(): void {
    clearInterval(this.#timer)
  }
}

async function measure(client: Worker, name: string, command: string): Promise<string[]> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  const elapsed = stopwatch()
  const before = process.threadCpuUsage()
  const probe = new StretchProbe()
  delay.enable()
  client.postMessage(command)
  const [{ bytes, answer }] = (await once(client, 'message')) as [{ bytes: number; answer: string }]
  delay.disable()
  probe.stop()
  const { user, system } = process.threadCpuUsage(before)
  if (!answer.includes('OK')) console.log(`${name}: ${answer}`)
  const times = [elapsed(), (user + system) / 1000, probe.longestMs]
  const delays = [delay.percentile(99) / NS_PER_MS, delay.max / NS_PER_MS]
  return [name, short(bytes), ...[...times, ...delays].map(short)]
}

/** Every second message leaves the folder, as if other sessions had expunged it: one range each, so that they are not kept. */
async function expungeHalf({ app }: typeof appliance, mailboxId: string): Promise<void> {
  const account = app.store.accounts.byMailbox(mailboxId)!
  const { n, modSeq } = app.store.programs.views.statuses(account).find(({ role }) => role === 'inbox')!
  await app.db.write((tx) => {
    tx.run('DELETE FROM message_folders WHERE folder = ? AND uid % 2 = 0', [n])
    tx.run('INSERT INTO expunged_floors (folder, seq) VALUES (?, ?)', [n, modSeq + 1])
    tx.run('UPDATE folders SET mod_seq = ?, total_messages = total_messages / 2 WHERE n = ?', [modSeq + 1, n])
  })
}

const appliance = await startAppliance()
try {
  const team = await appliance.team()
  await team.domain('bench.test')
  const mailbox = await team.mailbox('box@bench.test', { quotaBytes: 2 ** 40 })
  const filling = stopwatch()
  await fillInbox(appliance.app, mailbox.id, COUNT)
  console.log(`${COUNT} messages, filled in ${short(filling() / 1000)} s`)
  const client = new Worker(CLIENT, { eval: true, workerData: { port: appliance.ports.imaps } })
  const rows: string[][] = []
  for (const [name, command] of [
    ['LOGIN', `LOGIN ${mailbox.email} ${mailbox.key}`] as const,
    ['ENABLE', 'ENABLE QRESYNC'] as const,
    ...COMMANDS,
    ['SELECT INBOX', 'SELECT INBOX'] as const,
  ]) {
    rows.push(await measure(client, name, command))
    console.log(rows.at(-1)!.join('\t'))
  }
  const plain = new Worker(CLIENT, { eval: true, workerData: { port: appliance.ports.imaps } })
  rows.push(await measure(plain, 'LOGIN without QRESYNC', `LOGIN ${mailbox.email} ${mailbox.key}`))
  rows.push(await measure(plain, 'SELECT, view shared', 'SELECT INBOX'))
  await expungeHalf(appliance, mailbox.id)
  rows.push(await measure(plain, 'NOOP, half expunged', 'NOOP'))
  rows.push(await measure(client, 'the same, VANISHED', 'NOOP'))
  for (const row of rows.slice(-4)) console.log(row.join('\t'))
  await plain.terminate()
  const heads = ['', 'bytes', 'elapsed ms', 'CPU ms', 'longest CPU ms', 'delay p99 ms', 'delay max ms']
  printTable(`First thread, a folder of ${COUNT} messages`, heads, rows)
  await client.terminate()
} finally {
  await appliance.close()
}
