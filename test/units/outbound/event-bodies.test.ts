// What events of sent mail say: the examples of docs/design/events.md §4 member by member, and bounded whatever the texts are.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId } from '../../../src/base/ids.ts'
import { sha256 } from '../../../src/base/secrets.ts'
import { bodyOf, type EventSubject } from '../../../src/outbound/log/bodies.ts'
import type { EmailSource, Outcome } from '../../../src/outbound/model/records.ts'
import { openSendingAppliance, type SendingAppliance } from '../../support/sending-appliance.ts'

let appliance: SendingAppliance
before(async () => {
  appliance = await openSendingAppliance()
})
after(() => appliance[Symbol.asyncDispose]())

const EVENT_BYTES_MAX = 64 * 1024
const CARRIER = { id: 'dprov_m1n2b3v4c5x6z7l8k9j0h1g2', name: 'Primary SMTP' }
const MAILBOX = 'mbx_a1b2c3d4e5f6g7h8i9j0k1l2'
const DOMAIN = 'mdom_a1b2c3d4e5f6g7h8i9j0k1l2'
const at = (time: string) => Date.parse(`2030-01-02T${time}Z`)
const QUEUED_AT = at('03:04:05.100')
const NEWS = { email: 'news@shop.example', name: 'Shop' }
const ANA = { email: 'ana@shop.example', name: 'Ana' }

interface Sending {
  source: EmailSource
  from: { email: string; name: string }
  to: string
  subject: string
  attempts: number
  /** Milliseconds to move the clock on before the outcomes. */
  wait: number
  outcomes: Outcome[]
  carried: boolean
}

/** The text of the last event of a mail that was accepted and met its outcomes, ids of this run exchanged for those of the example. */
async function told(sending: Sending, example: string): Promise<{ body: string; expected: string }> {
  const { emails, transitions: fate, app, clock, teamId } = appliance
  const id = newId('email')
  clock.advance(QUEUED_AT - clock.now())
  const n = await app.db.write((tx) => {
    const { deliveries } = emails.insert(tx, {
      id,
      teamId,
      mailboxId: sending.source === 'mailbox_api' ? MAILBOX : null,
      domainId: DOMAIN,
      source: sending.source,
      scope: { type: 'all' },
      from: sending.from,
      returnPath: null,
      subject: sending.subject,
      internetMessageId: `${id}@shop.example`,
      hash: sha256(id),
      sizeBytes: 100,
      queuedAt: QUEUED_AT,
      expiresAt: QUEUED_AT + 48 * 3_600_000,
      recipients: [sending.to],
    })
    const ns = deliveries.map((delivery) => delivery.n)
    for (let tries = 0; tries < sending.attempts; tries++) {
      emails.recordRoute(tx, ns, { carrier: CARRIER, reason: 'Its turn', attempts: 1 })
    }
    return ns[0]!
  })
  clock.advance(sending.wait)
  for (const outcome of sending.outcomes) {
    await app.db.write((tx) => fate.apply(tx, n, outcome, sending.carried ? CARRIER : null))
  }
  const row = app.db.read.get<Record<string, string>>('SELECT * FROM events ORDER BY n DESC LIMIT 1')!
  assert.deepEqual([row.team_id, row.domain_id], [teamId, DOMAIN])
  assert.equal(row.mailbox_id, sending.source === 'mailbox_api' ? MAILBOX : null)
  const is = JSON.parse(row.body!) as { id: string; created_at: string; data: Record<string, string> }
  const shown = JSON.parse(example) as { type: string; data: Record<string, string> }
  assert.equal(row.type, shown.type)
  const replacements = [
    [shown.data.message_id!, id],
    [shown.data.delivery_log_id!, is.data.delivery_log_id!],
    ['team_0a1b2c3d4e5f6g7h8i9j0k1l', teamId],
    [/"id":"evt_\w+"/, `"id":"${is.id}"`],
    [/"created_at":"[^"]+"/, `"created_at":"${is.created_at}"`],
  ] as const
  const expected = replacements.reduce((text, [old, made]) => text.replaceAll(toGlobal(old), made), example)
  return { body: row.body!, expected }
}

