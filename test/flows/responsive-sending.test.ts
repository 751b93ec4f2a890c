// While large messages are submitted, the listeners stay responsive: large bodies are read and composed in threads.

import assert from 'node:assert/strict'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { amount } from '../support/amount.ts'
import { startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'

const MIB = 1_048_576
// The clock does not advance, so that no timer of the appliance affects the measurement.
const clock = new ManualClock()
const appliance = await startAppliance({ clock })
after(() => appliance.close())
const team = await appliance.team()
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')

const message = (more: Record<string, unknown>) => {
  return { from: { email: 'news@shop.test' }, to: { email: ana.email }, subject: 'Heavy', text_body: 'x', ...more }
}
const file = (mib: number, fill: number) => {
  return { filename: `${fill}.zip`, content: Buffer.alloc(mib * MIB, fill).toString('base64') }
}
/** MiB of a file: a request is sent and received on the thread of the test, and has two minutes on a machine however busy. */
const FILE_MIB = amount(4, 11)
/** Between two questions, ms: the request that is on its way needs the thread as well. */
const PAUSE_MS = 1
/** Of 600 KiB each: signing and storing them takes most of the time. */
const MESSAGES = amount(30, 100)
const sentence = 'The quick brown fox jumps over the lazy dog, and no one minds. '

const TO_MANY = 'a hundred messages to fifty people each'
const batches: [name: string, messages: unknown[]][] = [
  [
    'two messages with two large files each',
    [1, 3].map((n) => message({ attachments: [file(FILE_MIB, n), file(FILE_MIB, n + 1)] })),
  ],
  ['many messages of 600 KiB', Array(MESSAGES).fill(message({ text_body: sentence.repeat(9600) }))],
  [
    TO_MANY,
    Array.from({ length: 100 }, (_, m) =>
      message({ bcc: Array.from({ length: 49 }, (_, i) => ({ email: `u${m}.${i}@shop.test` })) }),
    ),
  ],
  ['a subject of 60 MB', [message({ subject: 'x'.repeat(60_000_000) })]],
]
const heavy: [name: string, url: string, key: string, body: string][] = [
  ...batches.map(([name, messages]): [string, string, string, string] => [
    name,
    `${appliance.sendOrigin}/api/v1/emails/send/batch`,
    team.key,
    JSON.stringify({ messages }),
  ]),
  [
    'a mail of a mailbox with 24 MiB of files',
    '/mailbox/messages/send',
    ana.key,
    JSON.stringify({
      ...{ to: [{ email: 'eve@shop.test' }], subject: 'Heavy', text_body: 'x' },
      attachments: [file(8, 5), file(8, 6), file(8, 7)],
    }),
  ],
]

for (const [name, url, key, body] of heavy) {
  test(name, async (t) => {
    const delay = monitorEventLoopDelay({ resolution: 5 })
    let taken = false
    // A batch for many people alone is taken in the time of about ten answers.
    const times = name === TO_MANY ? 4 : 1
    const send = (_: unknown, n: number) =>
      appliance.call('POST', url, key, body, { 'idempotency-key': `${name.replaceAll(' ', '-')}-${n}` })
    const sending = Promise.all(Array.from({ length: times }, send)).finally(() => {
      taken = true
    })
    delay.enable()
    let answered = 0
    while (!taken) {
      assert.equal((await appliance.get('/mailbox/me', ana.key)).status, 200)
      if (!taken) answered++
      await pause(PAUSE_MS)
    }
    delay.disable()
    for (const { status, body: answer } of await sending)
      assert.ok(status === 200 || status === 202, JSON.stringify(answer).slice(0, 300))
    t.diagnostic(
      `${answered} answers meanwhile; longest pause ${Math.round(delay.max / 1e6)} ms (the test's own work included)`,
    )
    assert.ok(answered >= 10, `only ${answered} answers meanwhile`)
  })
}
