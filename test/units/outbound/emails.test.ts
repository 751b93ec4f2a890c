// Mails that were accepted: as they were written, found by any of their ids, and their content kept as long as it is wanted.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId } from '../../../src/base/ids.ts'
import { sha256 } from '../../../src/base/secrets.ts'
import type { Settled, Tx } from '../../../src/db/db.ts'
import { blobSweep } from '../../../src/jobs/retention.ts'
import type { NewEmail } from '../../../src/outbound/log/emails.ts'
import { TIMELINE_MAX } from '../../../src/outbound/log/timeline.ts'
import { SWEEP_GRACE_MS } from '../../../src/store/content/blobs.ts'
import { openSendingAppliance, type SendingAppliance } from '../../support/sending-appliance.ts'
import { watchedTx } from '../../support/watched-tx.ts'

let appliance: SendingAppliance
before(async () => {
  appliance = await openSendingAppliance()
})
after(() => appliance[Symbol.asyncDispose]())

const MAILBOX = newId('mailbox')
const CARRIER = { id: newId('provider'), name: 'Primary' }

function newMail(given: Partial<NewEmail> = {}): NewEmail {
  const id = newId('email')
  return {
    id,
    teamId: appliance.teamId,
    mailboxId: MAILBOX,
    domainId: newId('domain'),
    source: 'mailbox_api',
    scope: { type: 'providers', providerIds: [newId('provider')] },
    from: { email: 'ana@shop.test', name: 'Ana "Größe" 𐀀' },
    returnPath: 'bounces@shop.test',
    subject: 'Ihre Bestellung',
    internetMessageId: `${id}@shop.test`,
    hash: new Uint8Array(sha256(id)),
    sizeBytes: 4821,
    queuedAt: 1000,
    expiresAt: 2000,
    recipients: ['b@One.Test', 'a@two.test'],
    ...given,
  }
}

const write = <T>(work: (tx: Tx) => T & Settled<T>) => appliance.app.db.write<T>(work)
const insert = (mail: NewEmail) => write((tx) => appliance.emails.insert(tx, mail))

test('a message reads back as written, its deliveries in the order of its recipients', async () => {
  const mail = newMail()
  const { email, deliveries } = await insert(mail)
  const { recipients, domainId: _domainId, ...shown } = mail
  assert.deepEqual(email, { n: email.n, ...shown })
  assert.deepEqual(appliance.emails.byId(mail.id), email)
  assert.deepEqual(appliance.emails.byN([email.n, 10 ** 9]), [email])
  assert.deepEqual(appliance.emails.byN([]), [])
  assert.equal(appliance.emails.byId(newId('email')), undefined)
  const states = appliance.emails.deliveriesOf(email.n)
  assert.deepEqual(
    states.map(({ n, id, to }) => ({ n, id, to })),
    deliveries,
  )
  assert.deepEqual(
    deliveries.map(({ to }) => to),
    recipients,
  )
  assert.match(deliveries[0]!.id, /^dlog_[a-z0-9]{24}$/)
  assert.deepEqual(states[0], {
    ...deliveries[0]!,
    ...{ email: email.n, status: 'pending', statusReason: null, attempts: 0, providerId: null, providerName: null },
    ...{ sentFromEmail: 'ana@shop.test', sentAt: null, createdAt: 1000, updatedAt: 1000, lastReply: null },
    noticeDue: false,
  })
})

test('a null sender stays one', async () => {
  const { email } = await insert(newMail({ returnPath: '', source: 'system' }))
  assert.equal(appliance.emails.byId(email.id)!.returnPath, '')
})

test('another recipient costs one more statement', async () => {
  const statementsFor = async (recipients: string[]) => {
    let statements = 0
    await write((tx) =>
      appliance.emails.insert(
        watchedTx(tx, () => statements++),
        newMail({ recipients }),
      ),
    )
    return statements
  }
  const few = await statementsFor(['a@x.test'])
  assert.equal((await statementsFor(['a@x.test', 'b@x.test', 'c@x.test'])) - few, 2)
})

test('a try is counted, and the way it goes is noted with its reason', async () => {
  const { email, deliveries } = await insert(newMail())
  const ns = deliveries.map(({ n }) => n)
  const reason = 'The only account that may use this From address'
  await write((tx) => appliance.emails.recordRoute(tx, ns, { carrier: CARRIER, reason, attempts: 1 }))
  await write((tx) => appliance.emails.recordRoute(tx, [ns[1]!], { carrier: CARRIER, reason, attempts: 1 }))
  await write((tx) => appliance.emails.recordRoute(tx, [], { carrier: CARRIER, reason: '', attempts: 1 }))
  const [one, two] = appliance.emails.deliveriesOf(email.n)
  assert.deepEqual([one!.attempts, one!.providerId, one!.providerName], [1, CARRIER.id, CARRIER.name])
  assert.deepEqual([two!.attempts, two!.providerId, two!.providerName], [2, CARRIER.id, CARRIER.name])
  const shown = appliance.app.outbound.log.deliveries.get(appliance.teamId, one!.id)!
  assert.deepEqual(
    shown.timeline.map(({ type, detail }) => [type, detail]),
    [
      ['accepted', 'Accepted.'],
      ['routed', 'The only account that may use this From address'],
    ],
  )
  await write((tx) =>
    appliance.emails.recordRoute(tx, [ns[0]!], { carrier: { id: null, name: 'Direct' }, reason: 'Directly' }),
  )
  const [again] = appliance.emails.deliveriesOf(email.n)
  assert.deepEqual([again!.providerId, again!.providerName], [null, 'Direct'])
})

