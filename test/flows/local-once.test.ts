// Killed directly after the commit that stores the copies of a message: the outcome of its deliveries is part of that commit.

import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { DeliveryLogJson } from '../../src/api/schemas/delivery-log.ts'
import type { MessageSummaryJson } from '../../src/api/schemas/message-summary.ts'
import { walk } from '../api/expect.ts'
import { startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { servedEnv } from '../support/served.ts'
import { ROOT } from '../support/source.ts'

test('a copy that was stored before a crash is not stored again', { timeout: 300_000 }, async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'mailstead-local-'))
  t.after(() => rm(dataDir, { recursive: true }))
  const { key, ben } = await furnish(dataDir)
  const env = { ...process.env, ...servedEnv(dataDir, { LOG_LEVEL: 'silent', DNS_SERVERS: '127.0.0.1:9' }) }
  const child = fork(join(ROOT, 'test/support/crash-while-storing.ts'), { env })
  assert.deepEqual(await once(child, 'exit'), [null, 'SIGKILL'])

  // A moment later the signature is another one.
  await using appliance = await startAppliance({ dataDir, clock: new ManualClock(Date.now() + 5000) })
  await appliance.settle()
  const copies = await walk<MessageSummaryJson>(appliance, '/mailbox/messages', ben.key)
  assert.deepEqual(
    copies.map(({ subject }) => subject),
    ['Hello'],
  )
  const rows = await walk<DeliveryLogJson>(appliance, '/emails/logs', key)
  assert.deepEqual(
    rows.map(({ status, attempts }) => [status, attempts]),
    [['sent', 1]],
  )
})

/** A message to a mailbox here that was accepted a minute ago and may leave since this moment, when its appliance is closed. */
async function furnish(dataDir: string) {
  const acceptedAt = Date.now() - 60_000
  await using appliance = await startAppliance({ dataDir, clock: new ManualClock(acceptedAt) })
  const team = await appliance.team()
  await team.domain('shop.test')
  const ben = await team.mailbox('ben@shop.test')
  const made = await appliance.app.outbound.submit.submitter.submit(
    { kind: 'team', teamId: team.id, source: 'batch_api' },
    [
      {
        ...{ from: { email: 'news@shop.test', name: '' }, to: [{ email: ben.email, name: '' }], cc: [], bcc: [] },
        ...{ replyTo: [], subject: 'Hello', textBody: 'Hello.', htmlBody: null, headers: {}, attachments: [] },
        ...{ returnPath: null, inReplyTo: null, undoSeconds: 0, saveToSent: false, sendAt: acceptedAt + 60_000 },
      },
    ],
  )
  assert.equal(made[0]!.kind, 'accepted')
  return { key: team.key, ben }
}
