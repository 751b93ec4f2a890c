// Keys of name servers are read in the forms that their tools write, and answers count only with their signature.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkAnswer, readTsigKey, signMessage } from '../../../src/dns/tsig.ts'
import { dataOf, uint16 } from '../../../src/dns/wire.ts'

const SECRET = Buffer.from('a secret of 32 bytes, no more...').toString('base64')
const NOW = Date.UTC(2030, 0, 2)
const key = readTsigKey(`hmac-sha256:mail:${SECRET}`)

test('a key is read as tsig-keygen, keymgr and knsupdate write it', () => {
  const bind = `key "mail" {\n\talgorithm hmac-sha512;\n\tsecret "${SECRET}";\n};\n`
  const knot = `# hmac-sha512:mail:${SECRET}\nkey:\n  - id: mail\n    algorithm: hmac-sha512\n    secret: ${SECRET}\n`
  for (const text of [bind, knot, `hmac-sha512:mail:${SECRET}\n`]) {
    const { name, algorithm, secret } = readTsigKey(text)
    assert.deepEqual([name, algorithm, secret.toString('base64')], ['mail', 'hmac-sha512', SECRET], text)
  }
  for (const text of ['', SECRET, `hmac-md5:mail:${SECRET}`, 'key "mail" { algorithm hmac-sha256; };']) {
    assert.throws(() => readTsigKey(text), /This is no TSIG key/, text)
  }
})

test('an answer counts with the signature over it and the request alone', () => {
  const message = Buffer.concat([uint16(7, 5 << 11, 0, 0, 0, 0)])
  const request = signMessage(message, key, NOW)
  const unsigned = Buffer.concat([uint16(7, 0xa800, 0, 0, 0, 0)])
  assert.throws(() => checkAnswer(unsigned, key, request, NOW), /did not sign/)
  // Signed like a request, without the signature of the request in it.
  assert.throws(() => checkAnswer(signMessage(unsigned, key, NOW).bytes, key, request, NOW), /not signed with the key/)
  assert.throws(() => checkAnswer(request.bytes, key, request, NOW), /not signed with the key/)
})

test('values are written as on the wire', () => {
  assert.equal(dataOf('AAAA', '2001:db8::1').toString('hex'), '20010db8000000000000000000000001')
  assert.equal(dataOf('A', '192.0.2.1').toString('hex'), 'c0000201')
  assert.equal(dataOf('MX', '10 Mail.Example').toString('latin1'), '\0\n\x04mail\x07example\0')
  assert.equal(dataOf('SRV', '0 0 0 .').toString('hex'), '00000000000000')
  const long = dataOf('TXT', 'a'.repeat(300))
  assert.deepEqual([long.length, long[0], long[256]], [302, 255, 45])
  assert.equal(dataOf('CAA', '0 issue "letsencrypt.org"').toString('latin1'), '\0\x05issueletsencrypt.org')
})