const toGlobal = (old: string | RegExp) => (typeof old === 'string' ? old : new RegExp(old, 'g'))
const reply = (smtpCode: number, enhancedCode: string, text: string) => ({ smtpCode, enhancedCode, text })
const taken: Outcome = {
  kind: 'sent',
  reply: reply(250, '2.0.0', '250 2.0.0 Ok: queued as 4F2A'),
  confirmation: 'relay',
}

test('message.delivered', async () => {
  const { body, expected } = await told(
    {
      ...{ source: 'batch_api', from: NEWS, to: 'ana@customer.example', subject: 'Your order', carried: true },
      ...{ attempts: 1, wait: 2398, outcomes: [taken] },
    },
    '{"id":"evt_4k9d2m7q1x8c5v0b3n6z2p7a","type":"message.delivered","created_at":"2030-01-02T03:04:07.512Z","api_version":"1.0.0","team_id":"team_0a1b2c3d4e5f6g7h8i9j0k1l","data":{"message_id":"eml_7h2k9s4d1f6g3j8l5z0x2c4v","delivery_log_id":"dlog_q1w2e3r4t5y6u7i8o9p0a1s2","source":"batch_api","mailbox_id":null,"provider_id":"dprov_m1n2b3v4c5x6z7l8k9j0h1g2","provider_name":"Primary SMTP","from":{"email":"news@shop.example","name":"Shop"},"recipient":"ana@customer.example","subject":"Your order","internet_message_id":"<eml_7h2k9s4d1f6g3j8l5z0x2c4v@shop.example>","queued_at":"2030-01-02T03:04:05.100Z","attempt":1,"delivery":{"delivered_at":"2030-01-02T03:04:07.498Z","confirmation":"relay","smtp_code":250,"smtp_response":"250 2.0.0 Ok: queued as 4F2A","latency_ms":2398}}}',
  )
  assert.equal(body, expected)
})

test('message.bounced', async () => {
  const { body, expected } = await told(
    {
      ...{ source: 'mailbox_api', from: ANA, to: 'nobody@customer.example', subject: 'Hello', carried: true },
      ...{ attempts: 1, wait: 55_000 },
      outcomes: [
        {
          kind: 'bounced',
          reply: reply(550, '5.1.1', '550 5.1.1 user unknown'),
          ...{ type: 'permanent', subType: 'no_such_user', reportingMta: 'mx.customer.example', afterAccept: false },
          occurredAt: at('03:04:59.800'),
        },
      ],
    },
    '{"id":"evt_b2n4m6k8j1h3g5f7d9s2a4p6","type":"message.bounced","created_at":"2030-01-02T03:05:00.000Z","api_version":"1.0.0","team_id":"team_0a1b2c3d4e5f6g7h8i9j0k1l","data":{"message_id":"eml_7h2k9s4d1f6g3j8l5z0x2c4v","delivery_log_id":"dlog_z9x8c7v6b5n4m3a2s1d0f9g8","source":"mailbox_api","mailbox_id":"mbx_a1b2c3d4e5f6g7h8i9j0k1l2","provider_id":"dprov_m1n2b3v4c5x6z7l8k9j0h1g2","provider_name":"Primary SMTP","from":{"email":"ana@shop.example","name":"Ana"},"recipient":"nobody@customer.example","subject":"Hello","internet_message_id":"<eml_7h2k9s4d1f6g3j8l5z0x2c4v@shop.example>","queued_at":"2030-01-02T03:04:05.100Z","attempt":1,"bounce":{"type":"permanent","sub_type":"no_such_user","smtp_code":550,"enhanced_code":"5.1.1","diagnostic":"550 5.1.1 user unknown","reporting_mta":"mx.customer.example","occurred_at":"2030-01-02T03:04:59.800Z","suppressed":true}}}',
  )
  assert.equal(body, expected)
})

