// Killed while the queue is processed and restarted: every accepted message is delivered; duplicates are counted.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { DeliveryLogJson } from '../../src/api/schemas/delivery-log.ts'
import { AHEAD_MIN_MS } from '../../src/outbound/model/limits.ts'
import type { NewMail } from '../../src/outbound/model/new-message.ts'
import { data, walk } from '../api/expect.ts'
import { type Json, startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { startDns } from '../support/dns.ts'
import { startMailServer } from '../support/mail-server.ts'
import { serve, servedEnv } from '../support/served.ts'

const MAILS = 300
/** The process is killed when the server has taken so many. */
const KILL_AT = [40, 120, 210]
/** Deliveries in progress when a process dies: the server may have accepted them, and it was not recorded. */
const UNDER_WAY = 10

const zone = {
  'customer.example': { MX: [{ priority: 10, exchange: 'mx.customer.example' }] },
  'mx.customer.example': { A: ['127.0.0.1'] },
}

function mailOf(n: number): NewMail {
  return {
    ...{ from: { email: 'news@shop.test', name: '' }, to: [{ email: `p${n}@customer.example`, name: '' }] },
    ...{ cc: [], bcc: [], replyTo: [], subject: `Mail ${n}`, textBody: 'Hello.', htmlBody: null, headers: {} },
    ...{ attachments: [], returnPath: null, inReplyTo: null, sendAt: null, undoSeconds: 0, saveToSent: false },
  }
}

test('accepted messages are delivered, however often the process is killed', { timeout: 120_000 }, async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'mailstead-sending-'))
  t.after(() => rm(dataDir, { recursive: true }))
  await using dns = await startDns(zone)
  await using remote = await startMailServer()
  const sending = { ALLOW_PRIVATE_SMTP_HOSTS: 'true', DIRECT_PORT: String(remote.port) }
  // Accepted while nothing can be sent: no server listens on the port, and no time passes.
  const clock = new ManualClock(Date.now())
  await using seeded = await startAppliance({ dataDir, zone, clock, env: { ...sending, DIRECT_PORT: '9' } })
  const team = await seeded.team()
  await team.domain('shop.test')
  const sender = { kind: 'team', teamId: team.id, source: 'batch_api' } as const
  const later = clock.now() + AHEAD_MIN_MS
  for (let n = 0; n < MAILS; n += 100) {
    const mails = Array.from({ length: 100 }, (_, i) => ({ ...mailOf(n + i), sendAt: later }))
    const made = await seeded.app.outbound.submitter.submit(sender, mails)
    assert.deepEqual([...new Set(made.map(({ kind }) => kind))], ['accepted'], JSON.stringify(made[0]))
  }
  await seeded.close()

  const env = servedEnv(dataDir, { DNS_SERVERS: dns.address, ...sending })
  for (const limit of [...KILL_AT, MAILS]) {
    const child = await serve(env)
    const ended = once(child, 'exit')
    const arrived = () => new Set(remote.messages.map(({ to }) => to[0])).size
    while (arrived() < limit) await once(remote.events, 'mail')
    const isLast = limit === MAILS
    child.kill(isLast ? 'SIGTERM' : 'SIGKILL')
    assert.deepEqual(await ended, isLast ? [0, null] : [null, 'SIGKILL'])
  }

  const counts = Map.groupBy(remote.messages, ({ to }) => to[0])
  assert.equal(counts.size, MAILS)
  const doubles = remote.messages.length - MAILS
  t.diagnostic(`${doubles} of ${MAILS} messages arrived twice: they were in flight when the process was killed`)
  assert.ok(doubles <= KILL_AT.length * UNDER_WAY, `${doubles} doubles`)
  await using appliance = await startAppliance({ dataDir, zone, env: sending })
  const rows = await walk<DeliveryLogJson>(appliance, '/emails/logs?status=sent&limit=100', team.key)
  assert.equal(rows.length, MAILS)
  const { totals } = data<Json>(await appliance.get('/emails/metrics', team.key))
  assert.deepEqual([totals.accepted, totals.sent, totals.delivered], [MAILS, MAILS, MAILS], 'each was counted once')
})
