// What a signature covers of a header, compared with mailauth: rows, selection and canonical forms, and the verdict on altered messages.

import assert from 'node:assert/strict'
import { createHash, sign } from 'node:crypto'
import { test } from 'node:test'
import { dkimVerify } from 'mailauth'
import mailauthTools from 'mailauth/lib/tools.js'
import { authenticate } from '../../../src/auth/authenticate.ts'
import { headerRows, SignedRows, signedHeader } from '../../../src/auth/header-rows.ts'
import { RecordingResolver } from '../../../src/auth/recording-resolver.ts'
import { verifySignatures } from '../../../src/auth/signatures.ts'
import { colonList } from '../../../src/auth/tag-list.ts'
import { systemClock } from '../../../src/base/clock.ts'
import { headerText, readHeaders } from '../../../src/mime/headers.ts'
import { addTrace } from '../../../src/mime/trace.ts'
import { ARRIVED_AT, arrival } from '../../support/arrivals.ts'
import { ed25519Key, rsaKey, signMail } from '../../support/dkim.ts'
import { type Zone, zoneResolver } from '../../support/dns.ts'

interface Row {
  key?: string | null
  line: Buffer
}

/** The functions of mailauth that ours stand for. */
const theirs = mailauthTools as unknown as {
  parseHeaders(header: Buffer): { parsed: Row[] }
  getSigningHeaderLines(rows: Row[], names: string, verify: true): { headers: Row[] }
  formatRelaxedLine(line: Buffer, suffix?: string): Buffer
  stripSignatureValue(line: Buffer, strict: true): Buffer
}

/** Pieces that parsers read differently. */
const PIECES = [
  ...[' ', '\t', '\r\n ', '\r\n\t', '\r\n', '\r', '\n', '\0', ';', ':', '=', 'b=', ' b =', 'B=', '\xa0', '\xc2\xa0'],
  ...[
    '\xe3\x80\x80',
    '\xc3\x84',
    'From: x\r\n',
    '\r\nfrom : a@b',
    '; b=x',
    ';l=5',
    'h=',
    ',',
    '"',
    'A',
    'a',
    '\r\n\r\n',
  ],
]

/** Repeatable numbers below `limit`. */
function numbers(seed: number): (limit: number) => number {
  let state = seed
  return (limit) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff
    return (state >>> 8) % limit
  }
}

/** A text with up to four pieces put in or bytes taken out, mostly in its header. */
function altered(text: string, next: (limit: number) => number): string {
  let out = text
  for (let count = next(4); count >= 0; count--) {
    const at = next(next(6) === 0 ? out.length : out.indexOf('\r\n\r\n') + 3)
    const piece = next(3) === 0 ? '' : PIECES[next(PIECES.length)]!
    out = out.slice(0, at) + piece + out.slice(at + (piece === '' ? 1 : next(2)))
  }
  return out
}

const MAIL = [
  ...[
    'From: Ann  <ann@sender.test>',
    'To: bob@house.test,',
    '\tx@y.test',
    'Subject: h\xe4llo\t \xc2\xa0 w',
    'To: c@d.test',
  ],
  ...['Date: Fri, 20 Nov 2026 11:59:00 +0000', 'Message-ID: <1@sender.test>', 'X-Y : z', 'X-Folded', ' : v', ''],
  ...['Hello  Bob,\t', '', 'nothing new.', '', '', ''],
].join('\r\n')

const keys = { rsa: rsaKey(1024), ed: ed25519Key() }
const zone: Zone = {
  'rsa._domainkey.sender.test': { TXT: [keys.rsa.record] },
  'ed._domainkey.sender.test': { TXT: [keys.ed.record] },
  'flag._domainkey.sender.test': { TXT: [keys.rsa.record.replace('p=', 't=s; p=')] },
}

function signedMails(): string[] {
  const tags = [undefined, 'l=10', 't=1; x=99999999999', 'x=5', 'i=a@sub.sender.test', 'z=b=abc|B=x', 'q=dns/txt']
  return tags.flatMap((more) =>
    ['simple/simple', 'relaxed/simple'].flatMap((form) => {
      const signing = { domain: 'sender.test', form, ...(more === undefined ? {} : { tags: more }) }
      const once = signMail(MAIL, { ...signing, key: keys.ed, selector: 'ed' })
      return [once, signMail(once, { ...signing, key: keys.rsa, selector: more?.startsWith('i=') ? 'flag' : 'rsa' })]
    }),
  )
}

