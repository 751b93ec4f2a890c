// Batches over the API: each message independently, the request as a whole, and repetitions.

import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { DeliveryLogJson } from '../../src/api/schemas/delivery-log.ts'
import type { DomainJson } from '../../src/api/schemas/domain.ts'
import type { Message } from '../../src/api/schemas/message.ts'
import type { MessageSummaryJson } from '../../src/api/schemas/message-summary.ts'
import { BATCH_MAX } from '../../src/api/sending/batch-body.ts'
import { OutgoingMessage } from '../../src/api/sending/outgoing-message.ts'
import { type Reply, startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { data, type Failure, failure, issues, walk } from './expect.ts'
import { wrongObjects } from './samples.ts'

interface Results {
  results: { index: number; message_id: string | null; status: string; error?: Failure }[]
  summary: { total: number; queued: number; failed: number }
}

const clock = new ManualClock(Date.UTC(2030, 0, 2, 3, 4, 5))
// A shared account without a server: nothing is ever delivered here.
const ses = { SES_ACCESS_KEY_ID: 'AKIA', SES_SECRET_ACCESS_KEY: 'x', SES_ENDPOINT: 'http://127.0.0.1:9' }
const appliance = await startAppliance({ clock, env: ses })
after(() => appliance.close())
const team = await appliance.team()
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')
const ben = await team.mailbox('ben@shop.test')

const news = { email: 'news@shop.test', name: 'Shop' }
const PATH = `${appliance.sendOrigin}/api/v1/emails/send/batch`

/** A message that may be sent, with what is given on top. */
function message(more: Record<string, unknown> = {}): Record<string, unknown> {
  return { from: news, to: { email: ben.email }, subject: 'Hello', text_body: 'Hello Ben', ...more }
}

const post = (body: unknown, key: string | null = team.key, headers: Record<string, string> = {}): Promise<Reply> =>
  appliance.call('POST', PATH, key, body, headers)
const send = async (...messages: unknown[]) => data<Results>(await post({ messages }))
const logOf = (id: string) => walk<DeliveryLogJson>(appliance, `/emails/logs?message_id=${id}`, team.key)

/** What is wrong with one message. */
async function wrong(given: unknown): Promise<Failure> {
  const { results, summary } = await send(given)
  assert.deepEqual(summary, { total: 1, queued: 0, failed: 1 })
  const { error, ...rest } = results[0]!
  assert.deepEqual(rest, { index: 0, message_id: null, status: 'failed' }, JSON.stringify(given).slice(0, 200))
  return error!
}

async function keyWith(mailboxId: string, permissions: string[]): Promise<string> {
  const made = await appliance.call('POST', `/mailboxes/${mailboxId}/api-keys`, team.key, { name: 'x', permissions })
  return data<{ key: string }>(made, 201).key
}

describe('a batch', () => {
  test('has a result for each message, in order, and a log row for every recipient of queued ones', async () => {
    const { results, summary } = await send(
      message({ cc: [{ email: 'ana@shop.test', name: 'Ana' }] }),
      message({ to: { email: 'no address' } }),
      message({ subject: 7 }),
      'not a message',
      message({ bcc: [{ email: 'BEN@shop.test' }] }),
    )
    assert.deepEqual(summary, { total: 5, queued: 2, failed: 3 })
    assert.deepEqual(
      results.map(({ index, status, error }) => [index, status, error?.param]),
      [
        [0, 'queued', undefined],
        [1, 'failed', 'to.email'],
        [2, 'failed', 'subject'],
        [3, 'failed', 'message'],
        [4, 'queued', undefined],
      ],
    )
    for (const { message_id: id, status } of results) {
      if (status === 'queued') assert.match(id!, /^eml_[a-z0-9]{24}$/)
      else assert.equal(id, null)
    }
    await appliance.settle()
    const rows = await logOf(results[0]!.message_id!)
    assert.deepEqual(rows.map(({ to_email }) => to_email).sort(), ['ana@shop.test', 'ben@shop.test'])
    assert.ok(rows.every(({ status, from_email }) => status === 'sent' && from_email === news.email))
    // An address that is named twice gets one mail.
    assert.equal((await logOf(results[4]!.message_id!)).length, 1)
  })

  test('is delivered as composed', async () => {
    const { results } = await send(
      message({
        to: { email: ben.email, name: 'Ben, Größe 10' },
        subject: 'Grüße ✉',
        html_body: '<p>Hello <b>Ben</b></p>',
        text_body: undefined,
        custom_headers: {
          'X-Campaign': 'may',
          'Reply-To': 'desk@shop.test',
          'List-Unsubscribe': '<https://shop.test/u>',
        },
        attachments: [{ filename: 'a.txt', content: Buffer.from('file').toString('base64') }],
      }),
    )
    await appliance.settle()
    const [summary] = data<MessageSummaryJson[]>(
      await appliance.get('/mailbox/messages?q=subject:Gr%C3%BC%C3%9Fe', ben.key),
    )
    const path = `/mailbox/messages/${summary!.id}?include=headers,text_body,html_body,attachments`
    const got = data<Message>(await appliance.get(path, ben.key))
    assert.deepEqual([got.from, got.to], [news, [{ email: ben.email, name: 'Ben, Größe 10' }]])
    assert.equal(got.internet_message_id, `${results[0]!.message_id}@shop.test`)
    assert.deepEqual([got.html_body?.trim(), got.text_body?.trim()], ['<p>Hello <b>Ben</b></p>', 'Hello Ben'])
    assert.deepEqual(got.reply_to, [{ email: 'desk@shop.test', name: '' }])
    assert.deepEqual(
      got.attachments!.map(({ filename, content_type, size_bytes }) => [filename, content_type, size_bytes]),
      [['a.txt', 'text/plain', 4]],
    )
    const headers = new Map(got.headers!.map(({ name, value }) => [name, value]))
    assert.deepEqual([headers.get('X-Campaign'), headers.get('List-Unsubscribe')], ['may', '<https://shop.test/u>'])
  })

  test('accepts one to a hundred messages', async () => {
    const { summary } = await send(...Array.from({ length: BATCH_MAX }, (_, i) => message({ subject: `No ${i}` })))
    assert.deepEqual(summary, { total: BATCH_MAX, queued: BATCH_MAX, failed: 0 })
    await appliance.settle()
    issues(await post({ messages: [] }), 422, 'validation_error', ['messages too_small'])
    const many = Array(BATCH_MAX + 1).fill(message())
    issues(await post({ messages: many }), 422, 'validation_error', ['messages too_big'])
  })
})

describe('the request as a whole', () => {
  test('is rejected for its own errors, not for those of a message', async () => {
    issues(await post({}), 400, 'missing_parameter', ['messages required'])
    issues(await post({ messages: {} }), 422, 'validation_error', ['messages invalid_type'])
    issues(await post({ messages: [message()], more: 1 }), 422, 'validation_error', ['more unknown_field'])
    failure(await post('{'), 400, 'invalid_parameter')
    failure(await post('[]'), 400, 'invalid_parameter')
    failure(await post('{}', team.key, { 'content-type': 'text/plain' }), 415, 'unsupported_media_type')
    failure(await post(`{"messages":["${'x'.repeat(64 * 1_048_576)}"]}`), 413, 'payload_too_large')
  })

  test('needs a credential that can send', async () => {
    failure(await post({ messages: [message()] }, null), 401, 'authentication_required')
    const reader = await keyWith(ana.id, ['mailbox.read'])
    assert.match(
      failure(await post({ messages: [message()] }, reader), 403, 'insufficient_permissions').message,
      /email\.send/,
    )
  })

  test('is served by both origins; that of the Sending API documents it and nothing else', async () => {
    const atApp = await appliance.call('POST', '/emails/send/batch', team.key, { messages: [] })
    failure(atApp, 422, 'validation_error')
    failure(await appliance.get(`${appliance.sendOrigin}/api/v1/mailboxes`, team.key), 404, 'not_found')
    const { body } = await appliance.get(`${appliance.sendOrigin}/api/v1/openapi.json`)
    assert.deepEqual(Object.keys(body.paths['/emails/send/batch']), ['post'])
    assert.ok(!('/mailboxes' in body.paths))
  })
})

describe('an invalid message', () => {
  test('violates its schema, and is reported by member', async () => {
    const wrongs = wrongObjects(OutgoingMessage).filter(({ below }) => below !== undefined)
    for (let from = 0; from < wrongs.length; from += BATCH_MAX) {
      const part = wrongs.slice(from, from + BATCH_MAX)
      const { results } = await send(...part.map(({ value }) => value))
      for (const [index, { what, code, below }] of part.entries()) {
        const { error } = results[index]!
        const found = error?.errors?.map((issue) => `${issue.field} ${issue.code}`) ?? []
        assert.ok(found.includes(`${below} ${code}`), `${what}: ${below} ${code}, got ${found.join(', ')}`)
        assert.equal(error!.param, error!.errors![0]!.field)
        assert.equal(error!.doc_url, `${appliance.origin}/docs/errors#${error!.code}`)
        assert.equal(error!.retryable, false)
      }
    }
  })

  test('violates a rule no schema can express', async () => {
    const file = (filename: string, content = 'AAAA') => ({ attachments: [{ filename, content }] })
    const crowd = (count: number) => Array.from({ length: count }, (_, i) => ({ email: `u${i}@shop.test` }))
    const cases: [more: Record<string, unknown>, code: string, issue: string | undefined][] = [
      [{ text_body: undefined }, 'missing_parameter', 'html_body required'],
      [{ text_body: '' }, 'missing_parameter', 'html_body required'],
      [{ from: undefined }, 'missing_parameter', 'from required'],
      [{ to: { email: 'a@b.test, c@d.test' } }, 'validation_error', 'to.email invalid_format'],
      [{ to: { email: 'b@b.test>\r\nRCPT TO:<z@z.test' } }, 'validation_error', 'to.email invalid_format'],
      [{ to: { email: ben.email, name: 'Ben\r\nBcc: eve@else.test' } }, 'validation_error', 'to.name invalid_format'],
      [{ cc: [{ email: 'x' }] }, 'validation_error', 'cc.0.email invalid_format'],
      [{ cc: crowd(50), bcc: [{ email: 'one@more.test' }] }, 'validation_error', 'to too_big'],
      [{ custom_headers: { Bcc: 'eve@else.test' } }, 'validation_error', 'custom_headers.Bcc forbidden_value'],
      [{ custom_headers: { 'X-A\r\nBcc': 'x' } }, 'validation_error', 'custom_headers invalid_format'],
      [{ return_path: 'a@stranger.test' }, 'validation_error', 'return_path unverified_domain'],
      [{ return_path: 'nobody' }, 'validation_error', 'return_path invalid_format'],
      [file('a.exe'), 'validation_error', 'attachments.0.filename forbidden_value'],
      [file('../a.txt'), 'validation_error', 'attachments.0.filename invalid_format'],
      [file('a.txt', 'no base64!'), 'validation_error', 'attachments.0.content invalid_format'],
    ]
    const { results } = await send(...cases.map(([more]) => message(more)))
    for (const [index, [more, code, issue]] of cases.entries()) {
      const { error } = results[index]!
      const [first] = error?.errors ?? []
      const found = first && `${first.field} ${first.code}`
      assert.deepEqual([error?.code, found], [code, issue], JSON.stringify(more))
    }
  })

  test('is too large: its attachments together, or all of it', async () => {
    const file = (mib: number, name: string) => ({
      filename: name,
      content: Buffer.alloc(mib * 1_048_576, name).toString('base64'),
    })
    const attachments = [file(13, 'a.bin.zip'), file(13, 'b.zip')]
    assert.deepEqual(
      [(await wrong(message({ attachments }))).code, (await wrong(message({ attachments }))).param],
      ['payload_too_large', 'attachments'],
    )
    // A file that just fits alone, and texts that do.
    const raw = await wrong(
      message({
        attachments: [file(25, 'c.zip')],
        text_body: 'x'.repeat(4_000_000),
        html_body: 'x'.repeat(4_000_000),
      }),
    )
    assert.equal(raw.code, 'payload_too_large')
  })
})

describe('the sender', () => {
  test('is a default of the team’s accounts for a root key without from', async () => {
    const other = await appliance.team('Other')
    const provider = data<{ id: string }>(
      await appliance.call('POST', '/providers', other.key, {
        ...{ name: 'Relay', smtp_host: 'relay.example', smtp_port: 587, smtp_protocol: 'starttls' },
        ...{ smtp_username: 'u', smtp_password: 'p', from_email: 'desk@relay.example', from_name: 'Desk' },
      }),
      201,
    )
    const request = { messages: [message({ from: undefined })] }
    const before = data<Results>(await post(request, other.key)).results[0]!
    assert.deepEqual([before.error?.code, before.error?.param], ['missing_parameter', 'from'])
    const row = appliance.app.outbound.accounts.providers.get(other.id, provider.id)
    await appliance.app.db.write((tx) => tx.run("UPDATE providers SET status = 'active' WHERE n = ?", [row!.n]))
    const [queued] = data<Results>(await post(request, other.key)).results
    const [logged] = await walk<DeliveryLogJson>(appliance, `/emails/logs?message_id=${queued!.message_id}`, other.key)
    assert.equal(logged!.from_email, 'desk@relay.example')
  })

  test('is one of the identities of a mailbox, with a copy in Sent', async () => {
    const spring = { email: 'ana+spring@shop.test' }
    data(await appliance.call('POST', '/mailbox/identities', ana.key, spring), 201)
    const messages = [
      message({ from: undefined, subject: 'As myself', bcc: [{ email: 'eve@shop.test' }] }),
      message({ from: { email: 'Ana+spring@Shop.test', name: 'Ana in spring' }, subject: 'With a tag' }),
      message({ from: news, subject: 'As another' }),
    ]
    const { results } = data<Results>(await post({ messages }, ana.key))
    assert.deepEqual(
      results.map(({ status, error }) => error?.errors?.[0]?.code ?? status),
      ['queued', 'queued', 'forbidden_value'],
    )
    assert.equal(results[2]!.error!.param, 'from.email')
    await appliance.settle()
    const sent = await walk<MessageSummaryJson>(appliance, '/mailbox/messages?q=in:sent', ana.key)
    assert.deepEqual(
      sent.map(({ subject, from, bcc }) => [subject, from.email, bcc.length]),
      [
        ['With a tag', 'ana+spring@shop.test', 0],
        ['As myself', 'ana@shop.test', 1],
      ],
    )
  })

  test('must belong to the team: otherwise the message is not accepted', async () => {
    const error = await wrong(message({ from: { email: 'ceo@bank.test' } }))
    assert.deepEqual(
      [error.code, error.param, error.errors![0]!.code],
      ['validation_error', 'from.email', 'unverified_domain'],
    )
    assert.match(error.message, /^The domain bank\.test is not one of the team\./)
  })

  test('must be at a verified domain, or an account of the team may send for it', async () => {
    const other = await appliance.team('Pending')
    const domain = data<DomainJson>(
      await appliance.call('POST', '/domains', other.key, { domain: 'pending.example.com' }),
      201,
    )
    const { name, value } = domain.dns_records.verification
    const from = { email: 'news@Pending.example.com' }
    const [refused] = data<Results>(await post({ messages: [message({ from })] }, other.key)).results
    assert.equal(refused!.status, 'failed')
    assert.match(refused!.error!.message, /^The domain pending\.example\.com is not verified\./)
    assert.ok(refused!.error!.message.includes(name) && refused!.error!.message.includes(value))
    assert.deepEqual(await walk(appliance, '/emails', other.key), [])
    const account = { name: 'Relay', smtp_host: 'relay.example', smtp_port: 587, smtp_protocol: 'starttls' }
    const login = { smtp_username: 'u', smtp_password: 'p', from_email: 'news@pending.example.com' }
    data(await appliance.call('POST', '/providers', other.key, { ...account, ...login }), 201)
    const [queued] = data<Results>(await post({ messages: [message({ from })] }, other.key)).results
    assert.equal(queued!.status, 'queued')
  })

  test('cannot be a suspended or full mailbox', async () => {
    const box = await team.mailbox('late@shop.test')
    await appliance.app.directory.mailboxes.suspend(team.id, box.id)
    const request = { messages: [message({ from: undefined })] }
    const [suspended] = data<Results>(await post(request, box.key)).results
    assert.deepEqual([suspended!.error!.code, suspended!.error!.retryable], ['conflict', false])
    const small = await team.mailbox('small@shop.test', { quotaBytes: 10_485_760 })
    await appliance.app.db.write((tx) =>
      tx.run('UPDATE accounts SET used_bytes = ? WHERE mailbox_id = ?', [10_485_700, small.id]),
    )
    const [full] = data<Results>(await post(request, small.key)).results
    assert.equal(full!.error!.code, 'conflict')
    assert.match(full!.error!.message, /no room for the copy/)
  })
})

test('a suppressed recipient is rejected immediately, the others get the message', async () => {
  data(await appliance.call('POST', '/suppressions', team.key, { email: 'Gone@shop.test' }), 201)
  const { results } = await send(
    message({ cc: [{ email: 'GONE@shop.test' }] }),
    message({ to: { email: 'gone@shop.test' } }),
  )
  assert.deepEqual(
    results.map(({ status }) => status),
    ['queued', 'queued'],
  )
  const now = await logOf(results[1]!.message_id!)
  assert.equal(now[0]!.status, 'rejected')
  assert.match(now[0]!.status_reason!, /^suppressed: /)
  await appliance.settle()
  const rows = await logOf(results[0]!.message_id!)
  assert.deepEqual(rows.map(({ to_email, status }) => `${to_email} ${status}`).sort(), [
    'GONE@shop.test rejected',
    'ben@shop.test sent',
  ])
  const events = appliance.app.db.read.all<{ body: string }>("SELECT body FROM events WHERE type = 'message.rejected'")
  const reported = events
    .map(({ body }) => JSON.parse(body).data)
    .filter(({ rejection }) => rejection.reason === 'suppressed')
  assert.deepEqual(reported.map(({ recipient }) => recipient).sort(), ['GONE@shop.test', 'gone@shop.test'])
})

test('a message only the shared account can send must be retried after its daily limit', async () => {
  const shared = await appliance.team('Shared')
  const domain = await shared.domain('shared.test')
  await appliance.app.db.write((tx) => tx.run("UPDATE domains SET ses_dkim_status = 'success' WHERE id = ?", [domain]))
  await appliance.app.outbound.accounts.sharedLimit.setDaily(shared.id, true, 0)
  const request = { messages: [message({ from: { email: 'news@shared.test' } })] }
  const reply = await post(request, shared.key, { 'idempotency-key': 'shared' })
  const { error } = data<Results>(reply).results[0]!
  assert.deepEqual([error!.code, error!.retryable], ['rate_limit_exceeded', true])
  // With another route it is accepted, by the same request too.
  await appliance.app.outbound.accounts.sharedLimit.setDaily(shared.id, false, null)
  const again = await post(request, shared.key, { 'idempotency-key': 'shared' })
  assert.equal(data<Results>(again).summary.queued, 1)
  await appliance.settle()
})

describe('repetitions', () => {
  const count = () => appliance.app.db.read.all('SELECT n FROM emails').length

  test('return the same response, failures included, and send nothing more', async () => {
    const body = { messages: [message({ subject: 'Once' }), message({ to: { email: 'x' } })] }
    const first = await post(body, team.key, { 'idempotency-key': 'once' })
    const before = count()
    const again = await post(body, team.key, { 'idempotency-key': 'once' })
    assert.deepEqual([again.status, again.headers.get('idempotent-replayed')], [200, 'true'])
    assert.deepEqual(again.body.data, first.body.data)
    assert.equal(count(), before)
    const other = await post({ messages: [message()] }, team.key, { 'idempotency-key': 'once' })
    failure(other, 409, 'idempotency_conflict')
    await appliance.settle()
  })

  test('fifty concurrent ones are one send', async () => {
    const before = count()
    const body = { messages: [message({ subject: 'Fifty' })] }
    const all = await Promise.all(
      Array.from({ length: 50 }, () => post(body, team.key, { 'idempotency-key': 'fifty' })),
    )
    assert.equal(count() - before, 1)
    const reported = all
      .filter(({ status }) => status === 200)
      .map(({ body: { data: given } }) => given.results[0].message_id)
    assert.equal(new Set(reported).size, 1)
    assert.ok(all.every(({ status }) => status === 200 || status === 409))
    await appliance.settle()
  })

  test('are executed again when nothing could be queued', async (t) => {
    const body = { messages: [message({ subject: 'Later' })] }
    const broken = t.mock.method(appliance.app.store.blobs, 'putAll', () =>
      Promise.reject(new Error('the disk is full')),
    )
    const first = data<Results>(await post(body, team.key, { 'idempotency-key': 'later' }))
    const { error } = first.results[0]!
    assert.deepEqual([error!.code, error!.retryable], ['service_unavailable', true])
    broken.mock.restore()
    const again = await post(body, team.key, { 'idempotency-key': 'later' })
    assert.equal(again.headers.has('idempotent-replayed'), false)
    assert.equal(data<Results>(again).summary.queued, 1)
    await appliance.settle()
  })

  test('after a crash between the commit and the response return the response', async (t) => {
    const body = { messages: [message({ subject: 'Crash' })] }
    const { submitter } = appliance.app.outbound.submit
    const submit = submitter.submit.bind(submitter)
    const committed = Promise.withResolvers<void>()
    const hanging = t.mock.method(submitter, 'submit', async (...given: Parameters<typeof submit>) => {
      await submit(...given)
      committed.resolve()
      return new Promise<never>(() => {})
    })
    const before = count()
    const leaving = new AbortController()
    const first = fetch(PATH, {
      method: 'POST',
      headers: { authorization: `Bearer ${team.key}`, 'content-type': 'application/json', 'idempotency-key': 'crash' },
      body: JSON.stringify(body),
      signal: leaving.signal,
    }).catch(() => null)
    await committed.promise
    leaving.abort()
    await first
    hanging.mock.restore()
    const again = await post(body, team.key, { 'idempotency-key': 'crash' })
    assert.deepEqual([again.status, again.headers.get('idempotent-replayed')], [200, 'true'])
    assert.equal(count() - before, 1)
    const [row] = await logOf(again.body.data.results[0].message_id)
    assert.equal(row!.subject, 'Crash')
    await appliance.settle()
  })
})
