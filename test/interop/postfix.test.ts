// Delivery to Postfix: smtp-sink with its failure modes, and a complete Postfix.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { systemClock } from '../../src/base/clock.ts'
import { openDirect } from '../../src/outbound/transports/direct/direct.ts'
import { carrierConfig, handover, MAIL, openAccount, shortOutcomes, wordsOf } from '../support/carriers.ts'
import { zoneResolver } from '../support/dns.ts'
import { eventually } from '../support/eventually.ts'
import { sinkMessages, startOwnershipPostfix, startPostfix, startSink } from '../support/postfix.ts'
import { missingProgram } from '../support/programs.ts'

const SINK = missingProgram('smtp-sink')
const IS_ROOT = process.getuid?.() === 0
const POSTFIX =
  missingProgram('postfix') ||
  missingProgram('id', ['postfix'], 'the user postfix') ||
  (IS_ROOT ? false : 'only root can run Postfix')

// With the fields that Postfix would add otherwise.
const FIELDS = Buffer.from('Message-ID: <long@house.test>\r\nDate: Thu, 01 Jan 2026 00:00:00 +0000\r\n')
const LONG = Buffer.concat([
  FIELDS,
  MAIL,
  Buffer.alloc(700_000, `.${'x'.repeat(60)}\r\n`),
  Buffer.from('\r\nGrüße\r\n'),
])
/** As it lies in a file. */
const LINES = LONG.toString('latin1').replaceAll('\r\n', '\n')

test('smtp-sink of Postfix receives messages byte for byte, with and without pipelining', {
  skip: SINK,
}, async () => {
  for (const options of [[], ['-p'], ['-p', '-E']]) {
    await using sink = await startSink(...options)
    const account = openAccount({ smtpPort: sink.port })
    for (const bytes of [MAIL, LONG]) assert.deepEqual(shortOutcomes(await account.hand(handover({ bytes }))), ['sent'])
    await account.close()
    const expected = [MAIL, LONG].map((bytes) => bytes.toString('latin1'))
    assert.deepEqual((await sinkMessages(sink.folder)).sort(), expected.sort())
  }
})

test('smtp-sink rejects, defers, hangs up, and each gets the right verdict', { skip: SINK }, async () => {
  const cases: [string[], string][] = [
    [['-f', 'CONNECT'], 'unavailable greeting'],
    [['-r', 'CONNECT'], 'unavailable greeting'],
    [['-f', 'MAIL'], 'unavailable sender'],
    [['-r', 'MAIL'], 'unavailable sender'],
    [['-f', 'RCPT'], 'never recipient'],
    [['-r', 'RCPT'], 'later transient'],
    [['-f', 'DATA'], 'never recipient'],
    [['-r', 'DATA'], 'later transient'],
    [['-f', '.'], 'never recipient'],
    [['-r', '.'], 'later transient'],
    [['-q', 'EHLO'], 'unavailable greeting'],
    [['-q', 'MAIL'], 'unavailable sender'],
    [['-q', 'RCPT'], 'unavailable recipient'],
    [['-q', 'DATA'], 'unavailable data'],
    [['-q', '.'], 'later network'],
    [['-Q', 'MAIL'], 'unavailable sender'],
    [['-Q', 'RCPT'], 'unavailable recipient'],
    // It knows no EHLO, or not even ESMTP.
    [['-f', 'EHLO'], 'sent'],
    [['-e'], 'sent'],
  ]
  for (const [options, verdict] of cases) {
    await using sink = await startSink(...options)
    const account = openAccount({ smtpPort: sink.port })
    const said = shortOutcomes(await account.hand(handover()))[0]!
    assert.ok(said.startsWith(verdict), `${options.join(' ')}: ${said}`)
    await account.close()
  }
})

test('a server without 8BITMIME gets no 8-bit content', { skip: SINK }, async () => {
  await using sink = await startSink('-8')
  const account = openAccount({ smtpPort: sink.port })
  assert.deepEqual(shortOutcomes(await account.hand(handover({ bytes: LONG }))), ['never content'])
  assert.deepEqual(shortOutcomes(await account.hand(handover())), ['sent'])
  await account.close()
})

