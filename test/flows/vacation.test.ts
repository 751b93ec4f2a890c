// Vacation responses: recipients, exceptions, once a week, across a crash, and without loops.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, beforeEach, describe, test } from 'node:test'
import { decodeHeader } from '../../src/mime/decode.ts'
import { bounceAddress } from '../../src/outbound/model/envelope-sender.ts'
import { REPLIES_PER_DAY } from '../../src/sieve/vacation.ts'
import { SENDERS_MAX } from '../../src/store/mailbox/vacations.ts'
import { data, etagOf, failure, issues, receiveRaw } from '../api/expect.ts'
import { AgentClient, EASY_WORK } from '../support/agents.ts'
import { type Json, startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { startMailServer } from '../support/mail-server.ts'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const clock = new ManualClock()
const remote = await startMailServer()
/** Replies to these would arrive: only the rules keep them from being sent. */
const MX = [{ priority: 10, exchange: 'mx.customer.example' }]
const zone = {
  'unknown.example': { MX },
  'customer.example': { MX: [{ priority: 10, exchange: 'mx.customer.example' }], TXT: ['v=spf1 ip4:127.0.0.1 -all'] },
  'mx.customer.example': { A: ['127.0.0.1'] },
  'strict.example': { MX, TXT: ['v=spf1 -all'] },
  'forged.example': { MX, TXT: ['v=spf1 ip4:192.0.2.1 ~all'] },
  '_dmarc.forged.example': { TXT: ['v=DMARC1; p=none'] },
  'bounce.mx.mailstead.test': { TXT: ['v=spf1 ip4:127.0.0.1 -all'] },
}
const appliance = await startAppliance({
  clock,
  zone,
  env: { ...EASY_WORK, ALLOW_PRIVATE_SMTP_HOSTS: 'true', DIRECT_PORT: String(remote.port) },
})
after(async () => {
  await appliance.close()
  await remote[Symbol.asyncDispose]()
})
const team = await appliance.team()
await team.domain('shop.test')
let made = 0
let ana: { id: string; email: string; key: string }

beforeEach(async () => {
  ana = await team.mailbox(`ana${++made}@shop.test`)
  data(await put({ is_enabled: true, text_body: 'I am away.' }))
  remote.messages.length = 0
})

const path = '/mailbox/vacation-response'
const put = (body: object, key = ana.key) => appliance.call('PUT', path, key, body)
const BOB = 'bob@customer.example'

interface Given {
  from?: string
  mailFrom?: string
  to?: string
  rcptTo?: string
  subject?: string
  more?: string[]
}

let mails = 0

/** A mail comes in by SMTP, and everything that follows from it happens. */
async function arrives({ from = BOB, mailFrom = from, to, rcptTo = ana.email, subject, more = [] }: Given = {}) {
  const lines = [
    ...[`From: <${from}>`, `To: ${to ?? ana.email}`, `Subject: ${subject ?? 'Question'}`],
    ...[`Message-ID: <m${++mails}@customer.example>`, `Date: ${new Date(clock.now()).toUTCString()}`, ...more],
  ]
  await receiveRaw(appliance, { from: mailFrom, to: rcptTo, content: `${lines.join('\r\n')}\r\n\r\nHello\r\n` })
  await appliance.settle()
}

/** Ana has answered as many senders as are remembered. */
async function fillSenders(): Promise<void> {
  await appliance.app.db.write((tx) => {
    const row = tx.get<{ n: number }>('SELECT n FROM accounts WHERE mailbox_id = ?', [ana.id])
    for (let n = 0; n < SENDERS_MAX; n++)
      tx.insert('vacation_senders', { account: row!.n, sender: `s${n}`, answered_at: clock.now() })
  })
}

/** Messages sent since the test began. */
const answers = () => remote.messages.map(({ to }) => to.join())

describe('a vacation response', () => {
  test('is sent to the envelope sender with the null sender, in the thread, marked as automatic', async () => {
    await arrives({ subject: 'Grüße', mailFrom: 'b+1@customer.example', more: ['References: <a@x> <b@y>'] })
    assert.deepEqual(answers(), ['b+1@customer.example'])
    const { from, bytes } = remote.messages[0]!
    const text = bytes.toString().replace(/\r\n[ \t]/g, ' ')
    assert.equal(from, '')
    for (const line of [
      /^From: ana\d+@shop\.test\r$/m,
      /^To: b\+1@customer\.example\r$/m,
      /^Subject: =\?utf-8\?.*\r$/im,
      /^Auto-Submitted: auto-replied\r$/m,
      new RegExp(`^In-Reply-To: {1,2}<m${mails}@customer\\.example>\r$`, 'm'),
      new RegExp(`^References: {1,2}<a@x> <b@y> <m${mails}@customer\\.example>\r$`, 'm'),
      /^DKIM-Signature: .*d=shop\.test/m,
      /I am away\./,
    ]) {
      assert.match(text, line)
    }
    const [row] = data<Json[]>(await appliance.get(`/emails/logs?mailbox_id=${ana.id}`, team.key))
    assert.deepEqual([row.status, row.to_email ?? row.to], ['sent', 'b+1@customer.example'])
  })

  test('has the configured subject and bodies, and by default repeats the original subject', async () => {
    await arrives({ subject: 'Question' })
    assert.match(remote.messages[0]!.bytes.toString(), /^Subject: Auto: Question\r$/m)
    data(await put({ is_enabled: true, subject: 'Away', html_body: '<p>Until <b>Monday</b></p>' }))
    await arrives({ from: 'carl@customer.example' })
    const text = remote.messages[1]!.bytes.toString()
    assert.match(text, /^Subject: Away\r$/m)
    assert.match(text, /multipart\/alternative/)
  })

  test('is sent from the identity the message was addressed to', async () => {
    const email = ana.email.replace('@', '+sales@')
    data(await appliance.call('POST', '/mailbox/identities', ana.key, { email, name: 'Ana of sales' }), 201)
    await arrives({ rcptTo: email, to: `Sales <${email}>` })
    assert.match(
      remote.messages[0]!.bytes.toString(),
      new RegExp(`^From: Ana of sales <${email.replace('+', '\\+')}>\r$`, 'm'),
    )
  })

  test('is sent once a week to each sender, whatever the envelope', async () => {
    await arrives()
    await arrives()
    await arrives({ from: BOB.toUpperCase(), mailFrom: 'verp+2@customer.example' })
    await arrives({ from: 'Carl@customer.example' })
    await arrives({ from: 'dora@customer.example', mailFrom: BOB })
    assert.deepEqual(answers(), [BOB, 'Carl@customer.example'])
    clock.leap(7 * DAY_MS - 1)
    await arrives()
    assert.equal(answers().length, 2)
    clock.leap(HOUR_MS)
    await appliance.settle()
    await arrives()
    assert.deepEqual(answers().slice(2), [BOB])
    // The job has forgotten the others meanwhile.
    const kept = appliance.app.db.read.all<{ sender: string }>(
      'SELECT s.sender FROM vacation_senders s JOIN accounts a ON a.n = s.account WHERE a.mailbox_id = ?',
      [ana.id],
    )
    assert.deepEqual(
      kept.map(({ sender }) => sender),
      [BOB],
    )
  })

  test('is sent once for two concurrent messages', async () => {
    const one = (n: number) => `From: <${BOB}>\r\nTo: ${ana.email}\r\nMessage-ID: <two${n}@x>\r\n\r\n${n}\r\n`
    await Promise.all([1, 2, 3].map((n) => receiveRaw(appliance, { from: BOB, to: ana.email, content: one(n) })))
    await appliance.settle()
    assert.deepEqual(answers(), [BOB])
  })

  test('is sent only within its dates', async () => {
    const day = (days: number) => new Date(clock.now() + days * DAY_MS).toISOString()
    data(await put({ is_enabled: true, text_body: 'x', from_date: day(1), to_date: day(2) }))
    await arrives()
    clock.leap(DAY_MS)
    await arrives({ from: 'in@customer.example' })
    clock.leap(DAY_MS)
    await arrives({ from: 'late@customer.example' })
    assert.deepEqual(answers(), ['in@customer.example'])
  })

  test('that could not be composed waits with its message, and is sent once', async (t) => {
    const {
      vacationReplies,
      log: { emails },
    } = appliance.app.outbound
    const insert = t.mock.method(emails, 'insert', () => {
      throw new Error('The appliance stops here.')
    })
    await arrives()
    assert.ok(insert.mock.callCount() > 0)
    assert.deepEqual(answers(), [])
    insert.mock.restore()
    await Promise.all([vacationReplies.run(), vacationReplies.run()])
    await appliance.settle()
    await appliance.settle()
    assert.deepEqual(answers(), [BOB])
  })

  test('that could not be composed for a day is dropped', async (t) => {
    const insert = t.mock.method(appliance.app.outbound.log.emails, 'insert', () => {
      throw new Error('Stopped.')
    })
    await arrives()
    insert.mock.restore()
    clock.leap(DAY_MS + 1)
    await appliance.settle()
    assert.deepEqual(answers(), [])
    assert.deepEqual(appliance.app.store.delivery.vacations.dueReplies(0, 1), [])
  })
})

describe('vacation in a script', () => {
  const activate = async (content: string) =>
    data(
      await appliance.call('POST', '/mailbox/sieve-scripts', ana.key, { name: `s${++made}`, content, activate: true }),
      201,
    )
  beforeEach(async () => data(await put({ is_enabled: false, text_body: 'The setting.' })))

  test('answers as Roundcube writes it, once for its days, whatever the setting says', async () => {
    await activate(
      `require ["vacation"];\nvacation :days 2 :addresses ["${ana.email}"] :subject "Away" text:\nBack on Monday.\nÄnne\n.\n;`,
    )
    await arrives()
    await arrives()
    assert.deepEqual(answers(), [BOB])
    const text = remote.messages[0]!.bytes.toString()
    assert.match(text, /^Subject: Away\r$/m)
    assert.match(text, /^Auto-Submitted: auto-replied\r$/m)
    assert.match(text, /Back on Monday\./)
    assert.match(text, /=C3=84nne|Änne/)
    assert.equal(remote.messages[0]!.from, '')
    clock.leap(2 * DAY_MS + HOUR_MS)
    await arrives()
    assert.equal(answers().length, 2, 'after its days')
    // The script stands in place of the setting: one answer, not two.
    data(await put({ is_enabled: true, text_body: 'The setting.' }))
    await arrives({ from: 'carl@customer.example' })
    assert.equal(answers().length, 3)
    assert.match(remote.messages[2]!.bytes.toString(), /Back on Monday\./)
  })

  test('answers one sender ten times a day at most, however its text varies, and as many senders as the setting', async () => {
    const subject = '$' + '{1}'
    await activate(
      `require ["vacation", "variables"];\nif header :matches "Subject" "*" { vacation :days 1 "${subject}: I am away."; }`,
    )
    for (let n = 0; n <= REPLIES_PER_DAY; n++) await arrives({ subject: `Number ${n}` })
    assert.equal(answers().length, REPLIES_PER_DAY)
    clock.leap(DAY_MS + HOUR_MS)
    await arrives({ subject: 'The next day' })
    assert.equal(answers().length, REPLIES_PER_DAY + 1)
    await fillSenders()
    await arrives({ from: 'one-more@customer.example' })
    assert.equal(answers().length, REPLIES_PER_DAY + 1)
  })

  test('answers as Nextcloud and SOGo write it: in a time, from an alias, for further addresses, with MIME', async () => {
    const desk = `desk${made}@shop.test`
    data(await appliance.call('POST', `/mailboxes/${ana.id}/aliases`, team.key, { email: desk }), 201)
    const day = new Date(clock.now()).toISOString().slice(0, 10)
    await activate(
      [
        'require ["date", "relational", "vacation", "fileinto"];',
        `if allof(currentdate :value "ge" "date" "${day}", currentdate :value "le" "date" "2999-01-01") {`,
        `  vacation :days 4 :from "Desk <${desk}>" :addresses ["me@elsewhere.example"] :mime text:`,
        'Content-Type: text/html; charset=utf-8',
        '',
        '<p>Until <b>Monday</b></p>',
        '.',
        ';',
        '}',
        'fileinto "Archive";',
      ].join('\r\n'),
    )
    await arrives({ to: 'me@elsewhere.example', subject: 'Plan' })
    const text = remote.messages[0]!.bytes.toString()
    assert.match(text, new RegExp(`^From: .*${desk}`, 'm'))
    assert.match(text, /^Subject: Auto: Plan\r$/m)
    assert.match(text, /<b>Monday<\/b>/)
  })

  test('answers neither lists, automatic mail, forged senders nor messages to others', async () => {
    await activate('require "vacation"; vacation "Away";')
    await arrives({ more: ['List-Id: <l.customer.example>'] })
    await arrives({ more: ['Auto-Submitted: auto-generated'] })
    await arrives({ from: 'a@forged.example' })
    await arrives({ from: 'no-reply@customer.example' })
    await arrives({ to: 'someone@else.example' })
    await arrives({ mailFrom: '', from: BOB })
    assert.deepEqual(answers(), [])
    await arrives()
    assert.deepEqual(answers(), [BOB])
  })

  test('is decided with the script where that asks whether a message was seen before', async () => {
    await activate('require ["vacation", "duplicate"]; if not duplicate :header "subject" { vacation :days 1 "Away"; }')
    await arrives({ subject: 'Same' })
    await arrives({ subject: 'Same', from: 'carl@customer.example' })
    assert.deepEqual(answers(), [BOB])
  })

  test('is used once in a script, with a text and an author that are such', async () => {
    const check = async (content: string) =>
      data<Json>(await appliance.call('POST', '/mailbox/sieve-scripts/validate', ana.key, { content }))
    for (const wrong of ['vacation;', 'vacation :from "nobody" "x";', 'vacation :days "1" "x";']) {
      assert.equal((await check(`require "vacation"; ${wrong}`)).valid, false, wrong)
    }
    assert.equal((await check('vacation "x";')).valid, false, 'not required')
    await activate('require "vacation"; vacation "One"; vacation "Two";')
    await arrives()
    assert.deepEqual(answers(), [])
  })
})

test('the subject of the sender is quoted in bounds and without links', async () => {
  await arrives({ subject: `Locked: see http://evil.example/x ${'y'.repeat(300)}` })
  const text = remote.messages[0]!.bytes.toString().replace(/\r\n[ \t]/g, ' ')
  const subject = decodeHeader(/^Subject: (.*)\r$/m.exec(text)![1]!)
  assert.equal(subject, `Auto: Locked: see … ${'y'.repeat(45)}…`)
})

describe('no response is sent', () => {
  // Each rule by itself: units/mail/answer-rules.test.ts.
  test('unless a person wrote to the owner, and the sender is authentic', async () => {
    for (const given of [
      { mailFrom: '' },
      { mailFrom: 'no-reply@customer.example' },
      { more: ['List-Id: <friends.example>'] },
      { more: ['Auto-Submitted: auto-replied'] },
      { to: 'friends@customer.example' },
      { to: 'undisclosed-recipients:;' },
      { from: 'eve@forged.example' },
      { from: 'eve@unknown.example' },
      { mailFrom: 'eve@unknown.example' },
      { mailFrom: 'eve@strict.example' },
      { from: ana.email, mailFrom: BOB },
      { from: ana.email.replace('@', '+x@'), mailFrom: BOB },
    ]) {
      await arrives(given)
      assert.deepEqual(answers(), [], JSON.stringify(given))
    }
    // A valid address this appliance has never written to.
    await arrives({ from: 'odd@customer.example', mailFrom: '"odd one"@customer.example' })
    assert.deepEqual([answers(), appliance.app.store.delivery.vacations.dueReplies(0, 1)], [[], []])
    // It was the mail, not the mailbox.
    await arrives({ to: `friends@customer.example\r\nCc: ${ana.email.replace('@', '+tag@')}` })
    assert.deepEqual(answers(), [BOB])
  })

  test('for role addresses', async () => {
    await team.domain('roles.test')
    const zoe = await team.mailbox('zoe@roles.test')
    data(await put({ is_enabled: true, text_body: 'x' }, zoe.key))
    await arrives({ to: 'postmaster@roles.test', rcptTo: 'postmaster@roles.test' })
    assert.equal(data<Json[]>(await appliance.get('/mailbox/messages', zoe.key)).length, 1)
    assert.deepEqual(answers(), [])
    await arrives({ to: zoe.email, rcptTo: zoe.email })
    assert.deepEqual(answers(), [BOB])
  })

  test('for junk', async (t) => {
    const { config } = appliance.app
    t.mock.property(config, 'SPAM_JUNK_SCORE', -100)
    await arrives()
    assert.deepEqual(answers(), [])
  })

  test('for a repeated delivery of the same message', async () => {
    data(await put({ is_enabled: false }))
    const content = `From: <${BOB}>\r\nTo: ${ana.email}\r\nMessage-ID: <again@x>\r\n\r\nHello\r\n`
    await receiveRaw(appliance, { from: BOB, to: ana.email, content })
    data(await put({ is_enabled: true, text_body: 'x' }))
    await receiveRaw(appliance, { from: BOB, to: ana.email, content })
    await appliance.settle()
    assert.deepEqual(answers(), [])
  })

  test('by a mailbox without one, and its messages need no additional query', async (t) => {
    data(await put({ is_enabled: false, text_body: 'x' }))
    const asked = t.mock.method(appliance.app.store.delivery.vacations, 'get')
    await arrives()
    assert.deepEqual([answers(), asked.mock.callCount()], [[], 0])
  })

  test('by a mailbox that was suspended, deleted or disabled it before the response was composed', async (t) => {
    const { mailboxes } = appliance.app.directory
    const { vacationReplies } = appliance.app.outbound
    for (const end of ['back', 'suspend', 'delete'] as const) {
      const held = t.mock.method(vacationReplies, 'run', async () => 0)
      await arrives({ from: `${end}@customer.example` })
      if (end === 'back') data(await put({ is_enabled: false }))
      else if (end === 'suspend') await mailboxes.suspend(team.id, ana.id)
      else await appliance.app.administration.mailboxes.delete(team.id, ana.id)
      held.mock.restore()
      await appliance.settle()
      assert.deepEqual(answers(), [], end)
      assert.deepEqual(appliance.app.store.delivery.vacations.dueReplies(0, 1), [], end)
      if (end === 'suspend') await mailboxes.reactivate(team.id, ana.id)
      if (end === 'back') data(await put({ is_enabled: true, text_body: 'x' }))
    }
  })

  test('to a suppressed address, nor above the limit of responses', async () => {
    data(await appliance.call('POST', '/suppressions', team.key, { email: BOB }), 201)
    await arrives()
    await fillSenders()
    await arrives({ from: 'one-more@customer.example' })
    assert.deepEqual(answers(), [])
  })
})

describe('local messages', () => {
  const listed = async (key: string) => data<Json[]>(await appliance.get('/mailbox/messages?q=-in:sent', key))
  const write = (from: { key: string }, to: string, more: object = {}) =>
    appliance.call('POST', '/mailbox/messages/send', from.key, {
      ...{ to: [{ email: to }], subject: 'Hello', text_body: 'Hello', ...more },
    })

  test('two mailboxes with vacation responses stop after one response each', async () => {
    const bob = await team.mailbox(`bob${made}@shop.test`)
    data(await put({ is_enabled: true, text_body: 'So am I.' }, bob.key))
    data(await write(ana, bob.email), 202)
    await appliance.settle()
    data(await write(bob, ana.email), 202)
    await appliance.settle()
    for (let again = 0; again < 3; again++) {
      clock.leap(HOUR_MS)
      await appliance.settle()
    }
    const subjects = async (key: string) => (await listed(key)).map(({ subject }) => subject).sort()
    assert.deepEqual(await subjects(ana.key), ['Auto: Hello', 'Hello'])
    assert.deepEqual(await subjects(bob.key), ['Auto: Hello', 'Hello'])
    const [answer] = (await listed(ana.key)).filter(({ subject }) => subject.startsWith('Auto'))
    const [sent] = data<Json[]>(await appliance.get('/mailbox/messages?q=in:sent', ana.key))
    assert.equal(answer.thread_id, sent.thread_id)
    assert.deepEqual(answers(), [], 'nothing was sent to other servers')
  })

  test('a report address stands for the mailbox that sent the message, and for none without one', async () => {
    const bob = await team.mailbox(`bob${made}@shop.test`)
    const { vault, config, outbound } = appliance.app
    const messages = [{ from: { email: 'news@shop.test' }, to: { email: bob.email }, subject: 'News', text_body: 'x' }]
    const batch = await appliance.call('POST', `${appliance.sendOrigin}/api/v1/emails/send/batch`, team.key, {
      messages,
    })
    const written = data<Json>(await write(bob, bob.email), 202)
    await appliance.settle()
    const addressOf = (id: string) =>
      bounceAddress(vault, config, outbound.log.emails.deliveriesOf(outbound.log.emails.byId(id)!.n)[0]!.n)
    await arrives({ mailFrom: addressOf(data<Json>(batch).results[0].message_id), from: 'x@out.test' })
    assert.deepEqual(appliance.app.store.delivery.vacations.dueReplies(0, 1), [])
    await arrives({ mailFrom: addressOf(written.message_id), from: 'y@out.test' })
    const logged = data<Json[]>(await appliance.get(`/emails/logs?mailbox_id=${ana.id}`, team.key))
    assert.deepEqual(
      logged.map(({ to_email: to, status }) => [to, status]),
      [[bob.email, 'sent']],
    )
  })

  test('the inbox of an agent sends none, whichever key enables it', async () => {
    const agent = new AgentClient(appliance)
    const registered = await agent.register()
    const token = await agent.readToken(registered.identity_assertion)
    assert.equal(data<Json>(await appliance.get(path, token)).is_enabled, false)
    failure(await put({ is_enabled: true, text_body: 'x' }, token), 403, 'insufficient_permissions')
    assert.equal(data<Json>(await appliance.get('/mailbox/session', token)).gated.vacation_response, true)
    const mailbox = appliance.app.directory.mailboxes.byEmail(registered.mailbox.email)!
    const key = await appliance.app.directory.keys.issue({
      ...{ teamId: mailbox.teamId, kind: 'mailbox', mailboxId: mailbox.id, name: 'x', createdBy: 'operator' },
    })
    failure(await put({ is_enabled: true, text_body: 'x' }, key.secret), 403, 'insufficient_permissions')
    const { gated, endpoints } = data<Json>(await appliance.get('/mailbox/session', key.secret))
    assert.deepEqual([gated.vacation_response, gated.identity_mutation], [true, false])
    assert.ok(!endpoints.mailbox.includes('PUT /mailbox/vacation-response'))
  })
})

describe('the settings', () => {
  test('are replaced as a whole, returned as set, and checked against their ETag', async () => {
    const box = await team.mailbox(`new${made}@shop.test`)
    const empty = { is_enabled: false, from_date: null, to_date: null, subject: null, text_body: null, html_body: null }
    const first = await appliance.get(path, box.key)
    assert.deepEqual(data(first), { ...empty, updated_at: null })
    const given = { is_enabled: true, from_date: '2030-07-01', to_date: '2030-07-14', subject: 'Away', text_body: 'x' }
    const tag = { 'if-match': etagOf(first) }
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => appliance.call('PUT', path, box.key, given, tag)),
    )
    assert.deepEqual(replies.map(({ status }) => status).sort(), [200, ...Array<number>(9).fill(409)])
    const now = new Date(clock.now()).toISOString()
    const times = { from_date: '2030-07-01T00:00:00.000Z', to_date: '2030-07-15T00:00:00.000Z', updated_at: now }
    assert.deepEqual(data(await appliance.get(path, box.key)), { ...empty, ...given, ...times })
    assert.deepEqual(data(await put({ is_enabled: false }, box.key)), { ...empty, updated_at: now })
  })

  test('report their errors', async () => {
    const on = { is_enabled: true, text_body: 'x' }
    for (const [body, wrong] of [
      [{ is_enabled: true }, 'text_body required'],
      [{ is_enabled: true, text_body: '', html_body: '' }, 'text_body required'],
      [{ ...on, from_date: '2030-01-02', to_date: '2030-01-01' }, 'to_date too_small'],
      [{ ...on, from_date: '2030-01-02T00:00:00Z', to_date: '2030-01-02T00:00:00Z' }, 'to_date too_small'],
      [{ ...on, subject: 'a\r\nBcc: eve@x.example' }, 'subject invalid_format'],
      [{ ...on, subject: 'x'.repeat(256) }, 'subject too_big'],
      [{ ...on, text_body: 'x'.repeat(65_537) }, 'text_body too_big'],
    ] as const) {
      issues(await put(body), 422, 'validation_error', [wrong])
    }
    await appliance.app.directory.mailboxes.suspend(team.id, ana.id)
    failure(await put(on), 409, 'conflict')
    assert.equal(data<Json>(await appliance.get(path, ana.key)).text_body, 'I am away.')
  })
})

