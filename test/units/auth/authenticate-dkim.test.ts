// DKIM by real mails and the vectors of others, and ARC by the suite of its working group.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { arcSeal } from '../../../src/auth/arc-seal.ts'
import { authenticate } from '../../../src/auth/authenticate.ts'
import { arrival } from '../../support/arrivals.ts'
import { ed25519Key, rsaKey, signMail } from '../../support/dkim.ts'
import { type Zone, zoneResolver } from '../../support/dns.ts'
import { fixtures, fixturesMissing } from '../../support/fixtures.ts'

/** As SMTP would bring it. */
function crlf(bytes: Uint8Array): Buffer {
  return Buffer.from(Buffer.from(bytes).toString('latin1').replace(/\r?\n/g, '\r\n'), 'latin1')
}

async function judge(bytes: Uint8Array, zone: Zone) {
  return (await authenticate(bytes, arrival(), zoneResolver(zone))).verdict
}

/** Lines of "name record". */
function zoneOfLines(text: string): Zone {
  const zone: Zone = {}
  for (const line of text.split(/\r?\n/)) {
    const [, name, record] = /^([^#\s]\S*)\s+(.*?)\s*$/.exec(line) ?? []
    if (name === undefined || record === undefined || record === 'NXDOMAIN') continue
    if (record.includes('timed out')) zone[name.toLowerCase()] = { error: 'silent' }
    else if (record.includes('SERVFAIL')) zone[name.toLowerCase()] = { error: 'servfail' }
    else zone[name.toLowerCase()] = { TXT: [record === '""' ? '' : record] }
  }
  return zone
}

/** Mail::DKIM takes drafts of 2005 for good; the RFCs that followed do not. */
const NOT_BY_RFC = new Map([['mine_ietf01_3.txt', 'RFC 6376 3.5: v= is missing, and q=dns is no query method']])

test('messages of Mail::DKIM', { skip: fixturesMissing('dkim/mail-dkim') }, async (t) => {
  const folder = fixtures('dkim/mail-dkim')!
  const zone = zoneOfLines(readFileSync(`${folder}/FAKE_DNS.dat`, 'latin1'))
  const rows = readFileSync(`${folder}/expected.tsv`, 'utf8').trim().split('\n').slice(1)
  for (const row of rows) {
    const [file, said, , , , , note] = row.split('\t')
    await t.test(file!, async () => {
      const verdict = await judge(crlf(readFileSync(`${folder}/${file}`)), zone)
      // The note names what RFC 8301 forbids: rsa-sha1, and keys shorter than 1024 bits.
      const good = said === 'pass' && !note && !NOT_BY_RFC.has(file!)
      assert.equal(verdict.dkim === 'pass', good, JSON.stringify(verdict.signatures))
      assert.ok(good || ['fail', 'neutral', 'permerror'].includes(verdict.dkim), verdict.dkim)
    })
  }
})

/** What our verdict is where it is not simply that both programs of oracles.tsv verify the signature. */
const OTHERS = new Map([
  ['dkim/added_header-from.eml', { dkim: 'pass', fromAligned: false, dmarc: 'permerror' }],
  // The signature is good, but the To field that is shown is another one than it covers (RFC 6376 8.15).
  ['dkim/added_header-to.eml', { dkim: 'pass', fromAligned: false, dmarc: 'none' }],
  ['dkim/alignment-from_not_in_sdid.eml', { dkim: 'pass', fromAligned: false, dmarc: 'none' }],
  ['rfc6376-A.2-body_modified.eml', { dkim: 'fail', fromAligned: false, dmarc: 'none' }],
])

test('messages of dkim_verifier', { skip: fixturesMissing('dkim/dkim_verifier') }, async (t) => {
  const folder = fixtures('dkim/dkim_verifier')!
  const records = JSON.parse(readFileSync(`${folder}/dns-txt.json`, 'utf8')) as Record<string, string>
  const zone: Zone = {}
  for (const [name, record] of Object.entries(records)) zone[name.toLowerCase()] = { TXT: [record] }
  const oracles = new Map<string, string>()
  for (const row of readFileSync(fixtures('dkim/oracles.tsv')!, 'utf8').trim().split('\n')) {
    const [file, dkimpy] = row.split('\t')
    oracles.set(file!, dkimpy!)
  }
  const files = (readdirSync(folder, { recursive: true }) as string[]).filter((name) => name.endsWith('.eml'))
  assert.ok(files.length >= 24, String(files.length))
  for (const file of files) {
    await t.test(file, async () => {
      const { dkim, dmarc, fromAligned } = await judge(crlf(readFileSync(`${folder}/${file}`)), zone)
      const other = OTHERS.get(file)
      if (other) assert.deepEqual({ dkim, fromAligned, dmarc }, other)
      else if (oracles.get(`dkim_verifier/${file}`) === '-') assert.deepEqual([dkim, fromAligned], ['none', false])
      else assert.deepEqual([dkim, fromAligned], ['pass', true])
    })
  }
})

test('messages of mail-auth, DKIM and ARC', { skip: fixturesMissing('dkim/mail-auth') }, async () => {
  const files = readdirSync(fixtures('dkim/mail-auth')!).map((name) => `dkim/mail-auth/${name}`)
  for (const file of [...files, 'arc/mail-auth/002.txt']) {
    const text = crlf(readFileSync(fixtures(file)!)).toString('latin1')
    const split = text.indexOf('\r\n\r\n')
    const verdict = await judge(Buffer.from(text.slice(split + 4), 'latin1'), zoneOfLines(text.slice(0, split)))
    // Its signature has expired.
    assert.equal(verdict.dkim, file.endsWith('005.txt') ? 'neutral' : 'pass', file)
    if (file.startsWith('arc')) assert.deepEqual([verdict.arc, verdict.arcDomain], ['pass', 'manchego.org'])
  }
})

test('the validation suite of ARC', { skip: fixturesMissing('arc') }, async (t) => {
  interface Suite {
    description: string
    'txt-records': Record<string, string>
    tests: Record<string, { message: string; cv: string }>
  }
  const suites = JSON.parse(readFileSync(fixtures('arc/arc-validation.json')!, 'utf8')) as Suite[]
  for (const suite of suites) {
    const zone: Zone = {}
    for (const [name, record] of Object.entries(suite['txt-records'])) zone[name.toLowerCase()] = { TXT: [record] }
    for (const [name, { message, cv }] of Object.entries(suite.tests)) {
      await t.test(`${suite.description}: ${name}`, async () => {
        const verdict = await judge(crlf(Buffer.from(message)), zone)
        assert.equal(verdict.arc, cv === '' ? 'fail' : cv.toLowerCase())
      })
    }
  }
})

const ARC_SOURCE = 'From: Ann <ann@sender.test>\r\nSubject: Chains\r\n\r\nHello.\r\n'

/** The message with one ARC set for each host, of the state that host found the chain in. */
async function chained(...states: string[]): Promise<string> {
  let mail = ARC_SOURCE
  for (const [at, state] of states.entries()) {
    const { privateKey } = ARC_KEY
    const key = { domain: `h${at + 1}.test`, selector: 's1', algorithm: 'rsa-sha256' as const, privateKey }
    const results = `mx.h${at + 1}.test; spf=pass; arc=${state}`
    mail = (await arcSeal(Buffer.from(mail, 'latin1'), { ...key, results, now: Date.UTC(2026, 10, 20) })) + mail
  }
  return mail
}

const ARC_KEY = rsaKey()
const ARC_ZONE: Zone = Object.fromEntries(
  [1, 2, 3].map((at) => [`s1._domainkey.h${at}.test`, { TXT: [ARC_KEY.record] }]),
)

/** The message without one field of one set. */
const without = (mail: string, field: string, set: number) =>
  mail.replace(new RegExp(`^ARC-${field}: i=${set};.*\\r\\n(?:[ \\t].*\\r\\n)*`, 'm'), '')

test('chains of our own: what each host sealed holds, and nothing was taken out or changed (RFC 8617)', async () => {
  const [one, two, three] = [
    await chained('none'),
    await chained('none', 'pass'),
    await chained('none', 'pass', 'pass'),
  ]
  const cases: [what: string, mail: string, expected: string][] = [
    ['no set', ARC_SOURCE, 'none'],
    ['one host', one, 'pass'],
    ['two hosts', two, 'pass'],
    ['three hosts', three, 'pass'],
    ['a host that found the chain broken (§5.1.1)', await chained('none', 'fail'), 'fail'],
    ['a body changed behind the last host (§5.2)', `${two}PS\r\n`, 'fail'],
    ['a field changed behind the last host', two.replace('Subject: Chains', 'Subject: Changed'), 'fail'],
    ['results changed in the first set', two.replace('mx.h1.test; spf=pass', 'mx.h1.test; spf=fail'), 'fail'],
    [
      'a seal changed',
      one.replace(/(ARC-Seal: .*?;\s*b=\s*)(.)/s, (_, start, c) => start + (c === 'A' ? 'B' : 'A')),
      'fail',
    ],
    ...['Seal', 'Message-Signature', 'Authentication-Results'].flatMap((field): [string, string, string][] => [
      [`no ${field} in the only set`, without(one, field, 1), 'fail'],
      [`no ${field} in the first of two sets`, without(two, field, 1), 'fail'],
    ]),
    [
      'no second of three sets',
      ['Seal', 'Message-Signature', 'Authentication-Results'].reduce((m, f) => without(m, f, 2), three),
      'fail',
    ],
    ['a set twice (§5.2)', one.slice(0, one.indexOf('From:')) + one, 'fail'],
    ['a set numbered 0 (§4.2.1)', one.replaceAll('i=1;', 'i=0;'), 'fail'],
    ['a set numbered 51 (§4.2.1)', one.replaceAll('i=1;', 'i=51;'), 'fail'],
    ['a first seal that says pass', one.replace('cv=none', 'cv=pass'), 'fail'],
    ['a second seal that says none', two.replace('cv=pass', 'cv=none'), 'fail'],
  ]
  for (const [what, mail, expected] of cases) {
    const verdict = await judge(Buffer.from(mail, 'latin1'), ARC_ZONE)
    assert.equal(verdict.arc, expected, what)
    if (expected === 'pass') assert.equal(verdict.arcDomain, `h${mail.split('ARC-Seal:').length - 1}.test`, what)
  }
  const { 's1._domainkey.h2.test': _, ...withoutKey } = ARC_ZONE
  assert.equal((await judge(Buffer.from(two, 'latin1'), withoutKey)).arc, 'fail', 'a key that is gone')
})

/** RFC 6376 3.4.4 a: white space at the end of a line goes, also where the mail ends without a line break. */
const FLANKER_KEEPS_SPACE = '24'

test('canonical forms of flanker', { skip: fixturesMissing('dkim/flanker-canon') }, async () => {
  const folder = fixtures('dkim/flanker-canon')!
  const key = ed25519Key()
  const zone: Zone = { 's1._domainkey.example.net': { TXT: [key.record] } }
  const read = (name: string) => readFileSync(`${folder}/${name}`, 'latin1')
  for (const file of readdirSync(folder).filter((name) => name.startsWith('email.'))) {
    const number = file.slice(6)
    for (const form of ['simple', 'relaxed'] as const) {
      const expected = read(`${form}.expected.${number}`)
      const split = expected.indexOf('\r\n\r\n')
      const body = number === FLANKER_KEEPS_SPACE && form === 'relaxed' ? '' : expected.slice(split + 4)
      let mail = read(file).replace(/\r?\n/g, '\r\n')
      if (!mail.includes('\r\n\r\n')) mail += '\r\n'
      const fields = expected
        .slice(0, split + 2)
        .split(/\r\n(?![ \t])/)
        .filter((field) => field !== '')
      const signed = signMail(mail, {
        key,
        domain: 'example.net',
        form: `${form}/${form}`,
        body: Buffer.from(body, 'latin1'),
        lines: fields,
      })
      const verdict = await judge(Buffer.from(signed, 'latin1'), zone)
      assert.equal(verdict.dkim, 'pass', `${form} ${number}: ${JSON.stringify(verdict.signatures)}`)
    }
  }
})

const MAIL = [
  'From: Ann <ann@sender.test>',
  'To: bob@house.test',
  'Subject: hello',
  'Date: Fri, 20 Nov 2026 11:59:00 +0000',
  'Message-ID: <1@sender.test>',
  '',
  'Hello Bob,',
  '',
  'nothing new.',
  '',
].join('\r\n')

test('what a second signer signs is verified, and what it must not sign is not', async () => {
  const rsa = rsaKey()
  const ed = ed25519Key()
  const weak = rsaKey(512)
  const old = rsaKey(1024, 'rsa-sha1')
  const zone: Zone = {
    's1._domainkey.sender.test': { TXT: [rsa.record] },
    'ed._domainkey.sender.test': { TXT: [ed.record] },
    'weak._domainkey.sender.test': { TXT: [weak.record] },
    'old._domainkey.sender.test': { TXT: [old.record] },
    'dkim_2048._domainkey.sender.test': { TXT: [rsa.record] },
    'slow._domainkey.sender.test': { error: 'silent' },
    'gone._domainkey.sender.test': { TXT: ['v=DKIM1; p='] },
    'list._domainkey.list.test': { TXT: [rsa.record] },
  }
  const cases: [Partial<Parameters<typeof signMail>[1]>, string, aligned: boolean][] = [
    [{}, 'pass', true],
    [{ key: ed, selector: 'ed' }, 'pass', true],
    // No selector by the letter, yet such keys are published.
    [{ selector: 'dkim_2048' }, 'pass', true],
    [{ key: weak, selector: 'weak' }, 'permerror', true],
    [{ key: old, selector: 'old' }, 'permerror', true],
    [{ selector: 'absent' }, 'neutral', true],
    [{ selector: 'gone' }, 'neutral', true],
    [{ selector: 'slow' }, 'temperror', true],
    [{ selector: 'list', domain: 'list.test' }, 'pass', false],
    [{ tags: 'x=1000' }, 'neutral', true],
    [{ tags: 'i=@else.test' }, 'neutral', true],
    [{ fields: ['to', 'subject'] }, 'neutral', true],
    [{ body: Buffer.from('another body\r\n') }, 'fail', true],
  ]
  for (const [signing, expected, aligned] of cases) {
    const signed = signMail(MAIL, { key: rsa, domain: 'sender.test', ...signing })
    const { dkim, signatures, fromAligned } = await judge(Buffer.from(signed, 'latin1'), zone)
    assert.equal(dkim, expected, JSON.stringify(signatures))
    assert.equal(signatures[0]!.aligned, aligned, JSON.stringify(signatures))
    assert.equal(fromAligned, expected === 'pass' && aligned)
    assert.ok(signatures[0]!.reason.length > 10)
  }
})

test('a signature over the first bytes only aligns nothing', async () => {
  const key = ed25519Key()
  const zone: Zone = {
    's1._domainkey.sender.test': { TXT: [key.record] },
    '_dmarc.sender.test': { TXT: ['v=DMARC1; p=reject'] },
  }
  const length = Buffer.byteLength('Hello Bob,\r\n\r\nnothing new.\r\n')
  const signed = signMail(MAIL, { key, domain: 'sender.test', tags: `l=${length}` })
  const whole = await judge(Buffer.from(signed, 'latin1'), zone)
  assert.deepEqual([whole.dkim, whole.dmarc, whole.fromAligned], ['pass', 'pass', true])
  const longer = await judge(Buffer.from(`${signed}<h1>Send me money</h1>\r\n`, 'latin1'), zone)
  assert.deepEqual([longer.dkim, longer.dmarc, longer.fromAligned], ['pass', 'fail', false])
  assert.equal(longer.signatures[0]!.aligned, false)
  assert.match(longer.signatures[0]!.reason, /not signed/)
})

test('the best signature counts, and each is shown', async () => {
  const key = ed25519Key()
  const zone: Zone = { 's1._domainkey.sender.test': { TXT: [key.record] } }
  const good = signMail(MAIL, { key, domain: 'sender.test' })
  const both = signMail(good, { key, domain: 'sender.test', selector: 'absent' })
  const verdict = await judge(Buffer.from(both, 'latin1'), zone)
  assert.equal(verdict.dkim, 'pass')
  assert.deepEqual(
    verdict.signatures.map(({ selector, result, algorithm }) => [selector, result, algorithm]),
    [
      ['absent', 'neutral', 'ed25519-sha256'],
      ['s1', 'pass', 'ed25519-sha256'],
    ],
  )
})