test('the rows of a header, those that are signed, and their canonical forms', () => {
  const mails = signedMails()
  const next = numbers(7)
  for (let round = 0; round < 3000; round++) {
    const text = altered(mails[round % mails.length]!, next)
    const header = Buffer.from(text.slice(0, text.indexOf('\r\n\r\n') + 4), 'latin1')
    const rows = headerRows(header)
    const expected = theirs.parseHeaders(header).parsed
    const shown = JSON.stringify(header.toString('latin1'))
    assert.deepEqual(
      rows.map(({ key, line }) => [key, line.toString('latin1')]),
      expected.map(({ key, line }) => [key ?? null, line.toString('latin1')]),
      shown,
    )
    if (rows.length === 0) continue
    const names = [...rows.map(({ key }) => key ?? ''), ' From\t', 'to', 'absent', 'to']
      .sort(() => next(3) - 1)
      .join(':')
    const signed = new SignedRows(rows).named(colonList(names))
    const theirSigned = theirs.getSigningHeaderLines(expected, names, true).headers
    const at = next(rows.length)
    const [own, their] = [rows[at]!.text, expected[at]!.line]
    const relaxed = [
      ...theirSigned.map(({ line }) => theirs.formatRelaxedLine(line, '\r\n')),
      theirs.stripSignatureValue(theirs.formatRelaxedLine(their), true),
    ]
    assert.deepEqual(signedHeader(signed, own, 'relaxed'), Buffer.concat(relaxed), `${names} of ${shown}`)
    const simple = [
      ...theirSigned.flatMap(({ line }) => [line, Buffer.from('\r\n')]),
      theirs.stripSignatureValue(their, true),
    ]
    assert.deepEqual(signedHeader(signed, own, 'simple'), Buffer.concat(simple), `${names} of ${shown}`)
  }
})

test('an altered message has the result it has for mailauth', async () => {
  const mails = signedMails()
  const next = numbers(11)
  const { resolve } = zoneResolver(zone)
  const counts = new Map<string, number>()
  for (let round = 0; round < 600; round++) {
    // Without bare line feeds in the body, which mailauth counts otherwise.
    const text = altered(mails[round % mails.length]!, next).replace(/(?<!\r)\n/g, '\r\n')
    const bytes = Buffer.from(text, 'latin1')
    const dns = new RecordingResolver(zoneResolver(zone), systemClock, 10_000)
    const split = bytes.indexOf('\r\n\r\n') + 4
    const verdict = await verifySignatures(bytes.subarray(0, split), bytes.subarray(split), dns, ARRIVED_AT)
    dns.close()
    const options = { resolver: resolve as never, minBitLength: 1024, strict: true, curTime: new Date(ARRIVED_AT) }
    const { results } = await dkimVerify(bytes, options as never)
    const expected = results
      .filter(({ signingDomain }) => signingDomain !== undefined)
      .map(({ status: { result } }) => ((result as string) === 'policy' ? 'permerror' : result))
    const found = verdict.signatures.map(({ result }) => result)
    assert.deepEqual(found, expected, JSON.stringify(text))
    for (const result of found) counts.set(result, (counts.get(result) ?? 0) + 1)
  }
  for (const result of ['pass', 'fail', 'neutral'])
    assert.ok(counts.get(result)! > 50, `${result}: ${counts.get(result)}`)
})

test('a signature that is valid only because its canonical form hides what readers see vouches for nothing', async () => {
  const fields = ['from', 'to', 'subject', 'content-type']
  const mail = `From: ann@sender.test\r\nTo: b@house.test\r\nSubject: Do not pay\r\nContent-Type: text/html\r\nX-A: 1\r\n\r\nHi\r\n`
  const signed = signMail(mail, { domain: 'sender.test', key: keys.ed, selector: 'ed', fields })
  const judge = async (text: string) => {
    const bytes = Buffer.from(text)
    const split = text.indexOf('\r\n\r\n') + 4
    const dns = new RecordingResolver(zoneResolver(zone), systemClock, 10_000)
    const found = await verifySignatures(bytes.subarray(0, split), bytes.subarray(split), dns, ARRIVED_AT)
    dns.close()
    return [found.signatures[0]!.result, found.domains.length, /malformed/.test(found.signatures[0]!.reason)]
  }
  // The colon behind a fold: readers do not know such a field, and take the added one or none.
  const altered = [
    `Subject: Pay\r\n${signed.replace('Subject:', 'Subject\r\n :')}`,
    `Content-Type: text/plain\r\n${signed.replace('Content-Type:', 'Content-Type\t\r\n\t:')}`,
    signed.replace('Content-Type:', 'Content-Type\r\n :'),
    // Readers skip a line that is no field: the subject says the contrary.
    signed.replace('Do not pay', 'Do \r\nnot pay'),
    signed.replace('text/html', 'text/\r\nhtml'),
    // For mutt and Python's email package the first line that is no field starts the body, also in a field that is not signed.
    signed.replace('X-A: 1', 'X-A: 1\r\nPay to the account below.'),
    signed.replace('X-A: 1', 'X-A\r\n : Pay to the account below.'),
    `Pay to the account below.\r\n${signed}`,
    ` Pay to the account below.\r\n${signed}`,
  ]
  for (const text of altered) assert.deepEqual(await judge(text), ['pass', 0, true], JSON.stringify(text))
  const harmless = [signed, signed.replace('not pay', '\r\n not pay'), signed.replace('X-A: 1', 'X-A :\r\n 1')]
  for (const text of harmless) assert.deepEqual(await judge(text), ['pass', 1, false], JSON.stringify(text))
})

