// `npm run demo`: receives and sends a few messages with a real appliance, step by step; the appliance then stays up with two weeks of mail for
// the console. `npm run demo -- --once` ends after the last step, on an empty team.

import { once } from 'node:events'
import process from 'node:process'
import { styleText } from 'node:util'
import { createTransport } from 'nodemailer'
import type { Appliance } from '../src/main.ts'
import { client, type DemoMailbox, makeMailbox } from './demo/api.ts'
import { demoImap } from './demo/imap.ts'
import { type DemoMessage, demoMessages, NOISY_DOMAIN } from './demo/mails.ts'
import { OWNER } from './demo/names.ts'
import { type Demo, openDemo } from './demo/open.ts'
import { command, heading, line, showAnswer, showThread, type Thread } from './demo/print.ts'
import { demoSending } from './demo/send.ts'

const DOMAIN = 'demo.test'

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
  mailbox: DemoMailbox
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
async function runSteps({ appliance, world, rootKey }: Demo, isOnce: boolean): Promise<void> {
  const { APP_ORIGIN: origin } = appliance.app.config
  heading('1  The appliance is up', 'in a temporary data folder; the settings name its ports and the test servers')
  const { smtp, imaps } = appliance.ports
  line(`SMTP listens on 127.0.0.1:${smtp}, IMAP on 127.0.0.1:${imaps}, the API on ${origin}`)

  heading('2  A domain, two mailboxes', 'names under .test are reserved, so they are verified immediately')
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
  await demoSending(root, client(origin, alice.key), bob.email, world)

  const { password } = await root<{ password: string }>('POST', `/mailboxes/${alice.id}/app-passwords`, {
    name: 'Demo',
  })
  await demoImap(imaps, alice.email, password)
  // The commands need the running appliance.
  if (!isOnce) showWhatToTry(appliance, { rootKey, mailbox: alice, password, message })
}

/** The last lines: where the console is. */
function showConsole(address: string, origin: string): void {
  heading('The console', 'with two weeks of mail in it; Ctrl-C ends the demo and deletes its data')
  line(`This address signs in as ${OWNER}, who owns the team and operates the server. It works once:`)
  console.log(`\n   ${styleText('bold', address)}\n`)
  line(`Her mailbox, after that: ${origin}/mail/`)
}

const isOnce = process.argv.includes('--once')
if (!isOnce) console.log('Two weeks of mail are being made for the console; this takes some seconds …')
await using demo = await openDemo(!isOnce)
await runSteps(demo, isOnce)
if (isOnce) line('\n   The demo is complete. npm run demo keeps the appliance running for experiments.')
else {
  showConsole(await demo.signInAddress(), demo.appliance.app.config.APP_ORIGIN)
  await Promise.race(['SIGINT', 'SIGTERM'].map((signal) => once(process, signal)))
}
