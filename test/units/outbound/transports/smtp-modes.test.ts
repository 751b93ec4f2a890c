// How a connection to an account is secured, and what happens where it cannot be.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import type { CertificatePair } from '../../../../src/config/certificate.ts'
import type { SmtpProtocol } from '../../../../src/outbound/model/records.ts'
import { handover, MAIL, openAccount, shortOutcomes, wordsOf } from '../../../support/carriers.ts'
import { zoneResolver } from '../../../support/dns.ts'
import { certificateFor, startMailServer, startScript } from '../../../support/mail-server.ts'

const HOST = 'smtp.relay.test'

let good: CertificatePair
let elsewhere: CertificatePair
let expired: CertificatePair
let stranger: CertificatePair

before(async () => {
  good = await certificateFor(HOST)
  elsewhere = await certificateFor('other.relay.test')
  expired = await certificateFor(HOST, { from: -3, until: -2 })
  stranger = await certificateFor(HOST)
  // As the setting EXTRA_CA_FILE does.
  setDefaultCACertificates([...getCACertificates('default'), good.cert, elsewhere.cert, expired.cert])
})
after(() => setDefaultCACertificates(getCACertificates('bundled')))

/** Hands one mail over. */
async function send(smtpProtocol: SmtpProtocol, smtpPort: number, user?: string) {
  const account = openAccount({ smtpPort, smtpProtocol, smtpUsername: user ?? null }, { password: 'correct horse' })
  try {
    return await account.hand(handover())
  } finally {
    await account.close()
  }
}

test('ssl: TLS from the first byte', async () => {
  await using server = await startMailServer({ secure: true, ...good })
  assert.deepEqual(shortOutcomes(await send('ssl', server.port)), ['sent'])
  assert.equal(server.messages[0]!.secure, true)
  assert.deepEqual(server.messages[0]!.bytes, MAIL)
})

test('starttls and tls (on another port than 465): STARTTLS', async () => {
  await using server = await startMailServer({ ...good })
  for (const protocol of ['starttls', 'tls'] as const) {
    assert.deepEqual(shortOutcomes(await send(protocol, server.port, 'ann')), ['sent'])
  }
  assert.deepEqual(
    server.messages.map(({ secure, user }) => ({ secure, user })),
    [
      { secure: true, user: 'ann' },
      { secure: true, user: 'ann' },
    ],
  )
})

test('none: in clear, even where STARTTLS is offered', async () => {
  await using server = await startMailServer({ ...good })
  assert.deepEqual(shortOutcomes(await send('none', server.port, 'ann')), ['sent'])
  assert.equal(server.messages[0]!.secure, false)
  assert.equal(server.messages[0]!.user, 'ann')
})

test('without STARTTLS nothing is said that a listener may not hear', async () => {
  await using server = await startScript((peer) => peer.talk({ EHLO: '250-mx.script.test\r\n250 AUTH PLAIN LOGIN' }))
  const handed = await send('starttls', server.port, 'ann')
  assert.deepEqual(shortOutcomes(handed), ['unavailable tls network'])
  assert.equal(wordsOf(handed), `${HOST} does not offer STARTTLS on this port.`)
  assert.ok(server.heard.every((line) => line.startsWith('EHLO')))
})

test('a server that refuses STARTTLS gets no password', async () => {
  const offer = '250-mx.script.test\r\n250-STARTTLS\r\n250 AUTH PLAIN'
  await using server = await startScript((peer) => peer.talk({ EHLO: offer, STARTTLS: '454 4.7.0 TLS not available' }))
  const handed = await send('tls', server.port, 'ann')
  assert.deepEqual(shortOutcomes(handed), ['unavailable tls transient'])
  assert.equal(wordsOf(handed), '454 4.7.0 TLS not available')
  assert.ok(!server.heard.some((line) => line.startsWith('AUTH')))
})

test('certificates that are not right end it before anything is said', async () => {
  const cases = [
    { pair: elsewhere, why: `The certificate of ${HOST} is for another name.` },
    { pair: expired, why: `The certificate of ${HOST} has expired.` },
    { pair: stranger, why: `The certificate of ${HOST} is signed by itself.` },
  ]
  for (const { pair, why } of cases) {
    for (const [protocol, secure] of [
      ['ssl', true],
      ['starttls', false],
    ] as const) {
      await using server = await startMailServer({ secure, ...pair })
      const handed = await send(protocol, server.port, 'ann')
      assert.deepEqual(shortOutcomes(handed), ['unavailable tls network'])
      assert.equal(wordsOf(handed), why)
      assert.equal(server.messages.length, 0)
    }
  }
})

test('a port that does not speak TLS is reported', async () => {
  await using server = await startMailServer()
  const handed = await send('ssl', server.port)
  assert.deepEqual(shortOutcomes(handed), ['unavailable tls network'])
  assert.equal(wordsOf(handed), `No TLS with ${HOST}: the server does not speak TLS on this port.`)
})

test('what comes in clear behind the consent to STARTTLS ends it', async () => {
  const offer = '250-mx.script.test\r\n250 STARTTLS'
  // A whole reply, one that is not complete yet, and a single octet.
  for (const behind of ['250-mx.script.test\r\n250 AUTH PLAIN\r\n', '250-x', '2']) {
    await using server = await startScript((peer) =>
      peer.talk({
        EHLO: offer,
        STARTTLS: (_line, { write }) => {
          write.call(peer, `220 Go\r\n${behind}`)
          return null
        },
      }),
    )
    const handed = await send('starttls', server.port, 'ann')
    assert.equal(handed.kind, 'unavailable')
    assert.match(wordsOf(handed), /cleartext after it had agreed to TLS|sent an unexpected reply/)
    assert.ok(!server.heard.some((line) => line.startsWith('AUTH')))
  }
})

test('what was offered in clear does not count inside TLS', async () => {
  await using server = await startScript((peer) =>
    peer.talk({
      EHLO: '250-mx.script.test\r\n250-STARTTLS\r\n250-AUTH PLAIN\r\n250 PIPELINING',
      STARTTLS: async () => {
        peer.say('220 Go')
        await peer.startTls(good)
        await peer.talk({ EHLO: '250 mx.script.test' }, null)
        return null
      },
    }),
  )
  const handed = await send('starttls', server.port, 'ann')
  assert.deepEqual(shortOutcomes(handed), ['unavailable auth transient'])
  assert.equal(wordsOf(handed), `${HOST} offers no authentication on this port.`)
})

test('the certificate is checked against the name of the account, the connection goes to the address that was looked up', async () => {
  await using server = await startMailServer({ secure: true, ...good })
  const resolver = zoneResolver({ [HOST]: { A: ['127.0.0.1'] } })
  const account = openAccount({ smtpPort: server.port, smtpProtocol: 'ssl' }, { resolver })
  assert.deepEqual(shortOutcomes(await account.hand(handover())), ['sent'])
  await account.close()
  assert.deepEqual(resolver.queries.map(({ type }) => type).sort(), ['A', 'AAAA'])
})