test('the domain of a signature is named by its A-labels, and one of any length takes no time', async () => {
  const records: Zone = {}
  const judge = async (domain: string) => {
    const label = Buffer.from(domain).toString('latin1')
    const text = signMail('From: a@b.test\r\n\r\nHi\r\n', {
      domain: label,
      key: keys.ed,
      selector: 'ed',
      fields: ['from'],
    })
    const dns = new RecordingResolver(zoneResolver(records), systemClock, 10_000)
    const bytes = Buffer.from(text, 'latin1')
    const split = text.indexOf('\r\n\r\n') + 4
    const found = await verifySignatures(bytes.subarray(0, split), bytes.subarray(split), dns, ARRIVED_AT)
    dns.close()
    return found.signatures[0]!
  }
  for (const [domain, name] of [
    ['\u200bbank.test', 'xn--bank-u76a.test'],
    ['b\u00fccher.test', 'xn--bcher-kva.test'],
    ['Bank.test', 'bank.test'],
  ] as const) {
    records[`ed._domainkey.${name}`] = { TXT: [keys.ed.record] }
    const { result, domain: named } = await judge(domain)
    assert.deepEqual([result, named], ['pass', name])
  }
  const characters = Array.from({ length: 20_000 }, (_, index) => String.fromCodePoint(0x4e00 + index)).join('')
  const before = process.cpuUsage()
  assert.equal((await judge(`${characters}.test`)).result, 'neutral')
  const { user } = process.cpuUsage(before)
  assert.ok(user < 300_000, `${user} \u00b5s`)
})

test('a signature is aligned by the name its key was looked up by', async () => {
  // In front of a dot and a letter a capital sigma has another lower case than at the end of a label: two domains.
  const [signer, other] = ['xn--mxa8a.test', 'xn--mxa0b.test']
  const policy = { TXT: ['v=DMARC1; p=reject'] }
  const records: Zone = {
    [`ed._domainkey.${signer}`]: { TXT: [keys.ed.record] },
    [`_dmarc.${signer}`]: policy,
    [`_dmarc.${other}`]: policy,
  }
  const judge = async (author: string) => {
    const domain = Buffer.from('\u0391\u03a3.test').toString('latin1')
    const signing = { domain, key: keys.ed, selector: 'ed', fields: ['from'] }
    const bytes = Buffer.from(signMail(`From: ann@${author}\r\n\r\nHi\r\n`, signing), 'latin1')
    const { verdict } = await authenticate(bytes, arrival(), zoneResolver(records))
    return [verdict.dkim, verdict.dmarc, verdict.fromAligned, verdict.signatures[0]!.aligned]
  }
  assert.deepEqual(await judge(signer), ['pass', 'pass', true, true])
  assert.deepEqual(await judge(other), ['pass', 'fail', false, false])
  // The same for the name in HELO, which stands for the domain of the null sender (RFC 7208 §2.4).
  records['xn--bank-u76a.test'] = { TXT: ['v=spf1 ip4:192.0.2.1 -all'] }
  records['_dmarc.bank.test'] = policy
  const given = arrival({ mailFrom: '', helo: '\u200bbank.test' })
  const { verdict } = await authenticate(Buffer.from('From: ann@bank.test\r\n\r\nHi\r\n'), given, zoneResolver(records))
  assert.deepEqual([verdict.spf, verdict.spfDomain, verdict.dmarc], ['pass', 'xn--bank-u76a.test', 'fail'])
})

