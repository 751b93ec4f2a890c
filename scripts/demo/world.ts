// The world around the demo, all of it on this machine: DNS, the mail servers of all others, a relay, and a receiver of webhooks.

import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SMTPServerOptions } from 'smtp-server'
import { type LocalDns, startDns } from '../../test/support/dns.ts'
import { type Hook, startHook } from '../../test/support/hook.ts'
import { certificateFor, type MailServer, startMailServer } from '../../test/support/mail-server.ts'
import { zone } from './mails.ts'
import { MAIL_HOST, OWN_DOMAINS, PARTNERS, RELAY_HOST } from './names.ts'

export interface World extends AsyncDisposable {
  dns: LocalDns
  /** Of all external domains. */
  other: MailServer
  /** What a sending account uses. */
  relay: MailServer
  hook: Hook
  /** Settings of an appliance that knows nothing but this world; its data is in the folder. */
  settings(dataDir: string): Promise<Record<string, string>>
}

const HOOK_HOST = 'hooks.tidewater.example'
/** Answers of the receiver of webhooks at `/crm`: every fourth call fails. */
const FAILING = 4
const REFUSALS: Readonly<Record<string, { code: number; text: string }>> = {
  lars: { code: 550, text: '5.1.1 No such user here' },
  mats: { code: 550, text: '5.1.1 User unknown' },
  scans: { code: 552, text: '5.3.4 Message too big for system' },
  'no-reply': { code: 550, text: '5.1.10 This address takes no mail' },
  accounts: { code: 452, text: '4.2.2 The mailbox is full' },
}

/** The reply of an external server to a recipient. */
const answerRecipient: SMTPServerOptions['onRcptTo'] = ({ address }, _session, done) => {
  const refusal = REFUSALS[address.split('@')[0]!]
  if (refusal === undefined) return done()
  done(Object.assign(new Error(refusal.text), { responseCode: refusal.code }))
}

/** The relay knows every user but one who has left. */
const answerUser: SMTPServerOptions['onAuth'] = ({ username }, _session, done) => {
  if (username !== 'retired') return done(null, { user: username })
  done(Object.assign(new Error('5.7.8 Authentication credentials invalid'), { responseCode: 535 }))
}

export async function startWorld(): Promise<World> {
  const dns = await startDns({ ...zone, ...zoneOf() })
  const other = await startMailServer({ onRcptTo: answerRecipient })
  const certificate = await certificateFor(RELAY_HOST)
  const relay = await startMailServer({ ...certificate, onAuth: answerUser, onRcptTo: answerRecipient })
  const hook = await startHook(HOOK_HOST)
  let calls = 0
  hook.answer(({ path }, response) => {
    if (path === '/crm' && ++calls % FAILING === 0) response.writeHead(503).end('The customer database is being moved.')
    else response.end('ok')
  })
  const folder = await mkdtemp(join(tmpdir(), 'mailstead-demo-keys-'))
  const authorities = join(folder, 'authorities.pem')
  await writeFile(authorities, `${await readFile(hook.caFile, 'utf8')}\n${certificate.cert}`)
  return {
    dns,
    other,
    relay,
    hook,
    settings: async (dataDir) => ({
      ...(await listeners()),
      DATA_DIR: dataDir,
      MAIL_HOSTS: MAIL_HOST,
      DNS_SERVERS: dns.address,
      // One server on this machine stands for all external mail servers.
      DIRECT_PORT: String(other.port),
      ALLOW_PRIVATE_SMTP_HOSTS: 'true',
      ALLOW_PRIVATE_WEBHOOKS: 'true',
      EXTRA_CA_FILE: authorities,
      AGENT_MAILBOX_DOMAIN: 'agents.tidewater.example',
      // Quick to solve: the demo registers an agent.
      POW_COST: '10',
      BILLING_UNIT_PRICE: '0.0004',
      // An account that fails, and webhooks that do, are part of the demo.
      LOG_LEVEL: 'error',
    }),
    async [Symbol.asyncDispose]() {
      await Promise.all([other, relay, hook].map((one) => one[Symbol.asyncDispose]()))
      await dns.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function zoneOf() {
  const here = { A: ['127.0.0.1'] }
  const partners = PARTNERS.flatMap(({ domain, policy, mayUseUs }) => [
    [
      domain,
      {
        TXT: [mayUseUs ? 'v=spf1 ip4:127.0.0.1 -all' : 'v=spf1 -all'],
        MX: [{ priority: 10, exchange: `mx.${domain}` }],
      },
    ],
    [`mx.${domain}`, here],
    [`_dmarc.${domain}`, { TXT: [`v=DMARC1; p=${policy}`] }],
  ])
  return {
    ...Object.fromEntries(partners),
    [MAIL_HOST]: here,
    [RELAY_HOST]: here,
    [HOOK_HOST]: here,
    // Published by hand long ago, and only half right.
    [OWN_DOMAINS.shop]: {
      MX: [{ priority: 10, exchange: MAIL_HOST }],
      TXT: ['v=spf1 include:_spf.oldhost.example ~all'],
    },
  }
}

/** The usual ports where they are free. */
async function listeners(): Promise<Record<string, string>> {
  return {
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
