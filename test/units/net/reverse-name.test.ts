// A peer's name is believed when it leads back to the peer's address.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findRemoteName, reverseName } from '../../../src/net/reverse-name.ts'
import { zoneResolver } from '../../support/dns.ts'

const V6 = '2001:db8::567:89ab'
const V6_NAME = 'b.a.9.8.7.6.5.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa'

test('spells reverse names', () => {
  assert.equal(reverseName('192.0.2.1'), '1.2.0.192.in-addr.arpa')
  assert.equal(reverseName('::ffff:192.0.2.1'), '1.2.0.192.in-addr.arpa')
  assert.equal(reverseName(V6), V6_NAME)
})

test('finds a name that leads back', async () => {
  const resolver = zoneResolver({
    '1.2.0.192.in-addr.arpa': { PTR: ['liar.test', 'MX.Out.test'] },
    'liar.test': { A: ['192.0.2.99'] },
    'mx.out.test': { A: ['192.0.2.7', '192.0.2.1'], AAAA: ['2001:DB8:0::567:89ab'] },
    [V6_NAME]: { PTR: ['mx.out.test'] },
  })
  assert.deepEqual(await findRemoteName('192.0.2.1', resolver), { name: 'mx.out.test' })
  assert.deepEqual(await findRemoteName(V6, resolver), { name: 'mx.out.test' })
})

test('believes no other, and tells "none" from "not known"', async () => {
  const resolver = zoneResolver({
    '1.2.0.192.in-addr.arpa': { PTR: ['liar.test', 'no such.name', 'x\r\n250 ok', 'absent.test'] },
    'liar.test': { A: ['192.0.2.99'] },
    '2.2.0.192.in-addr.arpa': { error: 'servfail' },
    '3.2.0.192.in-addr.arpa': { PTR: ['slow.test'] },
    'slow.test': { error: 'silent' },
  })
  assert.equal(await findRemoteName('192.0.2.1', resolver), 'none')
  assert.equal(await findRemoteName('192.0.2.2', resolver), 'unknown')
  assert.equal(await findRemoteName('192.0.2.3', resolver), 'unknown')
  assert.equal(await findRemoteName('192.0.2.4', resolver), 'none')
  assert.equal(await findRemoteName('', resolver), 'unknown')
})
