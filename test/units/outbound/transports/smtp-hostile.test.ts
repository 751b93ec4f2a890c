// Servers that mean no good, or do not know better: everything ends, with a sentence and within bounds.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Handed, Handover } from '../../../../src/outbound/model/transport.ts'
import {
  CHUNK_MS,
  COMMAND_MS,
  CONNECT_MS,
  CONTENT_MS,
  ENVELOPE_MS,
  GREETING_MS,
  TLS_MS,
} from '../../../../src/outbound/transports/smtp/limits.ts'
import { LINE_MAX, LINES_MAX, ReplyReader, TEXT_MAX } from '../../../../src/outbound/transports/smtp/reply.ts'
import { carrierConfig, handover, MAIL, openAccount, shortOutcomes, turns, wordsOf } from '../../../support/carriers.ts'
import { ManualClock } from '../../../support/clock.ts'
import { zoneResolver } from '../../../support/dns.ts'
import {
  type Answer,
  type ScriptPeer,
  type ScriptServer,
  startDeafServer,
  startScript,
} from '../../../support/mail-server.ts'

const HOST = 'smtp.relay.test'

async function hand(script: (peer: ScriptPeer) => Promise<void>, given: Partial<Handover> = {}): Promise<Handed> {
  await using server = await startScript(script)
  const account = openAccount({ smtpPort: server.port })
  const handed = await account.hand(handover(given))
  await account.close()
  return handed
}

/** Hands a mail over and moves the clock once the server has got so far. */
async function wait(
  script: (peer: ScriptPeer) => Promise<void>,
  until: (server: ScriptServer) => Promise<void>,
  ms: number,
  given: { mail?: Partial<Handover>; protocol?: 'none' | 'ssl' } = {},
): Promise<Handed> {
  const clock = new ManualClock()
  await using server = await startScript(script)
  const account = openAccount({ smtpPort: server.port, smtpProtocol: given.protocol ?? 'none' }, { clock })
  const handing = account.hand(handover(given.mail))
  await until(server)
  await turns()
  clock.advance(ms - 1)
  await turns()
  let over = false
  void handing.then(() => (over = true))
  await turns()
  assert.equal(over, false, `not before ${ms} ms`)
  clock.advance(1)
  return handing
}

const silent: Answer = null

test('what is no SMTP', async () => {
  for (const words of [
    'HTTP/1.1 400 Bad Request\r\n',
    'SSH-2.0-OpenSSH_9.2\r\n',
    '\0\0\0\r\n',
    '99 hello\r\n',
    '600 x\r\n',
    '\r\n',
  ]) {
    const handed = await hand(async (peer) => peer.write(words))
    assert.deepEqual(shortOutcomes(handed), ['unavailable greeting transient'])
    assert.equal(wordsOf(handed), `${HOST} sent something that is not an SMTP reply.`)
  }
})

test('a banner without end', async () => {
  for (const words of ['x'.repeat(LINE_MAX + 10), `220-${'x'.repeat(LINE_MAX)}\r\n`]) {
    const handed = await hand(async (peer) => peer.write(words))
    assert.equal(wordsOf(handed), `${HOST} sent a line that is too long.`)
  }
  const handed = await hand(async (peer) => peer.write('220-more\r\n'.repeat(LINES_MAX + 1)))
  assert.equal(wordsOf(handed), `${HOST} sent a reply with too many lines.`)
})

test('a reader keeps no more than its bounds, however the bytes come', () => {
  const byOnes = new ReplyReader()
  const found: number[] = []
  for (const byte of Buffer.from(`250-a\r\n250 ${'x'.repeat(3000)}\r\n354 b\n`)) {
    assert.equal(
      byOnes.push(Buffer.of(byte), ({ code }) => found.push(code)),
      null,
    )
  }
  assert.deepEqual(found, [250, 354])
  assert.equal(byOnes.isEmpty, true)
  const flood = new ReplyReader()
  let problem: string | null = null
  let bytes = 0
  for (; problem === null; bytes += 1000) problem = flood.push(Buffer.alloc(1000, 'x'), () => {})
  assert.ok(bytes <= LINE_MAX + 1000)
})

test('replies that contradict themselves', async () => {
  const handed = await hand((peer) => peer.talk({ EHLO: '250-mx.script.test\r\n550 PIPELINING' }))
  assert.equal(wordsOf(handed), `${HOST} sent one reply with two codes.`)
})

