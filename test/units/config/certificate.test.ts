// The trial certificate: readable, its own issuer, good for a handshake.

import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { connect, createServer, type TLSSocket } from 'node:tls'
import { systemClock } from '../../../src/base/clock.ts'
import { selfSigned } from '../../../src/config/certificate.ts'

const FROM = Date.UTC(2026, 0, 1)
const UNTIL = Date.UTC(2036, 0, 1)

describe('certificate', () => {
  it('says its name and its time, and signs itself', async () => {
    const { cert } = await selfSigned('mx.example.org', FROM, UNTIL)
    const read = new X509Certificate(cert)
    assert.equal(read.subject, 'CN=mx.example.org')
    assert.equal(read.issuer, read.subject)
    assert.equal(read.subjectAltName, 'DNS:mx.example.org')
    assert.equal(read.checkHost('mx.example.org'), 'mx.example.org')
    assert.equal(read.checkHost('other.example.org'), undefined)
    assert.equal(read.validFromDate.getTime(), FROM)
    assert.equal(read.validToDate.getTime(), UNTIL)
    assert.ok(read.verify(read.publicKey))
    assert.equal(read.ca, false)
  })

  it('writes years from 2050 on with four digits', async () => {
    const { cert } = await selfSigned('mx.example.org', Date.UTC(2049, 11, 31), Date.UTC(2050, 0, 1))
    const read = new X509Certificate(cert)
    assert.equal(read.validFromDate.getTime(), Date.UTC(2049, 11, 31))
    assert.equal(read.validToDate.getTime(), Date.UTC(2050, 0, 1))
  })

  it('has another serial number each time', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => selfSigned('a.test', FROM, UNTIL)))
    const numbers = made.map(({ cert }) => new X509Certificate(cert).serialNumber)
    assert.equal(new Set(numbers).size, numbers.length)
  })

  it('stands a handshake that checks it, for the shortest and the longest name', async () => {
    const label = 'a'.repeat(62)
    for (const host of ['localhost', `${label}.${label}.${label}.${'b'.repeat(61)}`]) {
      // TLS looks at the time of the machine.
      const now = systemClock.now()
      const pair = await selfSigned(host, now - 1000, now + 3_600_000)
      const server = createServer(pair).listen(0, '127.0.0.1')
      await once(server, 'listening')
      const { port } = server.address() as { port: number }
      const client: TLSSocket = connect({ port, host: '127.0.0.1', servername: host, ca: pair.cert })
      await once(client, 'secureConnect')
      assert.equal(client.authorized, true, host.slice(0, 20))
      client.destroy()
      server.close()
    }
  })
})
