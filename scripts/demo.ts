// `npm run demo`: receives and sends a few messages with a real appliance, step by step; the appliance then stays up for experiments.
// `npm run demo -- --once` ends after the last step.

import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { createTransport } from 'nodemailer'
import { loadConfig } from '../src/config/load.ts'
import { firstTeam } from '../src/directory/first-team.ts'
import { type Appliance, openAppliance } from '../src/main.ts'
import { startDns } from '../test/support/dns.ts'
import { type MailServer, startMailServer } from '../test/support/mail-server.ts'
import { demoImap } from './demo-imap.ts'
import { type DemoMessage, demoMessages, NOISY_DOMAIN, zone } from './demo-mails.ts'
import { command, heading, line, showAnswer, showThread, type Thread } from './demo-print.ts'
import { demoSending } from './demo-send.ts'

const DOMAIN = 'demo.test'

type Call = <T>(method: string, path: string, body?: unknown) => Promise<T>

interface Mailbox {
  id: string
  email: string
  key: string
}

/** The API as a client with this key sees it. */
function client(origin: string, key: string): Call {
  return async <T>(method: string, path: string, body?: unknown) => {
    const reply = await fetch(`${origin}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
    })
    const answer = (await reply.json()) as { ok: boolean; data: T; error?: { message: string } }
    if (!answer.ok) throw new Error(`${method} ${path} answered ${reply.status}: ${answer.error?.message}`)
    return answer.data
  }
}

/** The usual port if it is free, else any free one. */
async function choosePort(usual: number): Promise<string> {
  for (const port of [usual, 0]) {
    const server = createServer().listen(port)
    // `once` rejects when an error comes first.
    const bound = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    if (!bound) continue
    const { port: found } = server.address() as { port: number }
    await new Promise((resolve) => server.close(resolve))
    return String(found)
  }
  throw new Error('There is no free port.')
}

async function open(dataDir: string, dns: string, other: MailServer): Promise<Appliance> {
  const settings = {
    DATA_DIR: dataDir,
    HTTP_PORT: await choosePort(8080),
    SEND_PORT: await choosePort(8081),
    SMTP_PORT: await choosePort(2525),
    IMAPS_PORT: await choosePort(2993),
    SUBMISSIONS_PORT: await choosePort(2465),
    SUBMISSION_PORT: await choosePort(2587),
    MANAGESIEVE_PORT: await choosePort(4190),
    CLIENT_BIND: '127.0.0.1',
    OPERATOR_BIND: `127.0.0.1:${await choosePort(9090)}`,
    HTTP_BIND: '127.0.0.1',
    SMTP_BIND: '127.0.0.1',
    DNS_SERVERS: dns,
    // One test server on this machine stands for all external mail servers.
    DIRECT_PORT: String(other.port),
    ALLOW_PRIVATE_SMTP_HOSTS: 'true',
    LOG_LEVEL: 'warn',
  }
  return openAppliance(loadConfig(settings, join(dataDir, 'no-settings-file.json')))
}

async function makeMailbox(call: Call, email: string, name: string): Promise<Mailbox> {
  const wanted = { email, display_name: name, create_api_key: true }
  const { id, api_key } = await call<{ id: string; api_key: { key: string } }>('POST', '/mailboxes', wanted)
  return { id, email, key: api_key.key }
}

async function post(port: number, messages: readonly DemoMessage[]): Promise<void> {
  // The certificate of the demo is self-signed.
  const transport = createTransport({
    host: '127.0.0.1',
    port,
    name: 'mx.harbour.test',
    tls: { rejectUnauthorized: false },
  })
  for (const { kind, options, refused = false } of messages) {
    const { answer, taken } = await transport.sendMail(options).then(
      ({ response, rejected }) => ({ answer: response, taken: rejected.length === 0 }),
      (error: Error & { response?: string }) => ({ answer: error.response ?? error.message, taken: false }),
    )
    showAnswer(kind, String(options.from), answer, taken)
    if (taken === refused)
      throw new Error(`The message "${options.subject}" should have been ${refused ? 'rejected' : 'accepted'}.`)
  }
  transport.close()
}

/** What the commands for the user contain. */
interface Story {
  rootKey: string
  mailbox: Mailbox
  /** App password of the mailbox. */
  password: string
  /** Id of a message with attachments. */
  message: string
}

function showWhatToTry(appliance: Appliance, { rootKey, mailbox, password, message }: Story): void {
  const origin = appliance.app.config.APP_ORIGIN
  const curl = (key: string, path: string) => `curl -H 'Authorization: Bearer ${key}' '${origin}/api/v1${path}'`
  heading('Now you', 'every command can be pasted as it is')
  command('the threads above', curl(mailbox.key, '/mailbox/threads'))
  command('a search', curl(mailbox.key, '/mailbox/threads?q=from:grace+lunch'))
  command('one message: its parts, and the results of the checks', curl(mailbox.key, `/mailbox/messages/${message}`))
  const whole = `${curl(mailbox.key, `/mailbox/messages/${message}/raw`)} -H 'Accept: message/rfc822'`
  command('the same message, byte for byte', whole)
  const imap = `imaps://127.0.0.1:${appliance.ports.imaps}/INBOX;MAILINDEX=1`
  command('the first message over IMAP', `curl --insecure --user '${mailbox.email}:${password}' '${imap}'`)
  command('the inbound log: every message, rejected ones included, with the reason', curl(rootKey, '/inbound/logs'))
  const mail = JSON.stringify({
    messages: [
      { from: { email: `news@${DOMAIN}` }, to: { email: mailbox.email }, subject: 'News', text_body: 'Fresh.' },
    ],
  })
  const batch = `-H 'Content-Type: application/json' -d '${mail}' '${appliance.app.config.SEND_ORIGIN}/api/v1/emails/send/batch'`
  command('send a batch of one message', `curl -H 'Authorization: Bearer ${rootKey}' ${batch}`)
  command('the delivery log: the outcome of every sent message', curl(rootKey, '/emails/logs'))
  command('the OpenAPI document', `curl '${origin}/api/v1/openapi.json'`)
  command('events of the mailbox as they happen', curl(mailbox.key, '/mailbox/events').replace('curl', 'curl -N'))
  const server = `--server 127.0.0.1:${appliance.ports.smtp}`
  command('send a message to alice yourself', `swaks ${server} --from you@harbour.test --to ${mailbox.email}`)
}

/** @param isOnce whether the appliance ends after the last step */
async function runSteps(appliance: Appliance, other: MailServer, isOnce: boolean): Promise<void> {
  const { APP_ORIGIN: origin } = appliance.app.config
  heading('1  The appliance is up', 'with an empty data folder; the settings name its ports and the test server')
  const { smtp, imaps } = appliance.ports
  line(`SMTP listens on 127.0.0.1:${smtp}, IMAP on 127.0.0.1:${imaps}, the API on ${origin}`)

  heading('2  A team, a domain, two mailboxes', 'names under .test are reserved, so they are verified immediately')
  const { key } = (await firstTeam(appliance.app.directory, 'Demo'))!
  const rootKey = key.secret
  const root = client(origin, rootKey)
  const domain = await root<{ id: string }>('POST', '/domains', { domain: DOMAIN })
  const alice = await makeMailbox(root, `alice@${DOMAIN}`, 'Alice')
  const bob = await makeMailbox(root, `bob@${DOMAIN}`, 'Bob')
  const rules = [{ type: 'deny', pattern: `*@${NOISY_DOMAIN}` }]
  await root('PUT', `/domains/${domain.id}/filters`, { mode: 'denylist', rules })
  line(`${alice.email} and ${bob.email}; the sender filter of the domain blocks ${NOISY_DOMAIN}`)

  heading('3  Mail comes in over SMTP', 'with the replies the senders get')
  await post(smtp, demoMessages(alice.email, bob.email))

  let message = ''
  for (const mailbox of [bob, alice]) {
    heading(`${mailbox === bob ? 4 : 5}  GET /api/v1/mailbox/threads`, `with the key of ${mailbox.email}`)
    const threads = await client(origin, mailbox.key)<Thread[]>('GET', '/mailbox/threads')
    for (const thread of threads) showThread(thread)
    message = threads.find((thread) => thread.has_attachments)?.last_message.id ?? message
  }
  await demoSending(root, client(origin, alice.key), bob.email, other)

  const { password } = await root<{ password: string }>('POST', `/mailboxes/${alice.id}/app-passwords`, {
    name: 'Demo',
  })
  await demoImap(imaps, alice.email, password)
  // The commands need the running appliance.
  if (!isOnce) showWhatToTry(appliance, { rootKey, mailbox: alice, password, message })
}

const isOnce = process.argv.includes('--once')
const dataDir = await mkdtemp(join(tmpdir(), 'mailstead-demo-'))
const dns = await startDns(zone)
const other = await startMailServer()
try {
  const appliance = await open(dataDir, dns.address, other)
  await runSteps(appliance, other, isOnce)
  if (isOnce) line('\n   The demo is complete. npm run demo keeps the appliance running for experiments.')
  else {
    line('\n   Ctrl-C ends it and deletes the data folder.')
    await Promise.race(['SIGINT', 'SIGTERM'].map((signal) => once(process, signal)))
  }
  await appliance.close()
} finally {
  await other[Symbol.asyncDispose]()
  await dns.close()
  await rm(dataDir, { recursive: true, force: true })
}