test('more replies than there were commands', async () => {
  const cases: Record<string, Answer>[] = [
    { EHLO: '250 mx.script.test\r\n250 Ok' },
    { MAIL: '250 Ok\r\n250 Ok' },
    { RCPT: '250 Ok\r\n250 Ok' },
    { '.': '250 Ok\r\n250 Ok' },
  ]
  for (const answers of cases) {
    const handed = await hand((peer) => peer.talk(answers))
    if ('.' in answers) assert.deepEqual(shortOutcomes(handed), ['sent'], 'it was said that it was taken')
    else
      assert.deepEqual(shortOutcomes(handed), [
        handed.kind === 'unavailable' ? `unavailable ${handed.stage} transient` : '',
      ])
  }
})

test('a message is never accepted before its content was sent', async () => {
  for (const EHLO of ['250-mx.script.test\r\n250 PIPELINING', '250 mx.script.test']) {
    const handed = await hand((peer) => peer.talk({ EHLO, DATA: '250 2.0.0 Ok: queued' }))
    assert.deepEqual(shortOutcomes(handed), ['unavailable data transient'])
    assert.equal(wordsOf(handed), `${HOST} accepted a message before its content was sent.`)
  }
})

test('a server that refuses the sender and requests the content', async () => {
  await using server = await startScript((peer) =>
    peer.talk({ EHLO: '250-mx.script.test\r\n250 PIPELINING', MAIL: '550 5.7.1 No', RCPT: '503 5.5.1 No' }),
  )
  const account = openAccount({ smtpPort: server.port })
  assert.deepEqual(shortOutcomes(await account.hand(handover())), ['unavailable sender transient'])
  // It is not spoken to any more.
  await server.left()
  await account.close()
})

test('every wait has its end', async () => {
  const connected = (server: ScriptServer) => server.connected()
  const said = (verb: string) => (server: ScriptServer) => server.until(verb)
  const cases: [Parameters<typeof wait>, string][] = [
    [[async () => {}, connected, TLS_MS, { protocol: 'ssl' }], 'unavailable tls network'],
    [[(peer) => peer.talk({}, null), connected, GREETING_MS], 'unavailable greeting network'],
    [[(peer) => peer.talk({ EHLO: silent }), said('EHLO'), COMMAND_MS], 'unavailable greeting network'],
    [[(peer) => peer.talk({ EHLO: '250 x', MAIL: silent }), said('MAIL'), COMMAND_MS], 'unavailable sender network'],
    [[(peer) => peer.talk({ EHLO: '250 x', RCPT: silent }), said('RCPT'), COMMAND_MS], 'unavailable recipient network'],
    [[(peer) => peer.talk({ DATA: silent }), said('DATA'), COMMAND_MS], 'unavailable data network'],
    [[(peer) => peer.talk({ '.': silent }), said('DATA'), CONTENT_MS], 'later network'],
  ]
  for (const [given, verdict] of cases) {
    const handed = await wait(...given)
    assert.deepEqual(shortOutcomes(handed), [verdict])
    assert.match(wordsOf(handed), /^smtp\.relay\.test did not answer within \d+ seconds, /)
  }
})

test('a host that takes no packets', async () => {
  await using unlisten = await startDeafServer()
  const clock = new ManualClock()
  const account = openAccount({ smtpPort: unlisten.port }, { clock })
  const handing = account.hand(handover())
  await turns(5)
  clock.advance(CONNECT_MS)
  const handed = await handing
  assert.deepEqual(shortOutcomes(handed), ['unavailable connect network'])
  assert.equal(wordsOf(handed), `${HOST} (127.0.0.1, port ${unlisten.port}) does not answer.`)
})

test('a host that refuses connections', async () => {
  const { port } = await startScript(async () => {}).then(async (server) => {
    await server[Symbol.asyncDispose]()
    return server
  })
  const handed = await openAccount({ smtpPort: port }).hand(handover())
  assert.deepEqual(shortOutcomes(handed), ['unavailable connect network'])
  assert.equal(wordsOf(handed), `${HOST} (127.0.0.1, port ${port}) refuses connections.`)
})

test('one reply too few', async () => {
  const EHLO = '250-mx.script.test\r\n250 PIPELINING'
  for (const [verb, stage] of [
    ['MAIL', 'recipient'],
    ['RCPT', 'recipient'],
  ] as const) {
    const handed = await hand((peer) => peer.talk({ EHLO, [verb]: silent }))
    assert.deepEqual(shortOutcomes(handed), [`unavailable ${stage} transient`])
    assert.equal(wordsOf(handed), `${HOST} requested content before it replied to all recipients.`)
  }
})

test('one octet at a time does not hold a reply up for ever', async () => {
  const clock = new ManualClock()
  await using server = await startScript(async (peer) => {
    peer.write('220 ')
    await peer.closed()
  })
  const account = openAccount({ smtpPort: server.port }, { clock })
  const handing = account.hand(handover())
  await server.connected()
  await turns()
  clock.advance(GREETING_MS)
  assert.deepEqual(shortOutcomes(await handing), ['unavailable greeting network'])
})

