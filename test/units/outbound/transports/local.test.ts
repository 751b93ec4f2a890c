// Mail to mailboxes of the same appliance: what is kept, what is refused, and what both sides can read about it.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { SUSPENDED_DEFER_MS } from '../../../../src/directory/mailboxes/receiver.ts'
import { RECEIVED_MAX } from '../../../../src/outbound/transports/local/local.ts'
import { startAppliance } from '../../../support/appliance.ts'
import { type AnyHandover, firstVerdict, handover, MAIL, shortOutcomes, wordsOf } from '../../../support/carriers.ts'
import { ManualClock } from '../../../support/clock.ts'
import { logOf, rawOf, storedMessages, sweepContent } from '../../../support/stored.ts'

const clock = new ManualClock()
const appliance = await startAppliance({ clock })
after(async () => {
  await sweepContent(appliance, clock)
  await appliance.close()
})
const { app } = appliance
const team = await appliance.team()
const domainId = await team.domain('in.test')
const ben = await team.mailbox('ben@in.test')

let count = 0
/** A mail that no other test has sent. */
const fresh = (extra = '') => Buffer.from(`${extra}Message-ID: <${++count}@house.test>\r\n${MAIL}`)

/** Each hand-over is of a message of its own unless it says which. */
const hand = (given: Partial<AnyHandover> = {}) =>
  app.outbound.accounts.transports
    .local()
    .hand(handover({ emailId: `eml_${++count}`, recipients: ['ben@in.test'], bytes: fresh(), ...given }))

async function eventsOf(type: string): Promise<{ data: Record<string, unknown> }[]> {
  const rows = await app.db.scan.all<{ body: string }>('SELECT body FROM events WHERE type = ? ORDER BY n', [type])
  return rows.map(({ body }) => JSON.parse(body))
}

test('a message is stored as if received over SMTP, with trace fields, log row and event', async () => {
  const bytes = fresh()
  const handed = await hand({ bytes, emailId: 'eml_test' })
  assert.deepEqual(shortOutcomes(handed), ['sent'])
  assert.ok(handed.kind === 'answered')
  assert.equal(handed.confirmation, 'local')
  assert.equal(handed.peer, 'mx.mailstead.test')
  assert.deepEqual(handed.verdicts[0]!.reply, {
    smtpCode: null,
    enhancedCode: '2.1.5',
    text: 'Stored in the mailbox ben@in.test.',
  })
  const [mail, ...others] = await storedMessages(appliance, ben.id)
  assert.deepEqual(others, [])
  assert.equal(mail!.role, 'inbox')
  assert.equal(mail!.mailFrom, 'b+1@bounce.house.test')
  assert.deepEqual(mail!.authentication, {
    spf: 'none',
    dkim: 'none',
    dmarc: 'none',
    arc: 'none',
    fromAligned: true,
    reasons: ['Sent from this appliance by an authorised sender of the From address.'],
  })
  assert.equal(
    await rawOf(appliance, mail!.id),
    'Return-Path: <b+1@bounce.house.test>\r\n' +
      'Authentication-Results: mx.mailstead.test;\r\n auth=pass reason="sent from this appliance"\r\n' +
      'Received: by mx.mailstead.test with local id eml_test\r\n for <ben@in.test>;\r\n' +
      ` Thu, 01 Jan 2026 00:00:00 +0000\r\n${bytes}`,
  )
  const [row] = await logOf(appliance, team.id)
  assert.equal(row!.status, 'stored')
  assert.equal(row!.message_id, mail!.id)
  assert.equal(row!.remote_address, '')
  assert.equal(row!.header_from, 'ann@house.test')
  const [event] = await eventsOf('message.received')
  assert.equal(event!.data.message_id, mail!.id)
  assert.equal(event!.data.mailbox_email, 'ben@in.test')
  const shown = await appliance.get('/inbound/logs', team.key)
  assert.equal(shown.status, 200)
})

