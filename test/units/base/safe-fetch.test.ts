// Outgoing https to strangers: addresses that change between two looks, and servers that hang, drip, flood, redirect and lie.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createServer as createTcp, type Server, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { systemClock } from '../../../src/base/clock.ts'
import { openResolver } from '../../../src/base/resolver.ts'
import { ANSWER_MAX, SafeFetch, type SafeFetchOptions } from '../../../src/base/safe-fetch.ts'
import { startDns } from '../../support/dns.ts'
import { startHook } from '../../support/hook.ts'

const dns = await startDns({ 'hooks.test': { A: ['127.0.0.1'] }, 'other.test': { A: ['127.0.0.1'] } })
const resolver = openResolver({ servers: [dns.address], clock: systemClock, timeoutMs: 30_000 })
const hook = await startHook()
setDefaultCACertificates([...getCACertificates('default'), await readFile(hook.caFile, 'utf8')])
const logged: { event: string; err: Error; host: string }[] = []
const log = { error: (line: (typeof logged)[number]) => void logged.push(line) } as SafeFetchOptions['log']
const open = new SafeFetch({ resolver, log, allowPrivate: true, totalMs: 30_000 })
const closed = new SafeFetch({ resolver, log, allowPrivate: false, totalMs: 30_000 })
/** Gives up soon: the beginning of a response still arrives in time on a busy machine. */
const impatient = new SafeFetch({ resolver, log, allowPrivate: true, totalMs: 2000 })
after(async () => {
  await open.close()
  await closed.close()
  await impatient.close()
  await hook[Symbol.asyncDispose]()
  await resolver.close()
  await dns.close()
})

const post = (url = hook.url(), fetch = open) => fetch.post(url, { 'content-type': 'application/json' }, '{}')

/** A server that counts who comes. */
async function counter(): Promise<{ server: Server; port: number; came: Socket[] }> {
  const came: Socket[] = []
  const server = createTcp((socket) => {
    came.push(socket.on('error', () => {}))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, port: (server.address() as { port: number }).port, came }
}

test('a name whose answer changes between two looks leads nowhere inside', async (t) => {
  const { server, port, came } = await counter()
  t.after(() => server.close())
  dns.zone['rebind.test'] = { A: ['93.184.215.14'] }
  assert.deepEqual(await closed.addressesOf('rebind.test'), ['93.184.215.14'])
  // The check at registration has passed; now the name leads inside, and TTL 0 has the next look ask anew.
  dns.zone['rebind.test'] = { A: ['127.0.0.1'] }
  const result = await post(`https://rebind.test:${port}/`, closed)
  assert.deepEqual([result.status, result.problem], [0, 'address_not_allowed'])
  assert.equal(came.length, 0)
})

test('of a name with addresses outside and inside, only those outside are used', async () => {
  dns.zone['mixed.test'] = { A: ['10.0.0.1', '93.184.215.14', '127.0.0.1'], AAAA: ['::1', '::ffff:127.0.0.1'] }
  assert.deepEqual(await closed.addressesOf('mixed.test'), ['93.184.215.14'])
})

test('addresses inside are refused however they are written', async (t) => {
  const { server, port, came } = await counter()
  t.after(() => server.close())
  const hosts = [
    '127.0.0.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '127.1',
    '[::1]',
    '[::ffff:7f00:1]',
    '[64:ff9b::7f00:1]',
  ]
  for (const host of hosts) {
    const result = await post(`https://${host}:${port}/`, closed)
    assert.equal(result.problem, 'address_not_allowed', host)
  }
  assert.equal(came.length, 0)
})

test('the beginning of a response is returned; the rest is not read', async () => {
  hook.answer((_told, response) => response.end('ok'))
  const plain = await post()
  assert.deepEqual([plain.status, plain.accepted, plain.body, plain.problem], [200, true, 'ok', null])
  let written = 0
  hook.answer((_told, response) => {
    const pour = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536, 'x'))) written += 65_536
      if (!response.destroyed) response.once('drain', pour)
    }
    pour()
  })
  const flood = await post()
  assert.deepEqual([flood.status, flood.body?.length], [200, ANSWER_MAX])
  assert.ok(written < 64 * 1024 * 1024, `${written} bytes were taken`)
})

test('a compressed answer stays as it is', async () => {
  hook.answer((_told, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(Buffer.from([31, 139, 8])),
  )
  assert.equal((await post()).status, 200)
})

test('a redirect is an answer like any other', async () => {
  const before = hook.requests.length
  hook.answer((_told, response) => response.writeHead(307, { location: hook.url('/inside') }).end())
  const result = await post()
  assert.deepEqual([result.status, result.accepted, hook.requests.length - before], [307, false, 1])
})

test('who hangs, drips or hangs up is given up in time', async () => {
  hook.answer(() => {})
  assert.equal((await post(hook.url(), impatient)).problem, 'timeout')
  hook.answer((_told, response) => void response.writeHead(200).write('a'))
  const drip = await post(hook.url(), impatient)
  assert.deepEqual([drip.status, drip.problem], [200, 'response_too_slow'])
  hook.answer((_told, response) => response.destroy())
  assert.equal((await post()).problem, 'connection_reset')
  hook.answer((_told, response) => response.writeHead(200, { 'x-long': 'x'.repeat(20_000) }).end())
  assert.equal((await post()).status, 0)
})

test('a certificate for another name, no TLS, a closed port, and an unknown name', async (t) => {
  const { server, port, came } = await counter()
  t.after(() => server.close())
  assert.equal((await post(`https://other.test:${hook.port}/`)).problem, 'tls_error')
  const plain = post(`https://hooks.test:${port}/`)
  server.once('connection', (socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'))
  assert.equal((await plain).status, 0)
  for (const socket of came) socket.destroy()
  await new Promise((resolve) => server.close(resolve))
  assert.equal((await post(`https://hooks.test:${port}/`)).problem, 'connect_error')
  assert.equal((await post('https://nobody.test/')).problem, 'dns_error')
})

test('a request that a fault of this program kept from leaving is an error in the log, and no failure of the receiver', async (t) => {
  const before = hook.requests.length
  assert.deepEqual(logged.splice(0), [], 'failures of receivers are not logged')
  const refused = await open.post(hook.url(), { 'no token': '1' }, '{}')
  const broken = new SafeFetch({ resolver: {} as typeof resolver, log, allowPrivate: true })
  t.after(() => broken.close())
  const failed = await broken.post(hook.url(), {}, '{}')
  for (const result of [refused, failed]) {
    assert.deepEqual([result.status, result.problem], [0, 'internal_error'])
    assert.match(result.text!, /operator finds the cause in the log/)
  }
  assert.deepEqual(
    logged.map(({ event, err, host }) => [event, err.message, host]),
    [
      ['fetch.not_sent', 'invalid header key', 'hooks.test'],
      ['fetch.not_sent', 'resolver.resolve is not a function', 'hooks.test'],
    ],
  )
  assert.equal(hook.requests.length, before)
})
