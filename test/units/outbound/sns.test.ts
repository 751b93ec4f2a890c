// Notifications of Amazon SNS: accepted by signature, topic and region, in both forms SES writes, and once.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { selfSigned } from '../../../src/config/certificate.ts'
import type { Email } from '../../../src/outbound/model/records.ts'
import { FETCHES_PER_MINUTE, PEM_MAX } from '../../../src/outbound/transports/accounts/certificates.ts'
import { SES_TAG } from '../../../src/outbound/transports/accounts/ses.ts'
import { RECIPIENTS_MAX, readSesEvent } from '../../../src/outbound/transports/accounts/ses-event.ts'
import { Sns } from '../../../src/outbound/transports/accounts/sns.ts'
import { failure } from '../../support/directory.ts'
import { openSendingAppliance } from '../../support/sending-appliance.ts'
import { CERTIFICATE_URL, SnsSigner, TOPIC } from '../../support/sns.ts'

const appliance = await openSendingAppliance()
after(() => appliance[Symbol.asyncDispose]())
const { app, clock, emails, transitions: fate } = appliance
const config = { ...app.config, SES_REGION: 'eu-west-1', SES_TOPIC_ARNS: [TOPIC] }
const signer = new SnsSigner()
const open = (from = signer) => new Sns({ ...app, config, emails, transitions: fate }, from.get)
const sns = open()
after(() => sns.close())

const SES_ID = '0102018c7c191be4-e9aedb9a-000000'
let count = 0

/** A mail SES took, known by its id there. */
async function taken(recipients: string[]): Promise<{ email: Email; id: string }> {
  const email = await appliance.sent(recipients)
  const id = `${SES_ID}-${count++}`
  await app.db.write((tx) => emails.addRemoteIds(tx, email.n, [`${id}@eu-west-1.amazonses.com`]))
  return { email, id }
}

/** An event as a configuration set publishes it, with our mark; without one as an identity notifies. */
function event(type: string, id: string, detail: Record<string, unknown>, email?: Email) {
  const name = type.toLowerCase()
  const mail = {
    timestamp: '2026-01-01T00:00:00.000Z',
    messageId: id,
    source: 'ana@shop.test',
    destination: ['bob@out.test'],
  }
  if (email === undefined) return { notificationType: type, mail, [name]: detail }
  return {
    eventType: type,
    mail: { ...mail, tags: { 'ses:operation': ['SendEmail'], [SES_TAG]: [email.id] } },
    [name]: detail,
  }
}

function bounced(recipient: string, more: Record<string, unknown> = {}) {
  const who = {
    emailAddress: recipient,
    action: 'failed',
    status: '5.1.1',
    diagnosticCode: 'smtp; 550 5.1.1 user unknown',
  }
  return {
    bounceType: 'Permanent',
    bounceSubType: 'General',
    bouncedRecipients: [who],
    timestamp: '2025-12-31T23:59:05.000Z',
    reportingMTA: 'dsn; mta.out.test',
    ...more,
  }
}

async function reasons(email: Email) {
  return (await appliance.deliveries(email)).map(({ status, statusReason }) => `${status} ${statusReason}`)
}

test('a bounce changes the delivery it names, suppresses the address, and is reported once', async () => {
  const { email, id } = await taken(['bob@out.test', 'carl@out.test'])
  const message = signer.notification(event('Bounce', id, bounced('Bob <BOB@out.test>')))
  assert.equal(await sns.receive(message), 1)
  assert.deepEqual(await reasons(email), ['failed bounced_after_accept: 550 5.1.1 user unknown', 'sent null'])
  assert.equal(await sns.receive(message), 0)
  const told = (await appliance.events()).filter(({ type }) => type === 'message.bounced')
  assert.equal(told.length, 1)
  assert.deepEqual(told[0]!.data.bounce, {
    type: 'permanent',
    sub_type: 'no_such_user',
    smtp_code: 550,
    enhanced_code: '5.1.1',
    diagnostic: '550 5.1.1 user unknown',
    reporting_mta: 'mta.out.test',
    occurred_at: '2025-12-31T23:59:05.000Z',
    suppressed: true,
  })
})