test('while the operator disables the feature no response is sent, whatever the settings', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'mailstead-vacation-'))
  const env = { ALLOW_PRIVATE_SMTP_HOSTS: 'true', DIRECT_PORT: String(remote.port) }
  const count = 'SELECT count(*) AS count FROM vacation_senders'
  const box = await (async () => {
    await using first = await startAppliance({ clock, zone, env, dataDir })
    const shop = await first.team()
    await shop.domain('gated.test')
    const carl = await shop.mailbox('carl@gated.test')
    data(await first.call('PUT', path, carl.key, { is_enabled: true, text_body: 'I am away.' }))
    return carl
  })()
  for (const [gated, answered] of [
    ['vacation_response', 0],
    ['', 1],
  ] as const) {
    await using second = await startAppliance({ clock, zone, env: { ...env, MAILBOX_GATED: gated }, dataDir })
    const content = `From: <${BOB}>\r\nTo: ${box.email}\r\nSubject: ${gated}\r\n\r\nHello\r\n`
    await receiveRaw(second, { from: BOB, to: box.email, content })
    await second.settle()
    assert.equal(second.app.db.read.get<{ count: number }>(count)!.count > 0, answered === 1)
  }
  assert.deepEqual(answers(), [BOB])
  await rm(dataDir, { recursive: true })
})
