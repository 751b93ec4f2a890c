// The test of an account: how far it came, and one sentence about it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { CHECK_MS } from '../../../../src/outbound/transports/smtp/check.ts'
import { openAccount, turns } from '../../../support/carriers.ts'
import { ManualClock } from '../../../support/clock.ts'
import { zoneResolver } from '../../../support/dns.ts'
import { type Answer, certificateFor, startMailServer, startScript } from '../../../support/mail-server.ts'

const HOST = 'smtp.relay.test'
const EHLO = '250-mx.script.test\r\n250-PIPELINING\r\n250 AUTH LOGIN CRAM-MD5'

/** Tests an account that signs in at a server with these answers. */
async function check(answers: Record<string, Answer>, to: string | null = null) {
  await using server = await startScript((peer) => peer.talk({ EHLO, AUTH: '235 2.7.0 Ok', ...answers }))
  const account = openAccount({ smtpPort: server.port, smtpUsername: 'ann' }, { password: 'secret words' })
  const result = await account.check(to)
  await server.left()
  return { result, heard: server.heard, port: server.port }
}

test('a working account: over TLS, authenticated, with and without a test message', async () => {
  const pair = await certificateFor(HOST)
  setDefaultCACertificates([...getCACertificates('default'), pair.cert])
  await using server = await startMailServer({ ...pair })
  const given = { smtpPort: server.port, smtpProtocol: 'starttls', smtpUsername: 'ann' } as const
  const account = openAccount(given, { password: 'secret words' })
  assert.deepEqual(await account.check(null), {
    success: true,
    stage: 'auth',
    smtpCode: 235,
    message: `Signed in at ${HOST} (port ${server.port}) over TLSv1.3.`,
    verp: true,
  })
  assert.equal(server.messages.length, 0)
  assert.deepEqual(await account.check('eve@out.test'), {
    success: true,
    stage: 'data',
    smtpCode: 250,
    message: '250 2.0.0 Ok: queued as 1',
    verp: true,
  })
  const [mail] = server.messages
  assert.equal(mail!.from, 'ann@house.test')
  assert.deepEqual(mail!.to, ['eve@out.test'])
  assert.match(mail!.bytes.toString(), /^From: ann@house\.test\r\nTo: eve@out\.test\r\nSubject: \S/)
  await account.close()
})

test('an account without a password', async () => {
  await using server = await startScript((peer) => peer.talk())
  const account = openAccount({ smtpPort: server.port })
  assert.deepEqual(await account.check(null), {
    success: true,
    stage: 'greeting',
    smtpCode: 250,
    message: `${HOST} (port ${server.port}) answers without TLS.`,
    verp: true,
  })
})

test('each stage has its failure', async () => {
  const cases: [Record<string, Answer>, string, number | null][] = [
    [{ EHLO: '421 4.3.2 Not now' }, 'greeting', 421],
    [{ EHLO: '250 mx.script.test' }, 'auth', null],
    [{ AUTH: '535 5.7.8 Wrong password' }, 'auth', 535],
    [{ MAIL: '550 5.7.1 Not your address' }, 'sender', 550],
    [{ RCPT: '550 5.1.1 Nobody' }, 'recipient', 550],
    [{ DATA: '451 4.3.0 Later' }, 'data', 451],
    [{ '.': '554 5.6.0 Spam' }, 'data', 554],
  ]
  for (const [answers, stage, smtpCode] of cases) {
    const { result } = await check(answers, 'eve@out.test')
    const said = Object.values(answers)[0]
    const message = smtpCode === null ? `${HOST} offers no authentication on this port.` : said
    assert.deepEqual(result, { success: false, stage, smtpCode, message })
  }
})

test('the check offers the real envelope: a server that owns no such sender fails it, with and without a message', async () => {
  const refusal = '553 5.7.1 <ann@house.test>: Sender address rejected: not owned by user ann'
  for (const answers of [{ RCPT: refusal }, { MAIL: refusal }] as Record<string, Answer>[]) {
    for (const to of [null, 'eve@out.test']) {
      const { result, heard } = await check(answers, to)
      assert.deepEqual(result, { success: false, stage: 'sender', smtpCode: 553, message: refusal })
      assert.ok(!heard.includes('DATA'))
    }
  }
  // Greylisting, a full mailbox or an unknown one say nothing of the sender.
  for (const RCPT of ['450 4.7.1 Greylisted', '550 5.1.1 Nobody']) {
    const { result } = await check({ RCPT })
    assert.deepEqual([result.success, result.stage, result.verp], [true, 'auth', false])
  }
})

test('VERP is proven by the check alone: a server that takes only the own address, or hangs up, has not proven it', async () => {
  const taken = await check({})
  assert.equal(taken.result.verp, true)
  const senders = taken.heard.filter((line) => line.startsWith('MAIL FROM:'))
  assert.deepEqual(
    senders.map((line) => /^MAIL FROM:<(ann@house\.test|b\+[0-9a-z]{24}@bounce\.mx\.mailstead\.test)>/.test(line)),
    [true, true],
  )
  assert.ok(!taken.heard.includes('DATA'))
  const own = (line: string) => (line.includes('<b+') ? '550 5.7.1 Not your address' : '250 Ok')
  assert.deepEqual(
    [(await check({ MAIL: own })).result.success, (await check({ MAIL: own })).result.verp],
    [true, false],
  )
  const hangsUp: Answer = (line, peer) => {
    if (!line.includes('<b+')) return '250 Ok'
    peer.drop()
    return null
  }
  const { result } = await check({ MAIL: hangsUp }, 'eve@out.test')
  assert.deepEqual([result.success, result.stage, result.verp], [true, 'data', false])
})