test('forged fields with our names are removed', async () => {
  const forged =
    'Authentication-Results: mx.mailstead.test; dmarc=pass\r\nReturn-Path: <x@y.test>\r\nX-Spam-Status: No\r\n'
  await hand({ bytes: fresh(forged) })
  const raw = await rawOf(appliance, (await storedMessages(appliance, ben.id)).at(-1)!.id)
  assert.equal(raw.match(/^Authentication-Results/gm)!.length, 1)
  assert.equal(raw.match(/^Return-Path/gm)!.length, 1)
  assert.ok(!raw.includes('X-Spam'))
})

test('the same message twice is one copy, however its signature differs and however late it comes', async () => {
  const before = (await storedMessages(appliance, ben.id)).length
  for (let i = 0; i < 3; i++) {
    const bytes = fresh(`DKIM-Signature: v=1; t=${i}\r\n`)
    assert.deepEqual(shortOutcomes(await hand({ bytes, emailId: 'eml_twice', uncertain: i > 0 })), ['sent'])
    clock.advance(20 * 3_600_000)
  }
  assert.equal((await storedMessages(appliance, ben.id)).length, before + 1)
  assert.equal((await logOf(appliance, team.id)).at(-1)!.status, 'duplicate')
  const told = (await eventsOf('message.received')).length
  await hand({ emailId: 'eml_twice' })
  assert.equal((await eventsOf('message.received')).length, told)
})

test('two addresses of one mailbox are one copy', async () => {
  const before = (await storedMessages(appliance, ben.id)).length
  assert.deepEqual(shortOutcomes(await hand({ recipients: ['ben@in.test', 'ben+news@in.test'] })), ['sent', 'sent'])
  assert.equal((await storedMessages(appliance, ben.id)).length, before + 1)
})

test('the outcome of the deliveries is written with the copies, or neither is', async () => {
  const before = (await storedMessages(appliance, ben.id)).length
  const record: AnyHandover['record'] = (tx, { verdicts }) => {
    const known = tx.all('SELECT 1 FROM local_copies WHERE email_id = ?', ['eml_unit'])
    assert.deepEqual([known.length, verdicts.map(({ kind }) => kind)], [1, ['sent']])
    throw new Error('The delivery cannot be written down.')
  }
  const failed = await hand({ emailId: 'eml_unit', record })
  assert.deepEqual([shortOutcomes(failed), failed.isRecorded], [['later transient'], false])
  assert.equal((await storedMessages(appliance, ben.id)).length, before)
  const again = await hand({ emailId: 'eml_unit' })
  assert.deepEqual([shortOutcomes(again), again.isRecorded], [['sent'], true])
  assert.equal((await storedMessages(appliance, ben.id)).length, before + 1)
})

test('tags, letters and quotes mean the same mailbox', async () => {
  const before = (await storedMessages(appliance, ben.id)).length
  for (const recipient of ['Ben+news@in.test', '"ben"@IN.test']) {
    assert.deepEqual(shortOutcomes(await hand({ recipients: [recipient] })), ['sent'])
  }
  assert.equal((await storedMessages(appliance, ben.id)).length, before + 2)
})

test('everybody is answered for himself', async () => {
  const small = await team.mailbox('small@in.test', { quotaBytes: 10_485_760 })
  const gone = await team.mailbox('gone@in.test')
  await app.directory.mailboxes.suspend(team.id, gone.id)
  const picky = await team.mailbox('picky@in.test')
  await app.directory.filters.put(picky.id, { mode: 'denylist', rules: [{ type: 'deny', pattern: 'house.test' }] })
  const fan = await team.mailbox('fan@in.test')
  await app.directory.filters.put(fan.id, { mode: 'allowlist', rules: [{ type: 'allow', pattern: 'ann@house.test' }] })
  const bytes = Buffer.concat([fresh(), Buffer.alloc(11_000_000, `${'x'.repeat(70)}\r\n`)])
  const handed = await hand({
    bytes,
    recipients: ['ben', 'small', 'nobody', 'gone', 'picky', 'fan']
      .map((name) => `${name}@in.test`)
      .concat('x@elsewhere.test'),
  })
  assert.deepEqual(shortOutcomes(handed), [
    'sent',
    'later mailbox_full',
    'never recipient',
    'never recipient',
    'never recipient',
    'sent',
    'later transient',
  ])
  assert.ok(handed.kind === 'answered')
  assert.deepEqual(
    handed.verdicts.map(({ reply }) => reply.enhancedCode),
    ['2.1.5', '4.2.2', '5.1.1', '5.2.1', '5.7.1', '2.1.5', '4.3.5'],
  )
  assert.equal(handed.verdicts[2]!.reply.text, 'There is no mailbox nobody@in.test here.')
  assert.equal((await storedMessages(appliance, small.id)).length, 0)
  const rows = (await logOf(appliance, team.id)).slice(-6)
  assert.deepEqual(
    rows.map(({ status, reason }) => [status, reason]),
    [
      ['stored', null],
      ['deferred', 'mailbox_full'],
      ['refused', 'unknown_recipient'],
      ['refused', 'mailbox_suspended'],
      ['refused', 'sender_filtered'],
      ['stored', null],
    ],
  )
  assert.equal((rows[4]!.evidence.filter as unknown as { scope: string }).scope, 'mailbox')
})