test('message.complained', async () => {
  const { body, expected } = await told(
    {
      ...{ source: 'batch_api', from: NEWS, to: 'ana@customer.example', subject: 'Your order', carried: true },
      ...{ attempts: 1, wait: 31 * 3_600_000 },
      outcomes: [
        taken,
        {
          ...{ kind: 'complained', feedbackType: 'abuse', userAgent: 'ExampleFBL/1.0' },
          occurredAt: Date.parse('2030-01-03T09:59:41.000Z'),
        },
      ],
    },
    '{"id":"evt_c3v5b7n9m2k4j6h8g1f3d5s7","type":"message.complained","created_at":"2030-01-03T10:00:00.000Z","api_version":"1.0.0","team_id":"team_0a1b2c3d4e5f6g7h8i9j0k1l","data":{"message_id":"eml_7h2k9s4d1f6g3j8l5z0x2c4v","delivery_log_id":"dlog_q1w2e3r4t5y6u7i8o9p0a1s2","source":"batch_api","mailbox_id":null,"provider_id":"dprov_m1n2b3v4c5x6z7l8k9j0h1g2","provider_name":"Primary SMTP","from":{"email":"news@shop.example","name":"Shop"},"recipient":"ana@customer.example","subject":"Your order","internet_message_id":"<eml_7h2k9s4d1f6g3j8l5z0x2c4v@shop.example>","queued_at":"2030-01-02T03:04:05.100Z","attempt":1,"complaint":{"feedback_type":"abuse","user_agent":"ExampleFBL/1.0","occurred_at":"2030-01-03T09:59:41.000Z","suppressed":true}}}',
  )
  assert.equal(body, expected)
})

test('message.rejected', async () => {
  const { body, expected } = await told(
    {
      ...{ source: 'batch_api', from: NEWS, to: 'gone@customer.example', subject: 'Your order', carried: false },
      ...{ attempts: 0, wait: 800 },
      outcomes: [
        {
          ...{ kind: 'rejected', reason: 'suppressed' },
          detail: 'Recipient is on the suppression list after a hard bounce.',
        },
      ],
    },
    '{"id":"evt_d4f6g8h1j3k5l7z9x2c4v6b8","type":"message.rejected","created_at":"2030-01-02T03:04:05.900Z","api_version":"1.0.0","team_id":"team_0a1b2c3d4e5f6g7h8i9j0k1l","data":{"message_id":"eml_1q3w5e7r9t2y4u6i8o1p3a5s","delivery_log_id":"dlog_p0o9i8u7y6t5r4e3w2q1a9s8","source":"batch_api","mailbox_id":null,"provider_id":null,"provider_name":null,"from":{"email":"news@shop.example","name":"Shop"},"recipient":"gone@customer.example","subject":"Your order","internet_message_id":"<eml_1q3w5e7r9t2y4u6i8o1p3a5s@shop.example>","queued_at":"2030-01-02T03:04:05.100Z","attempt":0,"rejection":{"reason":"suppressed","detail":"Recipient is on the suppression list after a hard bounce."}}}',
  )
  assert.equal(body, expected)
})

