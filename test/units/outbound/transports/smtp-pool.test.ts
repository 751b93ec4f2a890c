// Connections that are kept: how many, how long, and what happens when the server ends one that nobody uses.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CROWDED_MS, IDLE_MS, MAILS_MAX } from '../../../../src/outbound/transports/smtp/pool.ts'
import { CONNECTIONS_MAX } from '../../../../src/outbound/transports/smtp.ts'
import { handover, inShort, openAccount, turns, wordsOf } from '../../../support/carriers.ts'
import { ManualClock } from '../../../support/clock.ts'
import { type ScriptPeer, startMailServer, startScript } from '../../../support/mail-server.ts'

const EHLO = '250-mx.script.test\r\n250 PIPELINING'

test('mails in a row share a connection, mails at once share so many', async () => {
  await using server = await startMailServer()
  const account = openAccount({ smtpPort: server.port })
  for (let i = 0; i < 3; i++) assert.deepEqual(inShort(await account.hand(handover())), ['sent'])
  assert.equal(server.connections, 1)
  const many = await Promise.all(Array.from({ length: 50 }, () => account.hand(handover())))
  assert.ok(many.every((handed) => inShort(handed)[0] === 'sent'))
  assert.equal(server.mails.length, 53)
  assert.equal(server.connections, CONNECTIONS_MAX)
  await account.close()
})

test('a connection that nobody uses is closed after a while, with a goodbye', async () => {
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

test('a connection carries so many mails', async () => {
  await using server = await startScript((peer) => peer.talk({ EHLO }))
  const account = openAccount({ smtpPort: server.port })
  for (let i = 0; i < MAILS_MAX; i++) await account.hand(handover())
  assert.equal(server.connections, 1)
  await account.hand(handover())
  assert.equal(server.connections, 2)
  await account.close()
})

test('a server that ended kept connections is no failure', async () => {
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
    assert.deepEqual(inShort(await account.hand(handover())), ['sent'])
    end(peers.at(-1)!)
    await turns()
  }
  assert.deepEqual(inShort(await account.hand(handover())), ['sent'])
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
    assert.deepEqual(first.map(inShort), [['sent'], ['sent'], ['sent']])
    assert.deepEqual(inShort(await account.hand(handover())), ['sent'], String(words))
    assert.equal(server.connections, 4)
    await account.close()
  }
})

test('a new connection that fails is a failure', async () => {
  await using server = await startScript((peer) => peer.talk({ EHLO, MAIL: '421 4.3.2 Going down' }))
  const account = openAccount({ smtpPort: server.port })
  assert.deepEqual(inShort(await account.hand(handover())), ['unavailable sender transient'])
  assert.equal(server.connections, 1)
  await account.close()
})

test('a server that wants no more connections gets no more, and no mail fails for it', async () => {
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
    assert.deepEqual(new Set(handed.flatMap(inShort)), new Set(['sent']))
  }
  await send(30)
  const before = refused
  assert.ok(before > 0 && before <= CONNECTIONS_MAX)
  await send(30)
  assert.equal(refused, before, 'it is taken at its word')
  clock.advance(CROWDED_MS)
  await server.left()
  await send(30)
  assert.ok(refused > before, 'but not for ever')
  await account.close()
})

test('where nobody gets through everybody is told', async () => {
  await using server = await startScript(async (peer) => {
    peer.say('421 4.7.0 Too many concurrent connections')
    peer.end()
  })
  const account = openAccount({ smtpPort: server.port })
  const handed = await Promise.all(Array.from({ length: 30 }, () => account.hand(handover())))
  for (const one of handed) assert.deepEqual(inShort(one), ['unavailable greeting throttled'])
  await account.close()
})

test('who waits for a connection waits no longer than the house', async () => {
  const closing = new AbortController()
  await using server = await startScript((peer) => peer.talk({ EHLO: '250 mx.script.test', MAIL: null }))
  const account = openAccount({ smtpPort: server.port })
  const handing = Array.from({ length: CONNECTIONS_MAX + 5 }, () => account.hand(handover({ signal: closing.signal })))
  await server.until('MAIL', CONNECTIONS_MAX)
  closing.abort()
  const handed = await Promise.all(handing)
  assert.ok(handed.every((one) => wordsOf(one).startsWith('The appliance was closing')))
  await server.left()
})

test('closing ends what is kept, lets go on what is under way, and keeps nothing from then on', async () => {
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
  assert.deepEqual(inShort((await Promise.race(both))!), ['sent'])
  await account.close()
  assert.equal(server.open, 1)
  resolve()
  for (const one of both) assert.deepEqual(inShort(await one), ['sent'])
  await server.left()
})