test('a server that uses up its time for every recipient is too slow in all', async () => {
  const clock = new ManualClock()
  const recipients = Array.from({ length: 50 }, (_, i) => `r${i}@out.test`)
  await using server = await startScript((peer) =>
    peer.talk({
      EHLO: '250 mx.script.test',
      RCPT: async () => {
        await turns(2)
        clock.advance(COMMAND_MS - 1)
        return '250 Ok'
      },
    }),
  )
  const account = openAccount({ smtpPort: server.port }, { clock })
  assert.deepEqual(shortOutcomes(await account.hand(handover({ recipients }))), ['unavailable recipient network'])
  const asked = server.heard.filter((line) => line.startsWith('RCPT')).length
  assert.equal(asked, Math.ceil(ENVELOPE_MS / (COMMAND_MS - 1)))
})

test('a server that stops reading during DATA', async () => {
  const clock = new ManualClock()
  const bytes = Buffer.concat([MAIL, Buffer.alloc(32_000_000, `${'x'.repeat(70)}\r\n`)])
  await using server = await startScript((peer) =>
    peer.talk({
      EHLO: '250 mx.script.test',
      DATA: async () => {
        peer.pause()
        peer.say('354 Go on')
        await turns(10)
        clock.advance(CHUNK_MS)
        await peer.closed()
        return null
      },
    }),
  )
  const account = openAccount({ smtpPort: server.port }, { clock })
  assert.deepEqual(shortOutcomes(await account.hand(handover({ bytes }))), ['unavailable data network'])
})

test('long and dirty replies become one clean line', async () => {
  const dirty = `550-5.1.1 \u001b[31mred\u0007 \t tab\r\n550-5.1.1 ${'y'.repeat(400)}\r\n550 5.1.1 end`
  const handed = await hand((peer) => peer.talk({ RCPT: dirty }))
  const words = wordsOf(handed)
  assert.ok(words.length <= TEXT_MAX)
  assert.match(words, /^550 5\.1\.1 \[31mred tab y+…$/)
})

test('a password that the server repeats is not stored', async () => {
  const password = 'correct horse battery'
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const said = `${password} ${base64(password)} ${base64(`\0ann\0${password}`)}`
  const EHLO = '250-mx.script.test\r\n250 AUTH PLAIN'
  const cases: Record<string, Answer>[] = [{ AUTH: `535 5.7.8 ${said}` }, { AUTH: '235 Ok', RCPT: `550 5.1.1 ${said}` }]
  for (const answers of cases) {
    await using server = await startScript((peer) => peer.talk({ EHLO, ...answers }))
    const account = openAccount({ smtpPort: server.port, smtpUsername: 'ann' }, { password })
    const words = wordsOf(await account.hand(handover()))
    assert.match(words, /^\d{3} 5\.\d\.\d \*\*\* \*\*\* \*\*\*$/)
    assert.equal((await account.check('eve@out.test')).message, words)
    await account.close()
  }
})

test('addresses inside are not connected to, whatever the name', async () => {
  await using server = await startScript((peer) => peer.talk())
  const config = carrierConfig({ ALLOW_PRIVATE_SMTP_HOSTS: 'false' })
  const resolver = zoneResolver({ [HOST]: { A: ['127.0.0.1'], AAAA: ['::1', '::ffff:10.0.0.1'] } })
  for (const smtpHost of [HOST, '127.0.0.1', '[::1]', '::ffff:127.0.0.1', 'localhost', 'a.localhost']) {
    const account = openAccount({ smtpPort: server.port, smtpHost }, { config, resolver })
    const handed = await account.hand(handover())
    assert.deepEqual(shortOutcomes(handed), ['unavailable dns dns'])
    assert.match(wordsOf(handed), / is in a private network, which is not allowed here\.$/)
  }
  assert.equal(server.connections, 0)
})

test('a shutdown ends the connection immediately', async () => {
  const closing = new AbortController()
  await using server = await startScript((peer) => peer.talk({ '.': silent }))
  const account = openAccount({ smtpPort: server.port })
  const handing = account.hand(handover({ signal: closing.signal }))
  await server.until('DATA')
  await turns()
  closing.abort()
  const handed = await handing
  assert.match(wordsOf(handed), /^The appliance was shutting down/)
  const again = await account.hand(handover({ signal: closing.signal }))
  assert.deepEqual(shortOutcomes(again), ['later transient'], 'nor is it a fault of the account')
  assert.equal(server.connections, 1)
})