test('several recipients are not named in the trace', async () => {
  await hand({ recipients: ['ben@in.test', 'fan@in.test'], emailId: 'eml_several' })
  const raw = await rawOf(appliance, (await storedMessages(appliance, ben.id)).at(-1)!.id)
  assert.match(raw, /^Received: by mx\.mailstead\.test with local id eml_several;/m)
})

test('a filter of the domain holds where the mailbox has none', async () => {
  await app.directory.filters.put(domainId, { mode: 'denylist', rules: [{ type: 'deny', pattern: 'ann@house.test' }] })
  assert.deepEqual(shortOutcomes(await hand()), ['never recipient'])
  await app.directory.filters.put(domainId, { mode: 'off', rules: [] })
  assert.deepEqual(shortOutcomes(await hand()), ['sent'])
})

test('what goes round and round is stopped', async () => {
  const received = (many: number) =>
    fresh('Received: by a.test with local id 1; Thu, 01 Jan 2026 00:00:00 +0000\r\n'.repeat(many))
  assert.deepEqual(shortOutcomes(await hand({ bytes: received(RECEIVED_MAX) })), ['sent'])
  const handed = await hand({ bytes: received(RECEIVED_MAX + 1) })
  assert.deepEqual(shortOutcomes(handed), ['never recipient'])
  assert.equal(firstVerdict(handed).reply.enhancedCode, '5.4.6')
})

test('messages of the appliance itself raise no event', async () => {
  const told = (await eventsOf('message.received')).length
  assert.deepEqual(shortOutcomes(await hand({ mailFrom: '' })), ['sent'])
  assert.equal((await storedMessages(appliance, ben.id)).at(-1)!.mailFrom, '')
  assert.equal((await eventsOf('message.received')).length, told)
})

test('a suspended team accepts no mail, at first temporarily and then permanently', async () => {
  const other = await appliance.team('Other')
  await other.domain('other.test')
  await other.mailbox('eve@other.test')
  await app.directory.teams.setStatus(other.id, 'suspended')
  assert.deepEqual(shortOutcomes(await hand({ recipients: ['eve@other.test'] })), ['later transient'])
  clock.advance(SUSPENDED_DEFER_MS)
  assert.deepEqual(shortOutcomes(await hand({ recipients: ['eve@other.test'] })), ['never recipient'])
  const rows = await logOf(appliance, other.id)
  assert.deepEqual(
    rows.map(({ status }) => status),
    ['deferred', 'refused'],
  )
})

test('what cannot be written is tried again', async () => {
  const before = (await storedMessages(appliance, ben.id)).length
  await app.db.write((tx) => tx.run('ALTER TABLE inbound_log RENAME TO inbound_log_away'))
  const handed = await hand()
  await app.db.write((tx) => tx.run('ALTER TABLE inbound_log_away RENAME TO inbound_log'))
  assert.deepEqual(shortOutcomes(handed), ['later transient'])
  assert.equal(wordsOf(handed), 'The message could not be stored; delivery will be retried.')
  assert.equal((await storedMessages(appliance, ben.id)).length, before, 'all or nothing')
})