test('message.delivery_delayed', async () => {
  const { body, expected } = await told(
    {
      ...{ source: 'mailbox_api', from: ANA, to: 'full@customer.example', subject: 'Hello', carried: true },
      ...{ attempts: 3, wait: 354_900 },
      outcomes: [
        {
          ...{ kind: 'deferred', cause: 'mailbox_full', reply: reply(452, '4.2.2', '452 4.2.2 over quota') },
          nextAt: at('03:25:00.000'),
        },
      ],
    },
    '{"id":"evt_e5r7t9y2u4i6o8p1a3s5d7f9","type":"message.delivery_delayed","created_at":"2030-01-02T03:10:00.000Z","api_version":"1.0.0","team_id":"team_0a1b2c3d4e5f6g7h8i9j0k1l","data":{"message_id":"eml_1q3w5e7r9t2y4u6i8o1p3a5s","delivery_log_id":"dlog_l1k2j3h4g5f6d7s8a9p0o1i2","source":"mailbox_api","mailbox_id":"mbx_a1b2c3d4e5f6g7h8i9j0k1l2","provider_id":"dprov_m1n2b3v4c5x6z7l8k9j0h1g2","provider_name":"Primary SMTP","from":{"email":"ana@shop.example","name":"Ana"},"recipient":"full@customer.example","subject":"Hello","internet_message_id":"<eml_1q3w5e7r9t2y4u6i8o1p3a5s@shop.example>","queued_at":"2030-01-02T03:04:05.100Z","attempt":3,"delay":{"type":"mailbox_full","smtp_code":452,"diagnostic":"452 4.2.2 over quota","next_attempt_at":"2030-01-02T03:25:00.000Z","expires_at":"2030-01-04T03:04:05.100Z"}}}',
  )
  assert.equal(body, expected)
})

test('a lifetime that is over is told as a bounce that may not be one for ever', async () => {
  const { data } = JSON.parse(
    (
      await told(
        {
          ...{ source: 'batch_api', from: NEWS, to: 'slow@customer.example', subject: 'Your order', carried: true },
          ...{ attempts: 9, wait: 48 * 3_600_000 },
          outcomes: [{ kind: 'expired', reply: { smtpCode: 421, enhancedCode: null, text: 'Too busy' } }],
        },
        '{"type":"message.bounced","data":{"message_id":"-","delivery_log_id":"-"}}',
      )
    ).body,
  ) as { data: { bounce: object; attempt: number } }
  assert.equal(data.attempt, 9)
  assert.deepEqual(data.bounce, {
    type: 'transient',
    sub_type: 'expired',
    smtp_code: 421,
    enhanced_code: null,
    diagnostic: '421 Too busy',
    reporting_mta: null,
    occurred_at: '2030-01-04T03:04:05.100Z',
    suppressed: false,
  })
})

test('no event comes near its bound, whatever the texts are made of', () => {
  for (const piece of ['\0', '"', '\ud800', '𐀀', 'x']) {
    const long = piece.repeat(100_000)
    const telling: EventSubject = {
      ...{ emailId: newId('email'), deliveryId: newId('deliveryLog'), source: 'batch_api', mailboxId: MAILBOX },
      ...{ carrier: CARRIER, fromEmail: 'a'.repeat(254), fromName: long, to: 'b'.repeat(320), subject: long },
      ...{ internetMessageId: 'c'.repeat(998), queuedAt: 0, expiresAt: 0, attempts: 1 },
    }
    const said = { smtpCode: null, enhancedCode: null, text: long }
    const outcomes: Outcome[] = [
      { kind: 'sent', reply: said, confirmation: 'relay' },
      { kind: 'deferred', reply: said, cause: 'dns', nextAt: 0 },
      {
        ...{ kind: 'bounced', reply: said, type: 'permanent', subType: 'general', reportingMta: long },
        ...{ afterAccept: true, occurredAt: 0 },
      },
      { kind: 'rejected', reason: 'policy', detail: long },
      { kind: 'complained', feedbackType: 'abuse', userAgent: long, occurredAt: 0 },
      { kind: 'expired', reply: said },
    ]
    for (const outcome of outcomes) {
      const data = JSON.stringify(bodyOf(telling, { outcome, at: 0, suppressed: true }))
      assert.ok(Buffer.byteLength(data) < EVENT_BYTES_MAX / 2, `${outcome.kind} has ${Buffer.byteLength(data)} bytes`)
      assert.doesNotMatch(data, /\\ud8/, 'half a character is replaced')
    }
  }
})