test('routing without an end does not grow without one', async () => {
  const { email, deliveries } = await insert(newMail({ recipients: ['a@x.test'] }))
  const { n } = deliveries[0]!
  await write((tx) => {
    for (let time = 0; time < 400; time++)
      appliance.emails.recordRoute(tx, [n], { carrier: CARRIER, reason: 'x'.repeat(300) })
  })
  const [{ length }] = appliance.app.db.read.all('SELECT length(timeline) AS length FROM deliveries WHERE email = ?', [
    email.n,
  ]) as [{ length: number }]
  assert.ok(length >= TIMELINE_MAX && length < TIMELINE_MAX + 1000, String(length))
})

test('a message is found by its Message-ID and by its id at the provider', async () => {
  const mail = newMail()
  const { email } = await insert(mail)
  assert.deepEqual(appliance.emails.byMessageId(mail.internetMessageId), email)
  for (const id of [`${mail.id}@elsewhere.test`, mail.id, '', '@', 'x@y', `x${mail.internetMessageId}`]) {
    assert.equal(appliance.emails.byMessageId(id), undefined, id)
  }
  const remember = (n: number, ids: string[]) => write((tx) => appliance.emails.addRemoteIds(tx, n, ids))
  await remember(email.n, ['18c2f', 'x@eu-west-1.amazonses.com'])
  await remember(email.n, ['18c2f'])
  assert.deepEqual(appliance.emails.byRemoteId('18c2f'), email)
  assert.deepEqual(appliance.emails.byRemoteId('x@eu-west-1.amazonses.com'), email)
  assert.equal(appliance.emails.byRemoteId('unknown'), undefined)
  const younger = await insert(newMail())
  await remember(younger.email.n, ['18c2f'])
  assert.equal(appliance.emails.byRemoteId('18c2f')!.id, younger.email.id)
})

test('ids that are none are passed over, and so are too many', async () => {
  const { email } = await insert(newMail())
  const ids = ['', 'y'.repeat(256), ...Array.from({ length: 100 }, (_, index) => `many-${index}`)]
  await write((tx) => appliance.emails.addRemoteIds(tx, email.n, ids))
  assert.equal(appliance.emails.byRemoteId(''), undefined)
  assert.equal(appliance.emails.byRemoteId('y'.repeat(256)), undefined)
  assert.ok(appliance.emails.byRemoteId('many-19'))
  assert.equal(appliance.emails.byRemoteId('many-20'), undefined)
})

test('content that is still to be sent is named, and no other', async () => {
  const [kept, gone] = [newMail(), newMail({ recipients: ['a@x.test'] })]
  await insert(kept)
  const { deliveries } = await insert(gone)
  await write((tx) =>
    appliance.transitions.apply(tx, deliveries[0]!.n, { kind: 'rejected', reason: 'policy', detail: '' }, null),
  )
  const { email } = { email: appliance.emails.byId(gone.id)! }
  await write((tx) => appliance.emails.clearNoticeDue(tx, email.n, [deliveries[0]!.n]))
  const named = await appliance.emails.namedBlobs([kept.hash, gone.hash, sha256('nothing')])
  assert.deepEqual([...named], [Buffer.from(kept.hash).toString('hex')])
  assert.deepEqual(await appliance.emails.namedBlobs([]), new Set())
  const plan = appliance.app.db.read.all<{ detail: string }>(
    'EXPLAIN QUERY PLAN SELECT DISTINCT blob FROM emails WHERE blob IN (?, ?)',
    [kept.hash, gone.hash],
  )
  assert.match(plan[0]!.detail, /USING COVERING INDEX emails_blob \(blob=\?\)/)
})

test('messages with a due DSN come oldest first, by index', async () => {
  const refuse = async (mail: NewEmail) => {
    const { email, deliveries } = await insert(mail)
    await write((tx) =>
      appliance.transitions.apply(tx, deliveries[0]!.n, { kind: 'rejected', reason: 'policy', detail: '' }, null),
    )
    return email.n
  }
  const before = appliance.emails.noticesDue(100)
  const first = await refuse(newMail())
  const second = await refuse(newMail())
  assert.deepEqual(appliance.emails.noticesDue(100), [...before, first, second])
  assert.equal(appliance.emails.noticesDue(1).length, 1)
  const plan = appliance.app.db.read.all<{ detail: string }>(
    'EXPLAIN QUERY PLAN SELECT DISTINCT email FROM deliveries WHERE notice_due = 1 ORDER BY email LIMIT 5',
  )
  assert.deepEqual(
    plan.map(({ detail }) => detail),
    ['SCAN deliveries USING COVERING INDEX deliveries_notice'],
  )
})

test('the sweep leaves content that is still to be sent, and takes it when it has left', async () => {
  const { app, clock, emails } = appliance
  const taken = { smtpCode: 250, enhancedCode: null, text: 'Ok' }
  const email = await appliance.accepted(['a@x.test', 'b@x.test'])
  const [one, two] = emails.deliveriesOf(email.n)
  const hash = emails.byId(email.id)!.hash!
  const sweep = async () => {
    clock.advance(SWEEP_GRACE_MS + 1)
    await blobSweep.run({ app, log: app.log, signal: new AbortController().signal })
    return app.store.blobs.size(hash)
  }
  const leave = (n: number) =>
    write((tx) => appliance.transitions.apply(tx, n, { kind: 'sent', reply: taken, confirmation: 'relay' }, null))
  await leave(one!.n)
  assert.equal(await sweep(), email.sizeBytes)
  await leave(two!.n)
  assert.equal(await sweep(), undefined)
})