test('both forms and both versions of signatures are read', async () => {
  for (const SignatureVersion of ['1', '2']) {
    for (const marked of [true, false]) {
      const { email, id } = await taken(['bob@out.test'])
      const told = event('Bounce', id, bounced('bob@out.test', { bounceType: 'Transient' }), marked ? email : undefined)
      assert.equal(
        await sns.receive(signer.notification(told, { SignatureVersion, Subject: 'Amazon SES Email Event' })),
        1,
      )
    }
  }
})

test('our tag finds a message whose SES id is unknown, and an accepted message is sent', async () => {
  const email = await appliance.accepted(['bob@out.test'])
  const delivery = { recipients: ['bob@out.test'], smtpResponse: '250 2.0.0 Ok: queued', processingTimeMillis: 12 }
  const told = event('Delivery', 'never-heard', delivery, email)
  assert.equal(await sns.receive(signer.notification(told)), 1)
  assert.deepEqual(await reasons(email), ['sent null'])
  assert.equal(await sns.receive(signer.notification(told)), 0)
})

test('a complaint counts for everybody SES names, once', async () => {
  const { email, id } = await taken(['ann@out.test', 'dora@out.test'])
  const complaint = {
    complainedRecipients: [{ emailAddress: 'ann@out.test' }, { emailAddress: 'dora@out.test' }],
    complaintFeedbackType: 'abuse',
    userAgent: 'Yahoo!-Mail-Feedback/2.0',
    timestamp: '2026-01-01T00:01:00.000Z',
  }
  assert.equal(await sns.receive(signer.notification(event('Complaint', id, complaint, email))), 2)
  assert.equal(await sns.receive(signer.notification(event('Complaint', id, complaint))), 0)
  assert.deepEqual(await reasons(email), ['sent complained', 'sent complained'])
})

test('a virus SES found after all: the mail was not delivered', async () => {
  const { email, id } = await taken(['bob@out.test'])
  assert.equal(await sns.receive(signer.notification(event('Reject', id, { reason: 'Bad content' }, email))), 1)
  assert.deepEqual(await reasons(email), [
    'failed bounced_after_accept: 5.6.0 Amazon SES rejected the message: Bad content',
  ])
})

test('sub types of SES have our words', () => {
  const words = {
    NoEmail: 'no_such_user',
    Suppressed: 'suppressed_by_provider',
    OnAccountSuppressionList: 'suppressed_by_provider',
    MailboxFull: 'mailbox_full',
    MessageTooLarge: 'content_rejected',
    AttachmentRejected: 'content_rejected',
    ThingsToCome: 'no_such_user',
  }
  for (const [bounceSubType, word] of Object.entries(words)) {
    const read = readSesEvent(JSON.stringify(event('Bounce', 'x', bounced('b@x.test', { bounceSubType }))), 0)
    const [first] = read!.outcomes
    assert.ok(first!.outcome.kind === 'bounced')
    assert.equal(first!.outcome.subType, word)
  }
})

test('events without an effect are accepted and ignored', async () => {
  const { email, id } = await taken(['bob@out.test'])
  const harmless = [
    event('Open', id, {}, email),
    event('DeliveryDelay', id, { delayedRecipients: [{ emailAddress: 'bob@out.test' }] }, email),
    event('Bounce', id, bounced('stranger@out.test'), email),
    event('Bounce', 'unknown-id', bounced('bob@out.test')),
    event('Bounce', id, { bouncedRecipients: 'all of them' }),
    'Successfully validated SNS topic for Amazon SES event publishing.',
    '[]',
    'null',
    '{"eventType":"Bounce"}',
    '{"eventType":"Bounce","mail":{"messageId":"../../etc"},"bounce":{}}',
    '{"__proto__":{"eventType":"Bounce"},"mail":{"messageId":"x"}}',
  ]
  for (const told of harmless) assert.equal(await sns.receive(signer.notification(told)), 0)
  assert.deepEqual(await reasons(email), ['sent null'])
})