test('a chain whose newest signature covers the first bytes of the body only does not pass', async () => {
  const rowOf = (line: string) => headerRows(Buffer.from(line))[0]!
  const signed = (lines: string[], line: string) => {
    const data = signedHeader(lines.map(rowOf), line, 'relaxed')
    return `${line}${sign(null, createHash('sha256').update(data).digest(), keys.ed.privateKey).toString('base64')}`
  }
  const judge = async (length: string, body: string) => {
    const from = 'From: ann@sender.test'
    const bodyHash = createHash('sha256').update('Hi\r\n').digest('base64')
    const tags = 'i=1; a=ed25519-sha256; d=sender.test; s=ed;'
    const results = 'ARC-Authentication-Results: i=1; mx.sender.test; none'
    const message = signed(
      [from],
      `ARC-Message-Signature: ${tags} c=relaxed/simple;${length} h=from; bh=${bodyHash}; b=`,
    )
    const seal = signed([results, message], `ARC-Seal: ${tags} cv=none; b=`)
    const dns = new RecordingResolver(zoneResolver(zone), systemClock, 10_000)
    const header = Buffer.from([seal, message, results, from, '', ''].join('\r\n'))
    const { arc } = await verifySignatures(header, Buffer.from(body), dns, ARRIVED_AT)
    dns.close()
    return arc
  }
  assert.equal(await judge('', 'Hi\r\n'), 'pass')
  assert.equal(await judge(' l=4;', 'Hi\r\n'), 'pass')
  assert.equal(await judge(' l=4;', 'Hi\r\nPay\r\n'), 'permerror')
  assert.equal(await judge('', 'Hi\r\nPay\r\n'), 'fail')
})

test('signature fields of any length and form take no time, and count as they were sent', async () => {
  const gap = ' '.repeat(60_000)
  const rowOf = (line: string) => headerRows(Buffer.from(line))[0]!
  const signed = (lines: string[], line: string) => {
    const data = signedHeader(lines.map(rowOf), line, 'relaxed')
    return `${line}${sign(null, createHash('sha256').update(data).digest(), keys.ed.privateKey).toString('base64')}`
  }
  const from = 'From: ann@sender.test'
  const bodyHash = createHash('sha256').update('Hi\r\n').digest('base64')
  const tags = `i=1; a=ed25519-sha256; d=sender.test; s=ed; z=a${gap}b;`
  const results = `ARC-Authentication-Results: i=1; ${'x;;'.repeat(20_000)}`
  const message = signed([from], `ARC-Message-Signature: ${tags} c=relaxed/simple; h=from; bh=${bodyHash}; b=`)
  const seal = signed([results, message], `ARC-Seal: ${tags} cv=none; b=`)
  const own = signMail(`${from}\r\n\r\nHi\r\n`, {
    ...{ domain: 'sender.test', key: keys.ed, selector: 'ed', fields: ['from'], tags: `z=a${gap}b` },
  })
  const signature = own.slice(0, own.indexOf(from) - 2)
  const judge = async (results: string) => {
    const dns = new RecordingResolver(zoneResolver(zone), systemClock, 10_000)
    const header = Buffer.from([seal, message, results, signature, from, '', ''].join('\r\n'))
    const { arc, signatures } = await verifySignatures(header, Buffer.from('Hi\r\n'), dns, ARRIVED_AT)
    dns.close()
    return [arc, signatures[0]!.result]
  }
  const before = process.cpuUsage()
  assert.deepEqual(await judge(results), ['pass', 'pass'])
  assert.deepEqual(await judge(`${results}x`), ['fail', 'pass'])
  assert.equal(headerRows(Buffer.from(`a${gap}b\r\n${from}`)).length, 2)
  const { user } = process.cpuUsage(before)
  assert.ok(user < 400_000, `${user} \u00b5s`)
})

test('signed fields that our trace fields would push out of what is displayed vouch for nothing', async () => {
  const judge = async (lines: number) => {
    const mail = `From: ann@sender.test\r\n${'X: y\r\n'.repeat(lines)}Subject: Do not pay\r\n\r\nHi\r\n`
    const text = signMail(mail, { domain: 'sender.test', key: keys.ed, selector: 'ed', fields: ['from', 'subject'] })
    const { verdict, resultsHeader } = await authenticate(Buffer.from(text), arrival(), zoneResolver(zone))
    const stored = addTrace(Buffer.from(text), arrival(), resultsHeader)
    return [verdict.dkim, headerText(readHeaders(stored).fields, 'subject')]
  }
  assert.deepEqual(await judge(920), ['pass', 'Do not pay'])
  assert.deepEqual(await judge(990), ['permerror', null])
})
