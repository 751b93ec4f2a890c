// The certificate of the listeners: TLS on accepted connections, renewal without a restart, and channel bindings.

import assert from 'node:assert/strict'
import { createHash, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { after, describe, it } from 'node:test'
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls'
import { openLog } from '../../../src/base/log.ts'
import { type CertificatePair, selfSigned } from '../../../src/config/certificate.ts'
import { channelBindings, HANDSHAKE_MS, ServerCertificate } from '../../../src/net/tls.ts'
import { ManualClock } from '../../support/clock.ts'

const clock = new ManualClock()
const make = () => selfSigned('mail.in.test', Date.UTC(2020, 0), Date.UTC(2040, 0))
const [one, two] = [await make(), await make()]
let files: CertificatePair | Error = one
let reads = 0
const log = openLog('silent')
const certificate = new ServerCertificate({
  pair: one,
  byName: new Map(),
  read: async () => {
    reads++
    if (files instanceof Error) throw files
    return { pair: files, byName: new Map() }
  },
  clock,
  log,
})
const accepted: Promise<TLSSocket>[] = []
const server = createServer((socket) => {
  socket.on('error', () => {})
  const secured = certificate.secure(socket, { clock, alpn: ['imap'] })
  secured.catch(() => {})
  accepted.push(secured)
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const { port } = server.address() as { port: number }
after(() => server.close())

interface Pair extends Disposable {
  client: TLSSocket
  own: TLSSocket
}

/** A connection, at both of its ends. */
async function open(options: ConnectionOptions = {}): Promise<Pair> {
  const client = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options })
  await once(client, 'secureConnect')
  const own = await accepted.at(-1)!
  return {
    client,
    own,
    [Symbol.dispose]() {
      client.destroy()
      own.destroy()
    },
  }
}

const fingerprintOf = ({ cert }: CertificatePair) => new X509Certificate(cert).fingerprint256
const seenBy = ({ client }: Pair) => client.getPeerCertificate().fingerprint256

describe('a new certificate', () => {
  it('is taken within an hour, or on SIGHUP, by new connections; open ones keep theirs', async () => {
    const taken: string[] = []
    certificate.onChange(({ cert }) => taken.push(cert))
    await certificate.start()
    using before = await open()
    assert.equal(seenBy(before), fingerprintOf(one))
    files = two
    using still = await open()
    assert.equal(seenBy(still), fingerprintOf(one))
    clock.advance(3_599_999)
    assert.equal(reads, 0)
    clock.advance(1)
    assert.equal(reads, 1)
    await certificate.look()
    using renewed = await open()
    assert.equal(seenBy(renewed), fingerprintOf(two))
    assert.equal(seenBy(before), fingerprintOf(one))
    before.own.write('still open')
    assert.equal(String((await once(before.client, 'data'))[0]), 'still open')
    files = one
    process.emit('SIGHUP')
    assert.equal(reads, 2)
    await certificate.look()
    using again = await open()
    assert.equal(seenBy(again), fingerprintOf(one))
    assert.deepEqual(taken, [two.cert, one.cert], 'once for each')
    await certificate.stop()
    assert.equal(process.listenerCount('SIGHUP'), 0)
  })

  it('that cannot be read or does not fit its key changes nothing', async () => {
    for (const wrong of [new Error('gone'), { cert: two.cert, key: one.key }, { cert: 'x', key: 'x' }]) {
      files = wrong
      await certificate.look()
      using connection = await open()
      assert.equal(seenBy(connection), fingerprintOf(one))
      assert.equal(certificate.pair, one)
    }
    files = one
  })

  it('is in use even if one of its listeners fails: the others get it, and the log says so', async (t) => {
    const [warned, failed] = [t.mock.method(log, 'warn'), t.mock.method(log, 'error')]
    const own = new ServerCertificate({
      ...{ pair: one, byName: new Map(), clock, log },
      read: async () => ({ pair: two, byName: new Map() }),
    })
    const taken: CertificatePair[] = []
    own.onChange(() => {
      throw new Error('a defect')
    })
    own.onChange((pair) => taken.push(pair))
    await own.look()
    assert.equal(own.pair, two)
    assert.deepEqual(taken, [two])
    assert.equal(warned.mock.callCount(), 0, 'no log line says that the old files stay')
    assert.equal((failed.mock.calls[0]!.arguments as unknown[])[1], 'A listener did not take the new TLS certificate')
  })
})

describe('TLS on an accepted connection', () => {
  it('refuses old versions, and takes an ALPN it knows without requiring one', async () => {
    await assert.rejects(open({ minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }))
    using plain = await open()
    assert.equal(plain.client.alpnProtocol, false)
    using named = await open({ ALPNProtocols: ['x', 'imap'] })
    assert.equal(named.client.alpnProtocol, 'imap')
  })

  it('resumes no session', async () => {
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const options = { minVersion: version, maxVersion: version }
      let session: Buffer | undefined
      {
        using first = await open(options)
        first.client.on('session', (one) => (session = one))
        first.own.write('x')
        await once(first.client, 'data')
        session ??= first.client.getSession()
      }
      using second = await open({ ...options, session })
      assert.equal(second.client.isSessionReused(), false, version)
    }
  })

  it('gives up on a client that is silent, speaks no TLS, or leaves', async () => {
    const clients: ((socket: Socket) => void)[] = [
      () => clock.advance(HANDSHAKE_MS),
      (socket) => socket.write('a001 LOGIN ana secret\r\n'),
      (socket) => socket.destroy(),
    ]
    for (const act of clients) {
      const before = accepted.length
      const socket = connect(port, '127.0.0.1')
      socket.on('error', () => {})
      await once(socket, 'connect')
      while (accepted.length === before) await new Promise(setImmediate)
      act(socket)
      await assert.rejects(accepted.at(-1)!)
      if (!socket.destroyed) await once(socket.resume(), 'close')
    }
  })

  it('reads what came behind a PROXY header that was read before', async () => {
    const late = createServer({ pauseOnConnect: true }, async (socket) => {
      // A part of the handshake has been received already.
      socket.once('readable', () => {
        socket.unshift(socket.read())
        certificate.secure(socket, { clock }).then((own) => own.end('hello'))
      })
      socket.read(0)
    })
    await new Promise<void>((resolve) => late.listen(0, '127.0.0.1', resolve))
    const client = connectTls({ port: (late.address() as { port: number }).port, rejectUnauthorized: false })
    assert.equal(String((await once(client, 'data'))[0]), 'hello')
    late.close()
  })
})

describe('channel bindings', () => {
  it('are equal at both ends: tls-exporter (RFC 9266) with TLS 1.3, tls-server-end-point (RFC 5929) always', async () => {
    const endPoint = createHash('sha256').update(new X509Certificate(one.cert).raw).digest()
    using modern = await open()
    const bindings = channelBindings(modern.own)
    assert.deepEqual([...bindings.keys()], ['tls-exporter', 'tls-server-end-point'])
    const exported = modern.client.exportKeyingMaterial(32, 'EXPORTER-Channel-Binding', Buffer.alloc(0))
    assert.deepEqual(bindings.get('tls-exporter'), exported)
    assert.deepEqual(bindings.get('tls-server-end-point'), endPoint)
    using older = await open({ maxVersion: 'TLSv1.2' })
    assert.deepEqual([...channelBindings(older.own).keys()], ['tls-server-end-point'])
    using other = await open()
    assert.notDeepEqual(channelBindings(other.own).get('tls-exporter'), exported)
  })
})