test('a Return-Path that was set is the sender that is tried, and no other is', async () => {
  await using server = await startScript((peer) => peer.talk())
  const account = openAccount({ smtpPort: server.port, returnPath: 'bounces@house.test' })
  const result = await account.check('eve@out.test')
  assert.deepEqual([result.success, result.verp], [true, undefined])
  const senders = server.heard.filter((line) => line.startsWith('MAIL FROM:'))
  assert.deepEqual(new Set(senders.map((line) => line.split(' ')[1])), new Set(['FROM:<bounces@house.test>']))
})

test('names without an address and ports without a server', async () => {
  const gone = openAccount({ smtpPort: 25 }, { resolver: zoneResolver({}) })
  const absent = { success: false, stage: 'dns', smtpCode: null, message: `There is no host ${HOST}.` }
  assert.deepEqual(await gone.check(null), absent)
  const mute = openAccount({ smtpPort: 25 }, { resolver: zoneResolver({ [HOST]: { error: 'servfail' } }) })
  const unknown = { success: false, stage: 'dns', smtpCode: null, message: `DNS does not answer for ${HOST}.` }
  assert.deepEqual(await mute.check(null), unknown)
})

test('the next address of a host is tried where one does not answer', async () => {
  await using server = await startScript((peer) => peer.talk(), '127.0.0.2')
  const resolver = zoneResolver({ [HOST]: { A: ['127.0.0.1', '127.0.0.2'], AAAA: ['::1'] } })
  const account = openAccount({ smtpPort: server.port }, { resolver })
  assert.equal((await account.check(null)).success, true)
})

test('it is over after fifteen seconds, wherever it stands', async () => {
  for (const [answers, until] of [
    [{ EHLO: null }, 'EHLO'],
    [{ AUTH: null }, 'AUTH'],
    [{ '.': null }, 'DATA'],
  ] as [Record<string, Answer>, string][]) {
    const clock = new ManualClock()
    await using server = await startScript((peer) => peer.talk({ EHLO, AUTH: '235 Ok', ...answers }))
    const account = openAccount({ smtpPort: server.port, smtpUsername: 'ann' }, { clock, password: 'secret' })
    const checking = account.check('eve@out.test')
    await server.until(until)
    await turns()
    clock.advance(CHECK_MS)
    const result = await checking
    assert.equal(result.success, false)
    assert.equal(result.message, `${HOST} did not finish within 15 seconds.`)
    await server.left()
  }
})

test('the sender of a test message', async () => {
  await using server = await startScript((peer) => peer.talk({ EHLO, AUTH: '235 Ok' }))
  const nobody = openAccount({ smtpPort: server.port, fromEmail: null, smtpUsername: 'ann' }, { password: 'secret' })
  assert.deepEqual(await nobody.check('eve@out.test'), {
    success: false,
    stage: 'sender',
    smtpCode: null,
    message: 'The account has no from_email to send a test message from.',
  })
  const self = openAccount(
    { smtpPort: server.port, fromEmail: null, smtpUsername: 'ann@relay.test' },
    { password: 'x' },
  )
  assert.equal((await self.check('eve@out.test')).success, true)
  assert.ok(server.heard.some((line) => line.startsWith('MAIL FROM:<ann@relay.test>')))
})

test('every way to sign in, and the form of what is said', async () => {
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const user = 'ann@relay.test'
  const password = 'pâss wörd'
  const challenge = base64('<1896.697170952@postoffice.reston.mci.net>')
  const lines: string[] = []
  const converse =
    (...challenges: string[]): Answer =>
    async (line, peer) => {
      lines.push(line)
      for (const words of challenges) {
        peer.say(`334 ${words}`)
        lines.push((await peer.hear())!)
      }
      return '235 2.7.0 Ok'
    }
  const sign = async (offered: string, AUTH: Answer) => {
    lines.length = 0
    await using server = await startScript((peer) => peer.talk({ EHLO: `250-x\r\n250 ${offered}`, AUTH }))
    const account = openAccount({ smtpPort: server.port, smtpUsername: user }, { password })
    assert.equal((await account.check(null)).success, true)
    return [...lines]
  }
  const secret = base64(`\0${user}\0${password}`)
  assert.deepEqual(await sign('AUTH PLAIN LOGIN', converse()), [`AUTH PLAIN ${secret}`])
  assert.deepEqual(await sign('AUTH PLAIN', converse('')), [`AUTH PLAIN ${secret}`, secret])
  const login = ['AUTH LOGIN', base64(user), base64(password)]
  assert.deepEqual(await sign('AUTH=LOGIN', converse('VXNlcm5hbWU6', 'UGFzc3dvcmQ6')), login)
  // In clear the way that does not tell the password comes first.
  const [command, answer] = await sign('AUTH PLAIN LOGIN CRAM-MD5', converse(challenge))
  assert.equal(command, 'AUTH CRAM-MD5')
  assert.match(Buffer.from(answer!, 'base64').toString(), /^ann@relay\.test [0-9a-f]{32}$/)
})

test('the example of RFC 2195', async () => {
  let answer = ''
  await using server = await startScript((peer) =>
    peer.talk({
      EHLO: '250-x\r\n250 AUTH CRAM-MD5',
      AUTH: async () => {
        peer.say('334 PDE4OTYuNjk3MTcwOTUyQHBvc3RvZmZpY2UucmVzdG9uLm1jaS5uZXQ+')
        answer = (await peer.hear())!
        return '235 Ok'
      },
    }),
  )
  const account = openAccount({ smtpPort: server.port, smtpUsername: 'tim' }, { password: 'tanstaaftanstaaf' })
  await account.check(null)
  assert.equal(answer, 'dGltIGI5MTNhNjAyYzdlZGE3YTQ5NWI0ZTZlNzMzNGQzODkw')
})
