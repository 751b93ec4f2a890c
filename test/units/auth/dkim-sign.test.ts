// Our signatures, judged by another implementation: what passes, what is sealed, and how the field is written.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { authenticate } from '../../../src/auth/authenticate.ts'
import { type DkimSigningKey, dkimSignatures } from '../../../src/auth/dkim-sign.ts'
import { compose } from '../../../src/mime/compose/compose.ts'
import { FIELD_BYTES_MAX } from '../../../src/mime/headers.ts'
import { arrival } from '../../support/arrivals.ts'
import { ed25519Key, rsaKey, type SigningKey } from '../../support/dkim.ts'
import { zoneResolver } from '../../support/dns.ts'
import { draft, randomDraft } from '../../support/drafts.ts'
import { Random } from '../../support/random.ts'

const rsa = rsaKey()
const ed25519 = ed25519Key()
const zone = { 's1._domainkey.shop.test': { TXT: [rsa.record] }, 's2._domainkey.shop.test': { TXT: [ed25519.record] } }
const key = (selector: string, { algorithm, privateKey }: SigningKey) =>
  ({ domain: 'shop.test', selector, algorithm, privateKey }) as DkimSigningKey
const keys = [key('s1', rsa), key('s2', ed25519)]
const NOW = Date.UTC(2025, 0, 2, 3, 4, 5, 678)

const signed = async (mail: Buffer) => Buffer.concat([Buffer.from(await dkimSignatures(mail, keys, NOW)), mail])

async function judge(mail: Buffer): Promise<[string, string, string][]> {
  const { verdict } = await authenticate(mail, arrival(), zoneResolver(zone))
  return verdict.signatures.map(({ selector, algorithm, result }) => [selector, algorithm, result])
}
const both = (result: string) => [
  ['s1', 'rsa-sha256', result],
  ['s2', 'ed25519-sha256', result],
]

test('both algorithms verify, for any message', async () => {
  for (let seed = 0; seed < 30; seed++) {
    const mail = compose(randomDraft(new Random(3000 + seed))).bytes
    assert.deepEqual(await judge(await signed(mail)), both('pass'), `seed ${3000 + seed}`)
  }
})

test('bodies that are nothing but line breaks, and messages without a body', async () => {
  for (const body of ['', '\r\n', '\r\n\r\n\r\n', ' \t\r\n', ' a\r\n\r\n', 'a', 'a \t b\t\r\n']) {
    const mail = Buffer.from(`From: a@shop.test\r\nSubject: a\r\n\r\n${body}`)
    assert.deepEqual(await judge(await signed(mail)), both('pass'), JSON.stringify(body))
  }
  // RFC 6376 3.4.4: the hash of no body at all.
  assert.match(
    await dkimSignatures(Buffer.from('From: a@shop.test\r\n'), keys, NOW),
    /bh=47DEQpj8HBSa\+\/TImW\+5JCeuQeRkm5NMpJWZG3hSuFU=;/,
  )
})

test('a field in UTF-8 may end with a byte that is white space in Latin-1', async () => {
  const mail = Buffer.from('From: a@shop.test\r\nSubject: voil\u00e0\r\n\r\nbody\r\n')
  assert.deepEqual(await judge(await signed(mail)), both('pass'))
})

test('folding and spaces of a field may change, its words may not', async () => {
  const mail = await signed(Buffer.from('From: a@shop.test\r\nSubject: one  two\r\n\tthree \r\nX-A: b\r\n\r\nbody\r\n'))
  const text = mail.toString()
  const same = [
    text,
    text.replace('X-A: b', 'X-A: c'),
    text.replace('one  two\r\n\tthree ', 'one two three'),
    `X: y\r\n${text}`,
  ]
  for (const one of same) assert.deepEqual(await judge(Buffer.from(one)), both('pass'), one)
  for (const one of [text.replace('two', 'too'), text.replace('two', 't wo')]) {
    assert.deepEqual(await judge(Buffer.from(one)), both('fail'), one)
  }
})

test('no second field of what a reader is shown can be set in front', async () => {
  const mail = (await signed(compose(draft()).bytes)).toString()
  const names = [
    'Subject',
    'To',
    'Cc',
    'Date',
    'Reply-To',
    'Message-ID',
    'MIME-Version',
    'Content-Type',
    'Content-Transfer-Encoding',
  ]
  for (const name of names) {
    assert.deepEqual(await judge(Buffer.from(`${name}: forged\r\n${mail}`)), both('fail'), name)
  }
  for (const name of ['List-Id', 'Sender', 'In-Reply-To', 'Received']) {
    assert.deepEqual(await judge(Buffer.from(`${name}: added\r\n${mail}`)), both('pass'), name)
  }
})

test('what lists and replies carry is signed where it stands', async () => {
  const headers = [
    { name: 'List-Unsubscribe', value: '<https://shop.test/u>' },
    { name: 'List-Unsubscribe-Post', value: 'List-Unsubscribe=One-Click' },
  ]
  const mail = (
    await signed(compose(draft({ headers, inReplyTo: 'a@x.test', references: ['a@x.test'] })).bytes)
  ).toString()
  for (const part of ['shop.test/u', 'One-Click', 'In-Reply-To: <a', 'References: <a']) {
    assert.ok(mail.includes(part))
    assert.deepEqual(await judge(Buffer.from(mail.replace(part, `${part}b`))), both('fail'), part)
  }
})

test('a line without a colon is no field, whatever its text is', async () => {
  const text = await dkimSignatures(Buffer.from('From: a@shop.test\r\nSubjects\r\nX-A: b\r\n\r\nbody\r\n'), keys, NOW)
  assert.match(text, /h=from:from:to:cc:subject:date:/)
})

test('the field says when, never how much of the body, in short lines', async () => {
  const text = await dkimSignatures(compose(draft()).bytes, keys, NOW)
  assert.equal(text.match(/^DKIM-Signature: /gm)!.length, 2)
  assert.match(text, /a=rsa-sha256; c=relaxed\/relaxed; d=shop\.test;\r\n s=s1; t=1735787045;\r\n/)
  assert.match(text, /h=from:from:to:to:cc:subject:subject:/)
  assert.doesNotMatch(text, /\bl=/)
  assert.doesNotMatch(text.replaceAll('\r\n', ''), /[^ -~]/)
  for (const line of text.split('\r\n')) assert.ok(line.length <= 78, line)
  assert.equal(await dkimSignatures(compose(draft()).bytes, [], NOW), '')
})

test('a field that is longer than our own reader takes is signed whole', async () => {
  const to = Array.from({ length: 4000 }, (_, index) => `recipient${index}@x.test`).join(',\r\n ')
  const mail = await signed(Buffer.from(`From: a@shop.test\r\nTo: ${to}\r\n\r\nbody\r\n`))
  assert.ok(mail.length > FIELD_BYTES_MAX)
  const { results } = await dkimVerify(mail, { resolver: zoneResolver(zone).resolve as never })
  assert.deepEqual(
    results.map(({ status }) => status.result),
    ['pass', 'pass'],
  )
})
