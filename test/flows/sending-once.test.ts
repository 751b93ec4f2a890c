// Killed between the commit and the response: a repetition with the same key gets the response, and nothing is sent twice.

import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { MessageSummaryJson } from '../../src/api/schemas/message-summary.ts'
import { data, walk } from '../api/expect.ts'
import { startAppliance } from '../support/appliance.ts'
import { FREE_PORTS } from '../support/free-ports.ts'
import { ROOT } from '../support/source.ts'

test('a batch whose response was lost is sent once', { timeout: 300_000 }, async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'mailstead-once-'))
  t.after(() => rm(dataDir, { recursive: true }))
  const { key, ben } = await furnish(dataDir)
  const messages = ['One', 'Two'].map((subject) => ({
    ...{ from: { email: 'news@shop.test' }, to: { email: ben.email }, subject, text_body: 'Hello' },
  }))
  const headers = { 'content-type': 'application/json', 'idempotency-key': 'lost', authorization: `Bearer ${key}` }
  const request = { method: 'POST', headers, body: JSON.stringify({ messages }) }

  const child = fork(join(ROOT, 'test/support/crash-while-sending.ts'), {
    env: {
      ...{ ...process.env, DATA_DIR: dataDir, LOG_LEVEL: 'silent', MAIL_HOSTS: 'mx.mailstead.test' },
      ...FREE_PORTS,
      ...{ HTTP_BIND: '127.0.0.1', SMTP_BIND: '127.0.0.1', DNS_SERVERS: '127.0.0.1:9' },
      ...{ APP_ORIGIN: 'http://app.once.test', SEND_ORIGIN: 'http://send.once.test' },
    },
  })
  const [{ send }] = (await once(child, 'message')) as [{ send: number }]
  const ended = once(child, 'exit')
  await assert.rejects(fetch(`http://127.0.0.1:${send}/api/v1/emails/send/batch`, request))
  assert.deepEqual(await ended, [null, 'SIGKILL'])

  await using appliance = await startAppliance({ dataDir })
  const path = `${appliance.sendOrigin}/api/v1/emails/send/batch`
  const again = await appliance.call('POST', path, key, request.body, { 'idempotency-key': 'lost' })
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
  assert.equal(data<{ summary: { queued: number } }>(again).summary.queued, 2)
  await appliance.settle()
  const arrived = await walk<MessageSummaryJson>(appliance, '/mailbox/messages', ben.key)
  assert.deepEqual(arrived.map(({ subject }) => subject).sort(), ['One', 'Two'])
})

async function furnish(dataDir: string) {
  await using appliance = await startAppliance({ dataDir })
  const team = await appliance.team()
  await team.domain('shop.test')
  return { key: team.key, ben: await team.mailbox('ben@shop.test') }
}
