// Sent messages on a temporary database, with everything that determines their outcome; nothing is delivered.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newId } from '../../src/base/ids.ts'
import { openLog } from '../../src/base/log.ts'
import { sha256 } from '../../src/base/secrets.ts'
import { loadConfig } from '../../src/config/load.ts'
import { type Context, openContext } from '../../src/context.ts'
import { chunksOf } from '../../src/mime/chunks.ts'
import type { DeliveryState } from '../../src/outbound/log/emails.ts'
import type { Email } from '../../src/outbound/model/records.ts'
import type { Outbound } from '../../src/outbound/outbound.ts'
import { ManualClock } from './clock.ts'

/** The parts of an appliance that determine the outcome of messages of one team, and functions that create messages. */
export interface SendingContext
  extends Pick<Outbound['log'], 'emails'>,
    Pick<Outbound['queue'], 'transitions' | 'suppressions'>,
    Pick<Outbound['reports'], 'feedback' | 'notices'> {
  queue: Outbound['queue']['entries']
  app: Context
  teamId: string
  /** A message every recipient's server accepted, from a root key unless a mailbox is given. */
  sent(recipients: readonly string[], from?: { id: string | null; email: string }): Promise<Email>
  /** The same message before any server accepted it. */
  accepted(recipients: readonly string[], from?: { id: string | null; email: string }): Promise<Email>
  mailbox(email: string): Promise<{ id: string; email: string }>
  deliveries(email: Email): Promise<DeliveryState[]>
  /** Events so far, oldest first. */
  events(): Promise<{ type: string; data: Record<string, unknown> }[]>
}

export interface SendingAppliance extends SendingContext, AsyncDisposable {
  clock: ManualClock
}

const LIFETIME_MS = 48 * 3_600_000

/** On a data folder of its own, without any server. */
export async function openSendingAppliance(): Promise<SendingAppliance> {
  const folder = await mkdtemp(join(tmpdir(), 'mailstead-sent-'))
  const clock = new ManualClock()
  const config = loadConfig({ DATA_DIR: folder, MAIL_HOSTS: 'mx.mailstead.test' }, join(folder, 'none.json'))
  const app = await openContext(config, { clock, log: openLog('silent') })
  const teamId = (await app.directory.teams.create({ name: 'Shop' })).id
  await app.directory.domains.create(teamId, 'shop.test')
  return {
    ...sendingContextOf(app, teamId),
    clock,
    async [Symbol.asyncDispose]() {
      await app.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Inside a running appliance. */
export function sendingContextOf(app: Context, teamId: string): SendingContext {
  const { clock } = app
  const { emails } = app.outbound.log
  const { entries: queue, suppressions, transitions } = app.outbound.queue
  const { feedback, notices } = app.outbound.reports
  const accepted: SendingContext['accepted'] = async (recipients, from) => {
    const sender = from?.email ?? 'news@shop.test'
    const id = newId('email')
    const bytes = Buffer.from(`From: ${sender}\r\nSubject: Hello\r\nMessage-ID: <${id}@shop.test>\r\n\r\nHello\r\n`)
    await app.store.blobs.put(sha256(bytes), bytes.length, chunksOf(bytes))
    return app.db.write((tx) => {
      const { email, deliveries } = emails.insert(tx, {
        id,
        teamId,
        mailboxId: from?.id ?? null,
        source: from?.id ? 'mailbox_api' : 'batch_api',
        scope: { type: 'all' },
        from: { email: sender, name: '' },
        returnPath: null,
        subject: 'Hello',
        internetMessageId: `${id}@shop.test`,
        hash: sha256(bytes),
        sizeBytes: bytes.length,
        queuedAt: clock.now(),
        expiresAt: clock.now() + LIFETIME_MS,
        domainId: null,
        recipients,
      })
      queue.add(tx, email, deliveries, clock.now())
      return email
    })
  }
  return {
    app,
    emails,
    transitions,
    queue,
    suppressions,
    feedback,
    notices,
    teamId,
    accepted,
    async sent(recipients, from) {
      const email = await accepted(recipients, from)
      const reply = { smtpCode: 250, enhancedCode: '2.0.0', text: 'Ok' }
      await app.db.write((tx) => {
        for (const { n } of emails.deliveriesOf(email.n)) {
          transitions.apply(tx, n, { kind: 'sent', reply, confirmation: 'recipient_mx' }, null)
        }
      })
      return email
    },
    async mailbox(address) {
      const { id, email } = await app.administration.mailboxes.create(teamId, { email: address })
      return { id, email }
    },
    deliveries: async (email) => emails.deliveriesOf(email.n),
    async events() {
      const rows = app.db.read.all<{ body: string }>('SELECT body FROM events ORDER BY n')
      return rows.map(({ body }) => JSON.parse(body) as { type: string; data: Record<string, unknown> })
    },
  }
}