test('recipients of one event are bounded', () => {
  const bouncedRecipients = Array.from({ length: RECIPIENTS_MAX * 3 }, (_, n) => ({ emailAddress: `r${n}@x.test` }))
  const read = readSesEvent(JSON.stringify(event('Bounce', 'x', bounced('', { bouncedRecipients }))), 0)
  assert.equal(read!.outcomes.length, RECIPIENTS_MAX)
})

test('a message that was changed, or signed by another key, is refused', async () => {
  const { email, id } = await taken(['bob@out.test'])
  const good = signer.notification(event('Bounce', id, bounced('bob@out.test')))
  const stranger = new SnsSigner().notification(event('Bounce', id, bounced('bob@out.test')))
  const wrong = [
    { ...good, Message: good.Message!.replace('bob@', 'eve@') },
    { ...good, Timestamp: '2026-01-02T00:00:00.000Z' },
    { ...good, Subject: 'added' },
    { ...good, SignatureVersion: '2' },
    { ...good, Signature: Buffer.alloc(256, 1).toString('base64') },
    stranger,
  ]
  for (const message of wrong) await assert.rejects(sns.receive(message), failure('insufficient_permissions'))
  assert.deepEqual(await reasons(email), ['sent null'])
})

test('a topic we do not listen to is refused before anything is fetched', async () => {
  const fresh = new SnsSigner()
  const foreign = fresh.notification('{}', { TopicArn: 'arn:aws:sns:eu-west-1:999999999999:ses-events' })
  await assert.rejects(open(fresh).receive(foreign), failure('insufficient_permissions'))
  assert.deepEqual(fresh.fetched, [])
})

test('a certificate is fetched from nowhere but SNS in the region of the topic', async () => {
  const name = 'SimpleNotificationService-0123456789abcdef0123456789abcdef.pem'
  const places = [
    `http://sns.eu-west-1.amazonaws.com/${name}`,
    `https://sns.us-east-1.amazonaws.com/${name}`,
    `https://evil.test/${name}`,
    `https://sns.eu-west-1.amazonaws.com.evil.test/${name}`,
    `https://sns.eu-west-1.amazonaws.com@evil.test/${name}`,
    `https://user:pass@sns.eu-west-1.amazonaws.com/${name}`,
    `https://sns.eu-west-1.amazonaws.com:8443/${name}`,
    `https://sns.eu-west-1.amazonaws.com/${name}?x=1`,
    `https://sns.eu-west-1.amazonaws.com/${name}#x`,
    'https://sns.eu-west-1.amazonaws.com/?Action=GetEndpointAttributes',
    'https://sns.eu-west-1.amazonaws.com/other.pem',
    `https://sns.eu-west-1.amazonaws.com/x/../${name}/..`,
    `https://sns.eu-west-1.amazonaws.com\\@evil.test/${name}`,
    'file:///etc/passwd',
    '',
  ]
  const fresh = new SnsSigner()
  const listening = open(fresh)
  for (const SigningCertURL of places) {
    const message = fresh.notification('{}', { SigningCertURL })
    await assert.rejects(
      listening.receive(message),
      failure('validation_error', { field: 'SigningCertURL', code: 'invalid_format' }),
      SigningCertURL,
    )
  }
  assert.deepEqual(fresh.fetched, [])
})

test('a message that is not of SNS is refused with the wrong member', async () => {
  const good = signer.notification('{}')
  const wrong: [string, Record<string, unknown>][] = [
    ['Type', { ...good, Type: 'Newsletter' }],
    ['Type', { ...good, Type: 7 }],
    ['Type', {}],
    ['SignatureVersion', { ...good, SignatureVersion: '3' }],
    ['Signature', { ...good, Signature: 'short' }],
    ['Signature', { ...good, Signature: 'A'.repeat(4000) }],
    ['TopicArn', { ...good, TopicArn: 'arn:aws:sns:evil.test/x:123456789012:t' }],
    ['Message', { ...good, Message: { eventType: 'Bounce' } }],
    ['Subject', { ...good, Subject: ['x'] }],
    ['Token', { ...signer.confirmation(), Token: 'x'.repeat(2000) }],
  ]
  for (const [field, message] of wrong) {
    await assert.rejects(sns.receive(message), failure('validation_error', { field, code: 'invalid_format' }))
  }
})

