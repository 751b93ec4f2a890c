// A million random IMAP commands, whole and damaged, against an appliance: it answers, stays up and has no internal error.
// node bench/imap-fuzz.ts [commands] [seed]

import process from 'node:process'
import { startAppliance } from '../test/support/appliance.ts'
import { type ImapClient, logInImap } from '../test/support/imap.ts'
import { CommandMaker } from '../test/support/imap-fuzz.ts'
import { Random } from '../test/support/random.ts'

const COUNT = Number(process.argv[2] ?? 1_000_000)
const SEED = Number(process.argv[3] ?? 1)
/** Commands of one connection. */
const TOGETHER = 50
const MESSAGES = 20

const appliance = await startAppliance({ env: { IMAP_MAX_PER_ADDRESS: '1000', IMAP_MAX_PER_MAILBOX: '1000' } })
const team = await appliance.team()
await team.domain('fuzz.test')
const mailbox = await team.mailbox('fuzz@fuzz.test')
const random = new Random(SEED)
const maker = new CommandMaker(random)
const counts = new Map<string, number>()
const faulty: string[] = []

/** Reads everything up to the end of the connection. */
async function drain(client: ImapClient, sent: string[]): Promise<void> {
  for (let one = await client.response(); one !== null; one = await client.response()) {
    const kind = /^\S+ (OK|NO|BAD|BYE)/.exec(one)?.[1] ?? 'data'
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
    if (one.includes('[SERVERBUG]')) faulty.push(`${one}\n${sent.join('')}`)
  }
}

const setUp = await logInImap(appliance, mailbox)
for (let i = 0; i < MESSAGES; i++) await setUp.run(`APPEND INBOX (\\Seen kw) {${20}}`, 'Subject: x\r\n\r\nhello.')
for (let done = 0; done < COUNT; done += TOGETHER) {
  const client = await logInImap(appliance, mailbox)
  if (random.chance(0.5)) client.write(`e ENABLE ${random.pick(['QRESYNC', 'IMAP4rev2', 'UTF8=ACCEPT'])}\r\n`)
  client.write(`s ${random.pick(['SELECT', 'EXAMINE'])} INBOX\r\n`)
  const sent: string[] = []
  const drained = drain(client, sent)
  for (let i = 0; i < TOGETHER; i++) {
    const command = random.chance(0.5) ? Buffer.from(maker.make(), 'latin1') : maker.damaged()
    sent.push(command.toString('latin1'))
    client.write(command)
  }
  client.write('DONE\r\nz LOGOUT\r\n')
  client.socket.end()
  await drained
  client.close()
  if (faulty.length > 0) break
}
const alive = await logInImap(appliance, mailbox)
console.log(
  Object.fromEntries(counts),
  (await alive.run('NOOP')).status,
  `${Math.round(process.memoryUsage().rss / 2 ** 20)} MiB`,
)
for (const one of faulty) console.log(JSON.stringify(one))
await appliance.close()
process.exitCode = faulty.length > 0 ? 1 : 0
