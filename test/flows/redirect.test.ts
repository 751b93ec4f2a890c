// Sieve `redirect` (RFC 5228 §4.2): received messages leave again, sealed, limited, without loops, and nothing is lost.

import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { forwardingMemory } from '../../src/jobs/retention.ts'
import { FORWARDS_PER_DAY, HOPS_MAX } from '../../src/outbound/receive/deliver-received.ts'
import { data, failure, receiveRaw } from '../api/expect.ts'
import { type Json, startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { rsaKey, signMail } from '../support/dkim.ts'
import { startMailServer } from '../support/mail-server.ts'
import { SieveClient } from '../support/managesieve.ts'
import { SmtpClient } from '../support/smtp.ts'
import { logOf, storedMessages, sweepContent } from '../support/stored.ts'

const clock = new ManualClock()
const remote = await startMailServer({
  onRcptTo({ address }, _session, done) {
    const error = Object.assign(new Error('5.1.1 no such user'), { responseCode: 550 })
    done(address.startsWith('refused') ? error : null)
  },
})
const key = rsaKey()
const zone: Record<string, object> = {
  'out.test': { TXT: ['v=spf1 ip4:127.0.0.1 -all'] },
  's1._domainkey.out.test': { TXT: [key.record] },
  '_dmarc.out.test': { TXT: ['v=DMARC1; p=reject'] },
  'forged.test': { TXT: ['v=spf1 -all'] },
  '_dmarc.forged.test': { TXT: ['v=DMARC1; p=none'] },
  'junk.test': { TXT: ['v=spf1 -all'] },
  '_dmarc.junk.test': { TXT: ['v=DMARC1; p=quarantine'] },
  'customer.example': { MX: [{ priority: 10, exchange: 'mx.customer.example' }] },
  'mx.customer.example': { A: ['127.0.0.1'] },
}
const appliance = await startAppliance({
  clock,
  zone: zone as never,
  env: { ALLOW_PRIVATE_SMTP_HOSTS: 'true', DIRECT_PORT: String(remote.port) },
})
after(async () => {
  await sweepContent(appliance, clock)
  await appliance.close()
  await remote[Symbol.asyncDispose]()
})
const team = await appliance.team()
await team.domain('shop.test')

type Box = Awaited<ReturnType<typeof team.mailbox>>
let count = 0
beforeEach(() => {
  remote.messages.length = 0
})

async function mailbox(script: string): Promise<Box> {
  const box = await team.mailbox(`m${count++}@shop.test`)
  await activate(box, script)
  return box
}

async function activate(box: Box, content: string): Promise<void> {
  data(
    await appliance.call('POST', '/mailbox/sieve-scripts', box.key, { name: `s${count++}`, content, activate: true }),
    201,
  )
}

interface Given {
  mailFrom?: string
  from?: string
  id?: string
  more?: string[]
  isSigned?: boolean
}

function mail(
  to: string,
  { from = 'bob@out.test', id = `m${count++}@out.test`, more = [], isSigned = true }: Given = {},
) {
  const lines = [`From: <${from}>`, `To: ${to}`, 'Subject: Hello', `Message-ID: <${id}>`]
  const text = `${[...lines, `Date: ${new Date(clock.now()).toUTCString()}`, ...more].join('\r\n')}\r\n\r\nBody\r\n`
  return isSigned ? signMail(text, { key, domain: 'out.test' }) : text
}

async function arrives(box: Box, given: Given = {}): Promise<void> {
  const { mailFrom = given.from ?? 'bob@out.test' } = given
  await receiveRaw(appliance, { from: mailFrom, to: box.email, content: mail(box.email, given) })
  await appliance.settle()
}

async function inFolders(box: Box): Promise<string[]> {
  const folders = data<Json[]>(await appliance.get('/mailbox/folders?limit=100', box.key))
  return folders.flatMap(({ path, total_messages: total }) => Array<string>(total).fill(path))
}

async function lastRow(box: Box) {
  return (await logOf(appliance, team.id)).filter((row) => row.mailbox_id === box.id).at(-1)!
}

test('a redirected message leaves as it came, from our bounce address, sealed with ARC, and no copy stays', async () => {
  const box = await mailbox('redirect "ann@customer.example";')
  await arrives(box)
  assert.equal(remote.messages.length, 1)
  const { from, to, bytes } = remote.messages[0]!
  assert.deepEqual(to, ['ann@customer.example'])
  assert.match(from, /^b\+[0-9a-z]{24}@bounce\./)
  const text = bytes.toString()
  assert.match(text, /^ARC-Seal: i=1; /m)
  assert.match(text, /^ARC-Authentication-Results: i=1; .*\r\n(?: .*\r\n)*? dmarc=pass/m)
  assert.match(text, /^X-Mailstead-Forwarded: [\w-]{16}\r$/m)
  assert.doesNotMatch(text, /^Return-Path:|^DKIM-Signature: .*d=shop\.test/m)
  assert.match(text, /^From: <bob@out\.test>\r$/m)
  assert.deepEqual(await inFolders(box), [])
  const row = await lastRow(box)
  assert.deepEqual([row.status, row.message_id], ['forwarded', null])
  const { message_id: id, to: logged, refused } = row.evidence.forwarding as Json
  assert.deepEqual([logged, refused], [['ann@customer.example'], []])
  const sent = data<Json>(await appliance.get(`/emails/${id}`, team.key))
  assert.deepEqual(
    [sent.source, sent.mailbox_id, sent.from.email, sent.status, sent.content],
    ['forward', box.id, box.email, 'sent', null],
  )
})

test('":copy" keeps the message, an address gets it once, and an earlier folder stays', async () => {
  const box = await mailbox(
    'require ["copy", "fileinto"]; redirect :copy "ann@customer.example"; redirect :copy "ANN@customer.example"; fileinto :copy "Archive";',
  )
  await arrives(box)
  assert.deepEqual([remote.messages.length, await inFolders(box)], [1, ['Inbox', 'Archive']])
  assert.deepEqual([(await lastRow(box)).status], ['stored'])
})

const LOOPED = /mail loop/
test('loops end: the own mark, too many hops, the message coming back, and addresses of the mailbox itself', async () => {
  const box = await mailbox('redirect "ann@customer.example";')
  await arrives(box)
  const mark = /^X-Mailstead-Forwarded: .*$/m.exec(remote.messages[0]!.bytes.toString())![0].trim()
  const cases: [Given, RegExp][] = [
    [{ more: [mark] }, LOOPED],
    [
      { more: Array.from({ length: HOPS_MAX }, (_, n) => `Received: by h${n}.test; Thu, 01 Jan 2026 00:00:00 +0000`) },
      LOOPED,
    ],
  ]
  for (const [given, reason] of cases) {
    await arrives(box, given)
    assert.match((((await lastRow(box)).evidence.forwarding as Json).refused as Json[])[0]!.reason, reason)
  }
  const id = `again${count++}@out.test`
  await arrives(box, { id })
  await arrives(box, { id, more: ['X-Other: 1'] })
  assert.match(((await lastRow(box)).evidence.forwarding as Json).refused[0].reason, LOOPED)
  assert.equal(remote.messages.length, 2)
  assert.deepEqual(await inFolders(box), ['Inbox', 'Inbox', 'Inbox'])
  data(await appliance.call('POST', `/mailboxes/${box.id}/aliases`, team.key, { email: 'other@shop.test' }), 201)
  for (const own of [box.email, box.email.replace('@', '+tag@'), 'other@shop.test']) {
    await activate(box, `redirect "${own}";`)
    await arrives(box)
    assert.match(((await lastRow(box)).evidence.forwarding as Json).refused[0].reason, /one of this mailbox/)
  }
})

test('the same bytes sent again are neither sent nor kept a second time', async () => {
  const box = await mailbox('redirect "ann@customer.example";')
  const content = mail(box.email)
  for (let time = 0; time < 2; time++) await receiveRaw(appliance, { from: 'bob@out.test', to: box.email, content })
  await appliance.settle()
  assert.deepEqual([remote.messages.length, await inFolders(box)], [1, []])
})

test('two mailboxes here that redirect to each other keep the message where it began', async () => {
  const one = await mailbox('keep;')
  const two = await mailbox(`redirect "${one.email}";`)
  await activate(one, `redirect "${two.email}";`)
  await arrives(one)
  assert.deepEqual([await inFolders(one), await inFolders(two)], [['Inbox'], []])
  const [kept] = data<Json[]>(await appliance.get('/mailbox/messages', one.key))
  const detail = data<Json>(await appliance.get(`/mailbox/messages/${kept.id}`, one.key))
  assert.deepEqual([detail.authentication.dmarc, detail.authentication.spf], ['pass', 'pass'])
})

test('spam, failed DMARC, suppressed addresses and reports of this server are kept instead', async () => {
  const box = await mailbox('redirect "ann@customer.example";')
  await arrives(box, { from: 'x@junk.test', isSigned: false })
  await arrives(box, { from: 'x@forged.test', isSigned: false })
  await appliance.app.db.write((tx) =>
    appliance.app.outbound.queue.suppressions.add(tx, {
      ...{ teamId: team.id, email: 'ann@customer.example', reason: 'manual', sourceMessageId: null, note: '' },
    }),
  )
  await arrives(box)
  assert.equal(remote.messages.length, 0)
  assert.deepEqual((await inFolders(box)).sort(), ['Inbox', 'Junk', 'Junk'].sort())
  assert.match(((await lastRow(box)).evidence.forwarding as Json).refused[0].reason, /suppression/)
})

test('a refused message comes back into the mailbox with its content, and causes no further mail', async () => {
  const box = await mailbox('redirect "refused@customer.example";')
  await arrives(box)
  await appliance.settle()
  assert.deepEqual(await inFolders(box), ['Inbox'])
  const [notice] = data<Json[]>(await appliance.get('/mailbox/messages', box.key))
  const { status, body } = await appliance.get(`/mailbox/messages/${notice.id}/raw`, box.key)
  assert.equal(status, 200, JSON.stringify(body))
  assert.match(notice.subject, /^Not delivered: Hello/)
  assert.equal(notice.has_attachments, true)
  await appliance.settle()
  assert.equal(remote.messages.length, 0)
})

test('a bounce that comes later, and an answer to our bounce address, stay in the mailbox', async () => {
  const box = await mailbox('redirect "late@customer.example";')
  await arrives(box)
  const [{ from, bytes }] = remote.messages as unknown as [{ from: string; bytes: Buffer }]
  await using client = await SmtpClient.greet(appliance.ports.smtp)
  const header = [
    'From: <MAILER-DAEMON@mx.customer.example>',
    `To: <${from}>`,
    'Subject: Undelivered',
    'Auto-Submitted: auto-replied',
  ]
  const dsn = [
    ...[
      ...header,
      'Content-Type: multipart/report; report-type=delivery-status; boundary=b',
      '',
      '--b',
      '',
      'Sorry',
      '--b',
    ],
    ...['Content-Type: message/delivery-status', '', 'Reporting-MTA: dns; mx.customer.example', ''],
    ...['Final-Recipient: rfc822; late@customer.example', 'Action: failed', 'Status: 5.1.1', '', '--b'],
    ...['Content-Type: message/rfc822', '', bytes.toString(), '--b--', ''],
  ]
  assert.equal((await client.mail({ from: '', to: from, content: dsn.join('\r\n') })).code, 250)
  await appliance.settle()
  assert.deepEqual(await inFolders(box), ['Inbox'])
  const answer = [
    ...header.slice(0, 2),
    'Subject: Away',
    'Auto-Submitted: auto-replied',
    'Message-ID: <a@customer.example>',
    '',
    'Away',
    '',
  ]
  assert.equal((await client.mail({ from: 'late@customer.example', to: from, content: answer.join('\r\n') })).code, 250)
  await appliance.settle()
  assert.deepEqual([remote.messages.length, (await inFolders(box)).length], [1, 2])
})

test('a report from outside keeps the null sender, so that its bounce causes nothing', async () => {
  const box = await mailbox('redirect "ann2@customer.example";')
  await arrives(box, { mailFrom: '', more: ['Auto-Submitted: auto-replied'] })
  assert.deepEqual(
    remote.messages.map(({ from, to }) => [from, to]),
    [['', ['ann2@customer.example']]],
  )
})

test('the limit of a day: what is above it is kept', async () => {
  const box = await mailbox('redirect "day@customer.example";')
  const account = appliance.app.store.accounts.byMailbox(box.id)!
  const addresses = Array.from({ length: FORWARDS_PER_DAY }, (_, n) => `n${n}@customer.example`)
  const entry = { messageId: 'x', content: new Uint8Array(32), addresses, at: clock.now() }
  await appliance.app.db.write((tx) => appliance.app.store.delivery.forwarded.record(tx, account, entry))
  await arrives(box)
  assert.deepEqual([remote.messages.length, await inFolders(box)], [0, ['Inbox']])
  clock.advance(86_400_000)
  await arrives(box)
  assert.deepEqual([remote.messages.length, await inFolders(box)], [1, ['Inbox']])
})

const EDIT = 'require "editheader"; deleteheader "Subject"; addheader "Subject" "Changed";'

test('a message whose header was changed leaves without our results and without a seal', async () => {
  const box = await mailbox(`${EDIT} redirect "edited@customer.example";`)
  await arrives(box)
  const text = remote.messages[0]!.bytes.toString()
  assert.match(text, /^Subject: Changed\r$/m)
  assert.match(text, /^DKIM-Signature: .*d=out\.test/m)
  assert.doesNotMatch(text, /^(?:ARC-|Authentication-Results:)/m)
})

test('in a mailbox of another team a changed message has no verdict, and its author is that of the original', async () => {
  const other = await appliance.team('Other')
  await other.domain('bank.test')
  const victim = await other.mailbox('victim@bank.test')
  const forging =
    'deleteheader "From"; addheader "From" "CEO <ceo@bank.test>"; addheader "Authentication-Results" "x; auth=pass";'
  const scripts = [`redirect "${victim.email}";`, `${EDIT} ${forging} redirect "${victim.email}";`]
  for (const script of scripts) await arrives(await mailbox(script))
  const seen = await storedMessages(appliance, victim.id)
  assert.deepEqual(
    seen.map(({ from, subject, authentication: { dmarc, fromAligned } }) => [from, subject, dmarc, fromAligned]),
    [
      ['bob@out.test', 'Hello', 'pass', true],
      ['bob@out.test', 'Changed', 'none', false],
    ],
  )
})

test('a script that redirects needs a key that may send', async () => {
  const box = await team.mailbox(`m${count++}@shop.test`)
  const permissions = ['mailbox.read', 'mailbox.write']
  const { key: weak } = data<Json>(
    await appliance.call('POST', `/mailboxes/${box.id}/api-keys`, team.key, { name: 'weak', permissions }),
    201,
  )
  const content = 'if true { if true { redirect "ann@customer.example"; } }'
  const path = '/mailbox/sieve-scripts'
  failure(await appliance.call('POST', path, weak, { name: 'one', content }), 403, 'insufficient_permissions')
  const { id } = data<Json>(await appliance.call('POST', path, box.key, { name: 'one', content }), 201)
  failure(await appliance.call('POST', `${path}/${id}/activate`, weak), 403, 'insufficient_permissions')
  const { etag, ...other } = data<Json>(
    await appliance.call('POST', path, weak, { name: 'two', content: 'keep;' }),
    201,
  )
  failure(
    await appliance.call('PUT', `${path}/${other.id}`, weak, { name: 'two', content }),
    403,
    'insufficient_permissions',
  )
})

test('a key that may not send does not get at a redirect by including, or by names', async () => {
  const box = await team.mailbox(`m${count++}@shop.test`)
  const permissions = ['mailbox.read', 'mailbox.write']
  const { key: weak } = data<Json>(
    await appliance.call('POST', `/mailboxes/${box.id}/api-keys`, team.key, { name: 'weak', permissions }),
    201,
  )
  const path = '/mailbox/sieve-scripts'
  const create = (key: string, name: string, content: string, activate = false) =>
    appliance.call('POST', path, key, { name, content, activate })
  data(await create(box.key, 'away', 'redirect "zoe@customer.example";'), 201)
  const { id: quiet } = data<Json>(await create(box.key, 'quiet', 'keep;', true), 201)
  const include = 'require "include"; include "away";'
  const denied = (reply: Awaited<ReturnType<typeof create>>) => failure(reply, 403, 'insufficient_permissions')
  denied(await create(weak, 'new', include, true))
  denied(await appliance.call('PUT', `${path}/${quiet}`, weak, { name: 'quiet', content: include }))
  const { id } = data<Json>(await create(weak, 'new', include), 201)
  denied(await appliance.call('POST', `${path}/${id}/activate`, weak))
  // Over one more script, and by the name that the active one includes.
  data(await create(weak, 'outer', 'require "include"; include :optional "inner";', true), 201)
  denied(await create(weak, 'inner', include))
  await using program = await SieveClient.signedIn(appliance, box.email, weak)
  const refused = /^NO "A script with redirect or notify sends/
  assert.match((await program.ask('RENAMESCRIPT "away" "inner"')).end, refused)
  assert.match((await program.ask('RENAMESCRIPT "new" "inner"')).end, refused)
  await arrives(box)
  assert.deepEqual([remote.messages.length, await inFolders(box)], [0, ['Inbox']])
  await using owner = await SieveClient.signedIn(appliance, box.email, box.key)
  assert.match((await owner.ask('RENAMESCRIPT "new" "inner"')).end, /^OK /)
  await arrives(box)
  assert.deepEqual([remote.messages.length, await inFolders(box)], [1, ['Inbox']])
})

test('a relay that refuses the author is passed over without harm; without another way the message is returned', async () => {
  await using relay = await startMailServer({
    onData(stream, _session, done) {
      const parts: Buffer[] = []
      stream.on('data', (part: Buffer) => parts.push(part))
      stream.on('end', () => {
        const isOwn = /^From: .*@relayed\.test/m.test(Buffer.concat(parts).toString())
        const error = Object.assign(new Error('5.7.1 From address is not owned by user ann'), { responseCode: 550 })
        done(isOwn ? null : error)
      })
    },
  })
  const other = await appliance.team()
  await other.domain('relayed.test')
  const account = {
    ...{ name: 'Relay', smtp_host: 'mx.customer.example', smtp_port: relay.port, smtp_protocol: 'none' },
    ...{ smtp_username: 'ann', smtp_password: 'secret', from_email: 'ann@relayed.test' },
  }
  const { id } = data<Json>(await appliance.call('POST', '/providers', other.key, account), 201)
  await appliance.app.outbound.accounts.checks.runDue()
  const box = await other.mailbox('ann@relayed.test')
  await activate(box, 'redirect "ann3@customer.example";')
  await arrives(box)
  assert.equal(remote.messages.length, 1, 'our own server delivers it')
  const bound = { send_scope: { type: 'providers', provider_public_ids: [id] } }
  data(await appliance.call('PATCH', `/mailboxes/${box.id}`, other.key, bound))
  await arrives(box)
  assert.equal(remote.messages.length, 1)
  const [notice] = data<Json[]>(await appliance.get('/mailbox/messages', box.key))
  assert.match(notice.subject, /^Not delivered/)
  assert.equal(data<Json>(await appliance.get(`/providers/${id}`, other.key)).status, 'active')
})

test('what was forwarded and which ids were seen is forgotten, also without a next message', async () => {
  const box = await mailbox('require "duplicate"; if duplicate { discard; } else { redirect "ann@customer.example"; }')
  await arrives(box)
  const { db } = appliance.app
  const rows = () =>
    ['forwarded', 'script_ids'].map((table) => db.read.get<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)!.n)
  const forget = () => forwardingMemory.run({ app: appliance.app, signal: AbortSignal.timeout(60_000) } as never)
  await forget()
  assert.ok(rows().every((n) => n > 0))
  clock.leap(8 * 86_400_000)
  await forget()
  assert.deepEqual(rows(), [0, 0])
})
