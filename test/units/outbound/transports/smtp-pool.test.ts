// Connections that are kept: how many, how long, and what happens when the server ends an idle one.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { IDLE_MS, LIMITED_MS, MESSAGES_MAX } from '../../../../src/outbound/transports/smtp/pool.ts'
import { CONNECTIONS_MAX } from '../../../../src/outbound/transports/smtp/smtp.ts'
import { handover, openAccount, shortOutcomes, turns, wordsOf } from '../../../support/carriers.ts'
import { ManualClock } from '../../../support/clock.ts'
import { type ScriptPeer, startMailServer, startScript } from '../../../support/mail-server.ts'

const EHLO = '250-mx.script.test\r\n250 PIPELINING'

test('consecutive messages share a connection, concurrent ones a limited number', async () => {
  await using server = await startMailServer()
  const account = openAccount({ smtpPort: server.port })
  for (let i = 0; i < 3; i++) assert.deepEqual(shortOutcomes(await account.hand(handover())), ['sent'])
  assert.equal(server.connections, 1)
  const many = await Promise.all(Array.from({ length: 50 }, () => account.hand(handover())))
  assert.ok(many.every((handed) => shortOutcomes(handed)[0] === 'sent'))
  assert.equal(server.messages.length, 53)
  assert.equal(server.connections, CONNECTIONS_MAX)
  await account.close()
})

test('an idle connection is closed with QUIT after a while', async () => {
  const clock = new ManualClock()
  await using server = await startScript((peer) => peer.talk({ EHLO }))
  const account = openAccount({ smtpPort: server.port }, { clock })
  await account.hand(handover())
  clock.advance(IDLE_MS - 1)
  await account.hand(handover())
  assert.equal(server.connections, 1)
  clock.advance(IDLE_MS)
  await server.left()
  assert.equal(server.heard.at(-1), 'QUIT')
  await account.hand(handover())
  assert.equal(server.connections, 2)
  await account.close()
})

test('the number of messages per connection is limited', async () => {
  await using server = await startScript((peer) => peer.talk({ EHLO }))
  const account = openAccount({ smtpPort: server.port })
  for (let i = 0; i < MESSAGES_MAX; i++) await account.hand(handover())
  assert.equal(server.connections, 1)
  await account.hand(handover())
  assert.equal(server.connections, 2)
  await account.close()
})

test('a server that closed idle connections is no failure', async () => {
  const peers: ScriptPeer[] = []
  await using server = await startScript((peer) => {
    peers.push(peer)
    return peer.talk({ EHLO })
  })
  const account = openAccount({ smtpPort: server.port })
  const endings: ((peer: ScriptPeer) => void)[] = [
    (peer) => peer.drop(),
    (peer) => peer.end(),
    (peer) => peer.say('421 4.4.2 Idle for too long'),
    (peer) => peer.say('250 Ok for nothing'),
  ]
  for (const end of endings) {
    assert.deepEqual(shortOutcomes(await account.hand(handover())), ['sent'])
    end(peers.at(-1)!)
    await turns()
  }
  assert.deepEqual(shortOutcomes(await account.hand(handover())), ['sent'])
  assert.equal(server.connections, endings.length + 1)
  await account.close()
})

test('a server that ends a kept connection just when it is used is no failure either', async () => {
  for (const words of [null, '421 4.4.2 Idle for too long', '452 4.5.3 Too many messages over this connection']) {
    await using server = await startScript(async (peer, connection) => {
      let mails = 0
      await peer.talk({
        EHLO,
        MAIL: () => {
          if (connection > 3 || mails++ === 0) return '250 Ok'
          if (words === null) peer.drop()
          return words
        },
      })
    })
    const account = openAccount({ smtpPort: server.port })
    // Three at once make three connections, all of which go stale.
    const first = await Promise.all([1, 2, 3].map(() => account.hand(handover())))
    assert.deepEqual(first.map(shortOutcomes), [['sent'], ['sent'], ['sent']])
    assert.deepEqual(shortOutcomes(await account.hand(handover())), ['sent'], String(words))
    assert.equal(server.connections, 4)
    await account.close()
  }
})

test('a new connection that fails is a failure', async () => {
  await using server = await startScript((peer) => peer.talk({ EHLO, MAIL: '421 4.3.2 Going down' }))
  const account = openAccount({ smtpPort: server.port })
  assert.deepEqual(shortOutcomes(await account.hand(handover())), ['unavailable sender transient'])
  assert.equal(server.connections, 1)
  await account.close()
})

test('a server that refuses more connections gets no more, and no message fails', async () => {
  const clock = new ManualClock()
  let open = 0
  let refused = 0
  await using server = await startScript(async (peer) => {
    if (open >= 3) {
      refused++
      peer.say('421 4.7.0 Too many concurrent connections')
      return peer.end()
    }
    open++
    await peer.talk({ EHLO })
    open--
  })
  const account = openAccount({ smtpPort: server.port }, { clock })
  const send = async (count: number) => {
    const handed = await Promise.all(Array.from({ length: count }, () => account.hand(handover())))
    assert.deepEqual(new Set(handed.flatMap(shortOutcomes)), new Set(['sent']))
  }
  await send(30)
  const before = refused
  assert.ok(before > 0 && before <= CONNECTIONS_MAX)
  await send(30)
  assert.equal(refused, before, 'it is taken at its word')
  clock.advance(LIMITED_MS)
  await server.left()
  await send(30)
  assert.ok(refused > before, 'but not for ever')
  await account.close()
})

test('when no connection can be opened, every message gets the failure', async () => {
  await using server = await startScript(async (peer) => {
    peer.say('421 4.7.0 Too many concurrent connections')
    peer.end()
  })
  const account = openAccount({ smtpPort: server.port })
  const handed = await Promise.all(Array.from({ length: 30 }, () => account.hand(handover())))
  for (const one of handed) assert.deepEqual(shortOutcomes(one), ['unavailable greeting throttled'])
  await account.close()
})

test('waiting for a connection ends at the shutdown', async () => {
  const closing = new AbortController()
  await using server = await startScript((peer) => peer.talk({ EHLO: '250 mx.script.test', MAIL: null }))
  const account = openAccount({ smtpPort: server.port })
  const handing = Array.from({ length: CONNECTIONS_MAX + 5 }, () => account.hand(handover({ signal: closing.signal })))
  await server.until('MAIL', CONNECTIONS_MAX)
  closing.abort()
  const handed = await Promise.all(handing)
  assert.ok(handed.every((one) => wordsOf(one).startsWith('The appliance was shutting down')))
  await server.left()
})

test('closing ends idle connections, lets transactions finish, and keeps no connection afterwards', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  await using server = await startScript((peer, connection) =>
    peer.talk({
      EHLO,
      '.': async () => {
        if (connection === 2) await promise
        return '250 2.0.0 Ok'
      },
    }),
  )
  const account = openAccount({ smtpPort: server.port })
  const both = [account.hand(handover()), account.hand(handover())]
  assert.deepEqual(shortOutcomes((await Promise.race(both))!), ['sent'])
  await account.close()
  assert.equal(server.open, 1)
  resolve()
  for (const one of both) assert.deepEqual(shortOutcomes(await one), ['sent'])
  await server.left()
})