test('a certificate is fetched once for many messages, and again after a day', async () => {
  const fresh = new SnsSigner()
  const listening = open(fresh)
  await Promise.all([1, 2, 3].map(() => listening.receive(fresh.notification('{}'))))
  await listening.receive(fresh.notification('{}'))
  assert.deepEqual(fresh.fetched, [CERTIFICATE_URL])
  clock.advance(86_400_001)
  await listening.receive(fresh.notification('{}'))
  assert.equal(fresh.fetched.length, 2)
})

test('a certificate that is out of date, of another kind, too long or none is not believed', async () => {
  const now = clock.now()
  const late = new SnsSigner(now - 2000, now - 1000)
  await assert.rejects(open(late).receive(late.notification('{}')), failure('insufficient_permissions'))
  for (const text of [
    (await selfSigned('sns.amazonaws.com', now - 1000, now + 1000)).cert,
    `${signer.places.get(CERTIFICATE_URL)}${'\n'.repeat(PEM_MAX)}`,
    '<Response><Name>not a certificate</Name></Response>',
    '',
  ]) {
    const fresh = new SnsSigner()
    fresh.places.set(CERTIFICATE_URL, text)
    await assert.rejects(open(fresh).receive(fresh.notification('{}')), failure('insufficient_permissions'))
  }
})

test('while the certificate cannot be fetched SNS must retry; fetches are rate-limited', async () => {
  const fresh = new SnsSigner()
  fresh.places.clear()
  const listening = open(fresh)
  for (let n = 0; n < FETCHES_PER_MINUTE + 5; n++) {
    const name = n.toString(16).padStart(32, '0')
    const SigningCertURL = `https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-${name}.pem`
    await assert.rejects(
      listening.receive(fresh.notification('{}', { SigningCertURL })),
      failure('service_unavailable'),
    )
  }
  assert.equal(fresh.fetched.length, FETCHES_PER_MINUTE)
  clock.advance(60_000)
  await assert.rejects(listening.receive(fresh.notification('{}')), failure('service_unavailable'))
  assert.equal(fresh.fetched.length, FETCHES_PER_MINUTE + 1)
})

test('a subscription is confirmed at SNS itself, wherever the message points', async () => {
  const fresh = new SnsSigner()
  const confirm = `https://sns.eu-west-1.amazonaws.com/?${new URLSearchParams({
    Action: 'ConfirmSubscription',
    TopicArn: TOPIC,
    Token: '2336412f37',
  })}`
  const message = fresh.confirmation({ SubscribeURL: 'http://169.254.169.254/latest/meta-data/' })
  await assert.rejects(open(fresh).receive(message), failure('service_unavailable'))
  fresh.places.set(confirm, '<ConfirmSubscriptionResponse/>')
  assert.equal(await open(fresh).receive(message), 0)
  assert.ok(fresh.fetched.every((url) => url.startsWith('https://sns.eu-west-1.amazonaws.com/')))
  assert.equal(fresh.fetched.at(-1), confirm)
})

test('the end of a subscription is noted, not undone', async () => {
  const fresh = new SnsSigner()
  const message = fresh.signed({ ...fresh.confirmation(), Type: 'UnsubscribeConfirmation' })
  assert.equal(await open(fresh).receive(message), 0)
  assert.deepEqual(fresh.fetched, [CERTIFICATE_URL])
})

test('the certificates of every partition lie under its own domain', async () => {
  const arn = 'arn:aws-cn:sns:cn-north-1:123456789012:ses-events'
  const SigningCertURL =
    'https://sns.cn-north-1.amazonaws.com.cn/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem'
  const fresh = new SnsSigner()
  fresh.places.set(SigningCertURL, fresh.places.get(CERTIFICATE_URL)!)
  const china = new Sns({ ...app, config: { ...config, SES_TOPIC_ARNS: [arn] }, emails, transitions: fate }, fresh.get)
  assert.equal(await china.receive(fresh.notification('{}', { TopicArn: arn, SigningCertURL })), 0)
})
