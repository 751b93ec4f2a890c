// PROXY headers of both versions, whole, cut and malformed.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAX_V1_BYTES, MAX_V2_BYTES, readProxyHeader } from '../../../src/net/proxy-protocol.ts'

const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1')

/** A header of version 2. */
function binary(version: number, family: number, addresses: number[], declared = addresses.length): Buffer {
  return Buffer.concat([SIGNATURE, Buffer.from([version, family, declared >> 8, declared & 255, ...addresses])])
}

const V4 = [192, 0, 2, 7, 198, 51, 100, 1, 0x10, 0x01, 0x00, 0x19]
const V6 = [...Array.from({ length: 16 }, (_, i) => i), ...Array.from({ length: 16 }, () => 0), 1, 2, 0, 25]

function readAll(header: Buffer) {
  for (let cut = 0; cut < header.length; cut++) {
    assert.equal(readProxyHeader(header.subarray(0, cut)), 'more', `cut after ${cut} bytes`)
  }
  const behind = Buffer.concat([header, Buffer.from('EHLO x\r\n')])
  const found = readProxyHeader(behind)
  assert.ok(typeof found === 'object')
  assert.equal(found.bytes, header.length)
  return found.source
}

test('version 1', () => {
  assert.deepEqual(readAll(Buffer.from('PROXY TCP4 192.0.2.7 198.51.100.1 4097 25\r\n')), {
    address: '192.0.2.7',
    port: 4097,
  })
  assert.deepEqual(readAll(Buffer.from('PROXY TCP6 2001:db8::7 2001:db8::1 65535 25\r\n')), {
    address: '2001:db8::7',
    port: 65535,
  })
  assert.equal(readAll(Buffer.from('PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n')), null)
  assert.equal(readAll(Buffer.from('PROXY UNKNOWN\r\n')), null)
})

test('version 2', () => {
  assert.deepEqual(readAll(binary(0x21, 0x11, V4)), { address: '192.0.2.7', port: 4097 })
  assert.deepEqual(readAll(binary(0x21, 0x11, [...V4, 3, 0, 1, 7])), { address: '192.0.2.7', port: 4097 }, 'additions')
  assert.deepEqual(readAll(binary(0x21, 0x21, V6)), { address: '1:203:405:607:809:a0b:c0d:e0f', port: 258 })
  assert.equal(readAll(binary(0x20, 0x00, [])), null, 'the proxy asks for itself')
  assert.equal(readAll(binary(0x20, 0x11, V4)), null)
})

const wrong = [
  'EHLO client.test\r\n',
  'proxy TCP4 192.0.2.7 198.51.100.1 1 25\r\n',
  'PROXY  TCP4 192.0.2.7 198.51.100.1 1 25\r\n',
  'PROXY TCP4 192.0.2.7 198.51.100.1 1\r\n',
  'PROXY TCP4 192.0.2.7 198.51.100.1 1 25 more\r\n',
  'PROXY TCP4 192.0.2.7 198.51.100.1 65536 25\r\n',
  'PROXY TCP4 192.0.2.7 198.51.100.1 01 25\r\n',
  'PROXY TCP4 192.0.2.256 198.51.100.1 1 25\r\n',
  'PROXY TCP4 2001:db8::7 2001:db8::1 1 25\r\n',
  'PROXY TCP6 192.0.2.7 198.51.100.1 1 25\r\n',
  'PROXY UDP4 192.0.2.7 198.51.100.1 1 25\r\n',
  'PROXY \r\n',
  '\r\n\r\n\0\r\nQUIX\n',
  `PROXY UNKNOWN ${'x'.repeat(MAX_V1_BYTES)}`,
]
for (const header of wrong) {
  test(`refuses ${JSON.stringify(header).slice(0, 60)}`, () => {
    assert.equal(readProxyHeader(Buffer.from(header, 'latin1')), 'wrong')
  })
}

test('refuses binary headers of other versions, commands, families and lengths', () => {
  assert.equal(readProxyHeader(binary(0x11, 0x11, V4)), 'wrong')
  assert.equal(readProxyHeader(binary(0x22, 0x11, V4)), 'wrong')
  assert.equal(readProxyHeader(binary(0x21, 0x12, V4)), 'wrong')
  assert.equal(readProxyHeader(binary(0x21, 0x31, V4)), 'wrong')
  assert.equal(readProxyHeader(binary(0x21, 0x11, V4.slice(0, 11))), 'wrong')
  assert.equal(readProxyHeader(binary(0x21, 0x11, V4, MAX_V2_BYTES)), 'wrong')
})

test('version 2 says whether the client spoke TLS to the proxy (section 2.2.6); version 1 cannot', () => {
  const ssl = (client: number, ...more: number[]) => [0x20, 0, 5 + more.length, client, 0, 0, 0, 0, ...more]
  const markOf = (fields: number[]) => readAll(binary(0x21, 0x11, [...V4, ...fields]))?.tls
  assert.equal(markOf(ssl(1)), true)
  assert.equal(markOf([...[4, 0, 2, 0, 0], ...ssl(7, 0x21, 0, 7, ...Buffer.from('TLSv1.3')), 3, 0, 1, 7]), true)
  assert.equal(readAll(binary(0x21, 0x21, [...V6, ...ssl(1)]))?.tls, true)
  const unmarked = [
    ssl(0),
    ssl(2),
    [],
    [0x20, 0, 4, 1, 0, 0, 0],
    [0x20, 0, 9, 1, 0, 0, 0, 0],
    [0x20, 0],
    [3, 0xff, 0xff, 1],
  ]
  for (const fields of unmarked) assert.equal(markOf(fields), undefined, fields.join(' '))
  // The first field decides; what follows one that is cut off is not read.
  assert.equal(markOf([...ssl(0), ...ssl(1)]), undefined)
  assert.equal(markOf([3, 0, 200, ...ssl(1)]), undefined)
  assert.equal(readAll(binary(0x20, 0x11, [...V4, ...ssl(1)])), null, 'a health check of the proxy')
})