test('Postfix accepts a message over verified STARTTLS and delivers it', { skip: POSTFIX }, async () => {
  await using postfix = await startPostfix()
  setDefaultCACertificates([...getCACertificates('default'), postfix.certificate])
  const resolver = zoneResolver({ 'mx.postfix.test': { A: ['127.0.0.1'] } })
  const given = { smtpHost: 'mx.postfix.test', smtpPort: postfix.port, smtpProtocol: 'starttls' } as const
  const account = openAccount(given, { resolver })
  const tried = await account.check(null)
  assert.equal(tried.message, `mx.postfix.test (port ${postfix.port}) answers over TLSv1.3.`)
  const recipients = ['bob@out.test', 'eve@out.test', 'max@elsewhere.test']
  const handed = await account.hand(handover({ bytes: LONG, recipients }))
  assert.deepEqual(shortOutcomes(handed), ['sent', 'never recipient', 'never recipient'])
  assert.ok(handed.kind === 'answered')
  assert.deepEqual(
    handed.verdicts.map(({ reply }) => reply.enhancedCode),
    ['2.0.0', '5.1.1', '5.7.1'],
  )
  assert.match(handed.verdicts[0]!.reply.text, /^250 2\.0\.0 Ok: queued as [0-9A-F]+$/)
  const large = await account.hand(handover({ bytes: Buffer.alloc(6_000_000, `${'x'.repeat(70)}\r\n`) }))
  assert.deepEqual(shortOutcomes(large), ['never content'])
  assert.equal(wordsOf(large), 'mx.postfix.test accepts messages of up to 5000000 bytes; this one has 6000000.')
  await account.close()
  const [mail] = await arrived(postfix.messages)
  const [trace, content] = [mail!.slice(0, -LINES.length), mail!.slice(-LINES.length)]
  assert.ok(content === LINES, 'nothing was added to it or left out')
  assert.match(trace, /^Return-Path: <b\+1@bounce\.house\.test>\n/)
  assert.match(trace, /\bwith ESMTPS id [0-9A-F]+\n\tfor <bob@out\.test>;/)
})

test('Postfix is found by MX and accepts mail for its domain', { skip: POSTFIX }, async () => {
  await using postfix = await startPostfix()
  const config = carrierConfig({ DIRECT_PORT: String(postfix.port) })
  const resolver = zoneResolver({
    'out.test': { MX: [{ priority: 10, exchange: 'mx.postfix.test' }] },
    'mx.postfix.test': { A: ['127.0.0.1'] },
  })
  const direct = openDirect({ clock: systemClock, config, resolver })
  const handed = await direct.hand(handover())
  assert.match(wordsOf(handed), /^250 2\.0\.0 Ok: queued as [0-9A-F]+ \(TLSv1\.3, certificate (?:not )?verified\)$/)
  await direct.close()
  assert.equal((await arrived(postfix.messages)).length, 1)
})

test("a Postfix that checks sender ownership accepts messages with the account's address, and the check detects it", {
  skip: POSTFIX,
}, async () => {
  await using postfix = await startOwnershipPostfix({ 'ann@house.test': 'ann', 'boss@house.test': 'boss' })
  const resolver = zoneResolver({ 'mx.postfix.test': { A: ['127.0.0.1'] } })
  const { port: smtpPort, user: smtpUsername, password } = postfix
  const given = { smtpHost: 'mx.postfix.test', smtpPort, smtpProtocol: 'none', smtpUsername } as const
  const account = openAccount(given, { resolver, password })
  for (const to of [null, 'bob@out.test']) {
    const { success, verp, message } = await account.check(to)
    assert.deepEqual([success, verp], [true, false], message)
  }
  // Postfix rejects such a sender only at RCPT, for any recipient.
  const recipients = ['bob@out.test', 'eve@out.test']
  assert.deepEqual(shortOutcomes(await account.hand(handover({ recipients }))), ['sent', 'never recipient'])
  await account.close()
  const mails = await arrived(postfix.messages, 2)
  for (const mail of mails) assert.match(mail, /^Return-Path: <ann@house\.test>\n/)

  const foreign = openAccount({ ...given, fromEmail: 'boss@house.test' }, { resolver, password })
  const refused = await foreign.check(null)
  assert.deepEqual([refused.success, refused.stage, refused.smtpCode], [false, 'sender', 553])
  assert.match(refused.message, /<boss@house\.test>: Sender address rejected: not owned by user ann/)
  const handed = await foreign.hand(handover({ recipients }))
  assert.deepEqual(shortOutcomes(handed), ['unavailable sender transient'])
  assert.match(wordsOf(handed), /Sender address rejected: not owned by user ann/)
  await foreign.close()
})

/** Its delivery takes a moment. */
function arrived(messages: () => Promise<string[]>, count = 1): Promise<string[]> {
  return eventually(messages, ({ length }) => length >= count)
}
