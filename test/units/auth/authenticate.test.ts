// The verdict on a mail: when it is aligned, why, how long it may take, and what a forger gets out of it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { authenticate } from '../../../src/auth/authenticate.ts'
import { systemClock } from '../../../src/base/clock.ts'
import { openResolver, type Resolver } from '../../../src/base/resolver.ts'
import type { Arrival } from '../../../src/mime/message.ts'
import { arrival } from '../../support/arrivals.ts'
import { ManualClock } from '../../support/clock.ts'
import { ed25519Key, signMail } from '../../support/dkim.ts'
import { startDns, type Zone, zoneResolver } from '../../support/dns.ts'
import { fixtureJson } from '../../support/fixtures.ts'
import { ATTACKS, type Attack } from '../../vectors/spoofing.ts'

const key = ed25519Key()

function mailFrom(from: string, more = ''): string {
  return `From: ${from}\r\nTo: bob@house.test\r\nSubject: hello\r\n${more}\r\nHello Bob\r\n`
}

async function judge(mail: string | Uint8Array, zone: Zone = {}, given: Partial<Arrival> = {}, resolver?: Resolver) {
  const bytes = typeof mail === 'string' ? Buffer.from(mail, 'latin1') : mail
  const result = await authenticate(bytes, arrival(given), resolver ?? zoneResolver(zone))
  assert.ok(Buffer.byteLength(result.resultsHeader) < 8192, 'the header is bounded')
  for (const line of result.resultsHeader.split('\r\n').slice(1)) {
    assert.match(line, /^ [\x20-\x7e]{1,998}$/, 'each line is plain and folded')
  }
  return { ...result.verdict, header: result.resultsHeader }
}

const ZONE: Zone = {
  'sender.test': { TXT: ['v=spf1 ip4:192.0.2.1 -all'] },
  '_dmarc.sender.test': { TXT: ['v=DMARC1; p=reject; aspf=s'] },
  's1._domainkey.sender.test': { TXT: [key.record] },
}

test('a valid message, against a real name server', async () => {
  await using dns = await startDns(ZONE)
  const resolver = openResolver({ servers: [dns.address], clock: systemClock })
  const mail = signMail(mailFrom('Ann <ann@sender.test>'), { key, domain: 'sender.test' })
  const { header, ...verdict } = await judge(mail, {}, {}, resolver)
  assert.deepEqual(
    { ...verdict, dns: verdict.dns.map(({ name, type }) => `${type} ${name}`).sort() },
    {
      spf: 'pass',
      spfDomain: 'sender.test',
      spfReason: 'domain of ann@sender.test designates 192.0.2.1 as permitted sender',
      dkim: 'pass',
      signatures: [
        {
          domain: 'sender.test',
          selector: 's1',
          algorithm: 'ed25519-sha256',
          result: 'pass',
          reason: 'The signature is valid.',
          aligned: true,
        },
      ],
      dmarc: 'pass',
      dmarcPolicy: 'reject',
      dmarcReason: 'SPF or a DKIM signature is aligned with sender.test.',
      arc: 'none',
      arcDomain: '',
      fromDomain: 'sender.test',
      authorProblem: '',
      fromAligned: true,
      dns: ['TXT _dmarc.sender.test', 'TXT _dmarc.test', 'TXT s1._domainkey.sender.test', 'TXT sender.test'],
    },
  )
  assert.deepEqual(verdict.dns.find(({ name }) => name === 'sender.test')?.answer, 'v=spf1 ip4:192.0.2.1 -all')
  assert.deepEqual(verdict.dns.find(({ name }) => name === '_dmarc.test')?.answer, 'ENOTFOUND')
  assert.equal(
    header,
    [
      'mx.house.test',
      'spf=pass smtp.mailfrom=sender.test',
      'dkim=pass header.d=sender.test header.s=s1 header.a=ed25519-sha256',
      'dmarc=pass (p=reject) header.from=sender.test',
      'arc=none',
    ].join(';\r\n '),
  )
  await resolver.close()
})

test('DMARC: the policy, and what is aligned with it', async () => {
  const signed = (from: string, domain = 'sender.test') => signMail(mailFrom(from), { key, domain })
  const cases: [mail: string, zone: Zone, given: Partial<Arrival>, dmarc: string, policy: string, aligned: boolean][] =
    [
      [mailFrom('ann@sender.test'), ZONE, {}, 'pass', 'reject', true],
      [mailFrom('ann@sender.test'), ZONE, { remoteAddress: '192.0.2.9' }, 'fail', 'reject', false],
      [signed('ann@sender.test'), ZONE, { remoteAddress: '192.0.2.9' }, 'pass', 'reject', true],
      // A subdomain inherits, and relaxed alignment holds for DKIM but not for SPF with aspf=s.
      [signed('ann@news.sender.test'), ZONE, {}, 'pass', 'reject', true],
      [mailFrom('ann@news.sender.test'), ZONE, {}, 'fail', 'reject', false],
      [mailFrom('ann@other.test'), ZONE, {}, 'none', '', false],
      // The null sender is judged by the name in HELO.
      [mailFrom('ann@sender.test'), ZONE, { mailFrom: '', helo: 'sender.test' }, 'pass', 'reject', true],
      [signed('ann@sender.test'), { ...ZONE, '_dmarc.sender.test': { error: 'servfail' } }, {}, 'temperror', '', false],
      [
        mailFrom('ann@sender.test'),
        { ...ZONE, '_dmarc.sender.test': { TXT: ['v=DMARC1; p=reject', 'v=DMARC1; p=none'] } },
        {},
        'none',
        '',
        true,
      ],
    ]
  for (const [mail, zone, given, dmarc, policy, aligned] of cases) {
    const verdict = await judge(mail, zone, given)
    assert.deepEqual([verdict.dmarc, verdict.dmarcPolicy, verdict.fromAligned], [dmarc, policy, aligned], mail)
  }
})

test('without a DMARC record the registered domain decides', async () => {
  const zone: Zone = {
    'bounce.shop.co.uk': { TXT: ['v=spf1 +all'] },
    's1._domainkey.other.co.uk': { TXT: [key.record] },
    's1._domainkey.shop.co.uk': { TXT: [key.record] },
  }
  const mail = mailFrom('ann@shop.co.uk')
  assert.equal((await judge(mail, zone, { mailFrom: 'x@bounce.shop.co.uk' })).fromAligned, true)
  assert.equal((await judge(mail, zone, { mailFrom: 'x@nobody.test' })).fromAligned, false)
  const sign = (domain: string) => signMail(mail, { key, domain })
  assert.equal((await judge(sign('other.co.uk'), zone, { mailFrom: '' })).fromAligned, false)
  assert.equal((await judge(sign('shop.co.uk'), zone, { mailFrom: '' })).fromAligned, true)
})

test('DMARC has not failed while an aligned answer may still come', async () => {
  const slow: Zone = { ...ZONE, 's1._domainkey.sender.test': { error: 'servfail' } }
  const signed = signMail(mailFrom('ann@sender.test'), { key, domain: 'sender.test' })
  const verdict = await judge(signed, slow, { remoteAddress: '192.0.2.9' })
  assert.deepEqual([verdict.dkim, verdict.dmarc, verdict.fromAligned], ['temperror', 'temperror', false])
  // A stranger's signature that cannot be checked changes nothing.
  const strange = signMail(mailFrom('ann@sender.test'), { key, domain: 'stranger.example' })
  const zone: Zone = { ...ZONE, 's1._domainkey.stranger.example': { error: 'servfail' } }
  assert.equal((await judge(strange, zone, { remoteAddress: '192.0.2.9' })).dmarc, 'fail')
})

test('where it is not plain who the author is, nothing is aligned', async () => {
  const signed = signMail(mailFrom('ann@sender.test'), { key, domain: 'sender.test' })
  const mails = [
    `From: eve@evil.test\r\n${signed}`,
    `from : eve@evil.test\r\n${signed}`,
    `From\r\n : eve@evil.test\r\n${signed}`,
    signed.replace('\r\nTo:', '\r\nFrom: ann@sender.test\r\nTo:'),
    mailFrom('ann@sender.test, eve@sender.test'),
    mailFrom('ann@sender.test, eve@evil.test'),
    mailFrom('ann@sender.test@evil.test'),
    mailFrom('"ann@sender.test" <>'),
    mailFrom('ann'),
    mailFrom(''),
    mailFrom('undisclosed:;'),
    mailFrom('ann@sender.test,'.repeat(2000).slice(0, -1)),
    'To: bob@house.test\r\n\r\nno author\r\n',
    'only text',
    '\r\n\r\nonly a body',
    '',
  ]
  for (const mail of mails) {
    const verdict = await judge(mail, ZONE)
    const shown = [verdict.dmarc, verdict.fromAligned, verdict.fromDomain, verdict.dmarcPolicy]
    assert.deepEqual(shown, ['permerror', false, '', ''], mail.slice(0, 100))
    assert.ok(verdict.dmarcReason.length > 10)
  }
})

test('the policy of every domain that an unclear author may have is asked, and the strictest counts', async () => {
  const zone: Zone = {
    'evil.test': { TXT: ['v=spf1 +all'] },
    '_dmarc.good.example': { TXT: ['v=DMARC1; p=reject'] },
    '_dmarc.junk.example': { TXT: ['v=DMARC1; p=quarantine'] },
    '_dmarc.watch.example': { TXT: ['v=DMARC1; p=none'] },
  }
  const plain = mailFrom('ceo@good.example')
  const mails = [
    ...[
      'ceo@good(x).example',
      'ceo @ good . example',
      '<ceo@go od.example>',
      '<ceo@good. example>',
      '<"ceo"@good.example> x@y',
    ],
    ...['x@evil.test\r\n\tceo@good.example', 'x@evil.test\r\n \r\n\tceo@good.example', 'ceo@good.example, x@evil.test'],
    ...[
      'x@evil.test, ceo@good.example',
      'A: ceo@good.example, x@evil.test;',
      'A: ceo@good.example;',
      'A: ceo@good.example',
    ],
    ...[
      '=?utf-8?Q?ceo=40good=2Eexample?=',
      'ceo\\@good.example',
      '<x@evil.test> <ceo@good.example>',
      '"a" "<x@evil.test>, ceo@good.example',
      'ceo@good.example.',
    ],
    ...[
      '<@evil.test:ceo@good.example>',
      'x@evil.test@good.example',
      'ceo@good.example@evil.test',
      '(<x@evil.test>\\) <ceo@good.example>',
    ],
    ...[
      'ceo@watch.example, x@junk.example, ceo@good.example',
      'ceo@g\xc2\xadood.example',
      'ceo@good.\x01example',
      '=?utf-8?Q?<ceo@good.example>,?= <x@evil.test>',
      '<x@evil.test> A: "ceo@good.example"',
    ],
  ].map((from) => mailFrom(from))
  mails.push(
    `From : x@evil.test\r\n${plain}`,
    `From\r\n : ceo@good.example\r\n${mailFrom('x@evil.test')}`,
    `From\xa0: ceo@good.example\r\n${mailFrom('x@evil.test')}`,
    `X: y\r\n--\r\n${plain}`,
    plain.replace('\r\nTo:', '\r\nno field <x@evil.test>\r\nTo:'),
    `${'X: y\r\n'.repeat(1000)}${plain}`,
    `X: ${'y'.repeat(300_000)}\r\n${plain}`,
    mailFrom(`${' '.repeat(70_000)}ceo@good.example`),
  )
  for (const mail of mails) {
    const verdict = await judge(mail, zone, { mailFrom: 'x@evil.test' })
    const shown = [verdict.dmarc, verdict.dmarcPolicy, verdict.fromDomain, verdict.fromAligned]
    assert.deepEqual(shown, ['fail', 'reject', 'good.example', false], JSON.stringify(mail.slice(0, 100)))
    assert.match(verdict.authorProblem, /From/, mail.slice(0, 100))
  }
  // The trace fields stand in front of what is stored: a first line that is no field hides nothing from its reader.
  for (const mail of [`no field\r\n${plain}`, `From x\r\nno field\r\n${plain}`]) {
    assert.equal((await judge(mail, zone, { mailFrom: 'x@evil.test' })).fromDomain, 'good.example')
  }
  const milder = await judge(mailFrom('a@junk.example, b@watch.example'), zone, { mailFrom: 'x@evil.test' })
  assert.deepEqual([milder.dmarc, milder.dmarcPolicy, milder.fromDomain], ['fail', 'quarantine', 'junk.example'])
})

test('a signature that cannot be checked is no pass, and the author is read all the same', async () => {
  const zone: Zone = { ...ZONE, 'evil.test': { TXT: ['v=spf1 +all'] } }
  const signed = signMail(mailFrom('ann@sender.test'), { key, domain: 'sender.test' })
  const pads = [`X-Pad:${' '.repeat(257)}y\r\n`, `X: ${'y'.repeat(70_000)}\r\n`, 'X: y\r\n'.repeat(900)]
  for (const pad of pads) {
    const verdict = await judge(pad + mailFrom('ann@sender.test'), zone, { mailFrom: 'x@evil.test' })
    const shown = [verdict.dmarc, verdict.dmarcPolicy, verdict.fromDomain, verdict.authorProblem]
    assert.deepEqual(shown, ['fail', 'reject', 'sender.test', ''], pad.slice(0, 20))
    // SPF still vouches for it.
    assert.equal((await judge(pad + signed, zone)).fromAligned, true)
  }
  const unread = await judge(pads[0]! + signed, zone, { mailFrom: 'x@evil.test' })
  assert.deepEqual([unread.dkim, unread.dmarc], ['permerror', 'fail'])
  // A key whose name cannot exist is no key; a name server that fails may still have one.
  for (const selector of ['s'.repeat(64), `${'s'.repeat(60)}.`.repeat(4).slice(0, -1)]) {
    const mail = signMail(mailFrom('ann@sender.test'), { key, domain: 'sender.test', selector })
    assert.equal((await judge(mail, zone, { mailFrom: 'x@evil.test' })).dmarc, 'fail')
  }
})

test('an author is clear in every form that mailers write', async () => {
  const froms = [
    ...[
      'ann@sender.test',
      '<ann@sender.test>',
      'Ann <ann@sender.test>',
      '"Ann, B." <ann@sender.test>',
      'ann@sender.test (Ann (the) A)',
    ],
    ...[
      'Smith, Ann <ann@sender.test>',
      'ann@sender.test <ann@sender.test>',
      '"bob@other.test" <ann@sender.test>',
      'Ann ann@sender.test',
    ],
    ...[
      '=?utf-8?Q?Ann=40other=2Etest?= <ann@sender.test>',
      "O'Brien <ann@sender.test>",
      "O\\'Brien <ann@sender.test>",
      '"A \\" B" <ann@sender.test>',
    ],
    ...[
      'A <ann@sender.test>,',
      'ann@sender.test;',
      'A: B <ann@sender.test>',
      '< ann@sender.test >',
      'Jos\xe9 <ann@sender.test>',
      '"ann"@sender.test',
    ],
    ...[
      '=?utf-8?Q?A?=\r\n =?utf-8?Q?B?= <ann@sender.test>',
      'Ann\r\n <ann@sender.test>',
      'a.@sender.test',
      '(Ann) ann@sender.test',
      'Ann = B <a=b@sender.test>',
    ],
  ]
  for (const from of froms) {
    const verdict = await judge(mailFrom(from), ZONE)
    assert.deepEqual([verdict.authorProblem, verdict.fromDomain, verdict.fromAligned], ['', 'sender.test', true], from)
  }
})

test('a field on top of a signed one of its name is not what was signed: nothing vouches for it', async () => {
  const zone: Zone = { ...ZONE, 'evil.test': { TXT: ['v=spf1 +all'] } }
  const given = { mailFrom: 'x@evil.test' }
  const body =
    'To: bob@house.test\r\nSubject: hello\r\nDate: Fri, 20 Nov 2026 12:00:00 +0000\r\nContent-Type: text/plain\r\n\r\nHello\r\n'
  const mail = `From: ann@sender.test\r\n${body}`
  const signed = signMail(mail, { key, domain: 'sender.test' })
  assert.equal((await judge(signed, zone, given)).dmarc, 'pass')
  const added = [
    ...[
      'Subject: pay',
      'subject : pay',
      'Date: Sat, 21 Nov 2026 12:00:00 +0000',
      'To: eve@evil.test',
      'Reply-To: a@b.test\r\nReply-To: c@d.test',
    ],
    ...['Content-Type: text/html', 'Cc: a@b.test\r\nCc: c@d.test', 'Sender: a@b.test\r\nSender: c@d.test'],
  ]
  for (const field of added) {
    const verdict = await judge(`${field}\r\n${signed}`, zone, given)
    assert.deepEqual([verdict.dmarc, verdict.dmarcPolicy, verdict.fromAligned], ['fail', 'reject', false], field)
    assert.match(verdict.signatures[0]!.reason, /repeated/)
    // The host may send for the domain, whatever it repeats.
    assert.equal((await judge(`${field}\r\n${mail}`, zone)).fromAligned, true)
  }
  // Who repeats a field and signs each of them has signed what is shown.
  const both = signMail(`Subject: first\r\n${mail}`, {
    key,
    domain: 'sender.test',
    fields: ['from', 'subject', 'subject'],
  })
  assert.equal((await judge(both, zone, given)).dmarc, 'pass')
  assert.equal((await judge(`X-Other: a\r\nX-Other: b\r\n${signed}`, zone, given)).dmarc, 'pass')
})

test('slow name servers of the sender do not keep the policy from being known', async () => {
  const clock = new ManualClock()
  const zone = zoneResolver(ZONE)
  let waiting = 0
  const resolver: Resolver = {
    ...zone,
    resolve: (name, type) => (name.endsWith('evil.test') ? new Promise(() => waiting++) : zone.resolve(name, type)),
  }
  const mail = signMail(mailFrom('ann@sender.test'), { key, domain: 'evil.test' })
  const judging = authenticate(Buffer.from(mail), arrival({ mailFrom: 'x@evil.test' }), resolver, { clock })
  while (waiting < 2) await new Promise((done) => setImmediate(done))
  clock.advance(10_000)
  const { verdict } = await judging
  assert.deepEqual(
    [verdict.spf, verdict.dkim, verdict.dmarc, verdict.dmarcPolicy],
    ['temperror', 'temperror', 'fail', 'reject'],
  )
})

test('answers that were there at once remain after the deadline', async () => {
  const clock = new ManualClock()
  const zone: Zone = { ...ZONE, 's1._domainkey.other.test': { TXT: [key.record] } }
  const answers = zoneResolver(zone)
  let isCached = true
  let waiting = 0
  let early = 0
  const resolver: Resolver = {
    ...answers,
    resolve: (name, type) => {
      if (name.endsWith('evil.test')) return new Promise(() => waiting++)
      if (!isCached && name.startsWith('_dmarc.')) assert.fail(`${name} is asked again`)
      return answers.resolve(name, type)
    },
    cached: (name) => {
      if (!isCached || !name.startsWith('_dmarc.')) return undefined
      early++
      return name === '_dmarc.sender.test' ? { records: [['v=DMARC1; p=reject; aspf=s']] } : { code: 'ENOTFOUND' }
    },
  }
  const options = { clock }
  // From now on the policy is known.
  await authenticate(Buffer.from(mailFrom('ann@sender.test')), arrival(), resolver, options)
  early = 0
  const mail = Buffer.from(signMail(mailFrom('ann@sender.test'), { key, domain: 'other.test' }))
  const judging = authenticate(mail, arrival({ mailFrom: 'x@evil.test' }), resolver, options)
  while (waiting < 1) await new Promise((done) => setImmediate(done))
  assert.equal(early, 2)
  isCached = false
  clock.advance(10_000)
  const { verdict } = await judging
  assert.deepEqual(
    [verdict.spf, verdict.dkim, verdict.dmarc, verdict.dmarcPolicy],
    ['temperror', 'pass', 'fail', 'reject'],
  )
})

test('spoofing: no message passes for legitimate.com', async (t) => {
  for (const forged of [...ATTACKS, ...fixtureJson<Attack[]>('spoofing/espoofer-cases.json')]) {
    await t.test(forged.id, async () => {
      const { from_header, to_header, subject_header, other_headers, body } = forged.data
      let mail = from_header + to_header + subject_header + other_headers + body
      const zone: Zone = {
        'legitimate.com': { TXT: ['v=spf1 -all'] },
        '_dmarc.legitimate.com': { TXT: ['v=DMARC1; p=reject'] },
      }
      // The forger owns whatever name ends in his domain, and passes all he can.
      const sender = forged.mailfrom.slice(1, -1)
      zone[sender.slice(sender.lastIndexOf('@') + 1)] ??= { TXT: ['v=spf1 +all'] }
      zone[forged.helo] ??= { TXT: ['v=spf1 +all'] }
      zone['attack.com'] = { TXT: ['v=spf1 +all'] }
      if (forged.dkim_para !== undefined) {
        const { d, s } = forged.dkim_para
        zone[`${s}._domainkey.${d}`] = { TXT: [key.record] }
        mail = signMail(mail, { key, domain: d, selector: s, fields: ['from'] })
      }
      const verdict = await judge(mail, zone, { helo: forged.helo, mailFrom: sender })
      const legitimate = /(^|\.)legitimate\.com$/.test(verdict.fromDomain)
      assert.ok(!(legitimate && (verdict.fromAligned || verdict.dmarc === 'pass')), JSON.stringify(verdict))
      assert.doesNotMatch(verdict.header, /(pass)[^;]*(mailfrom|header\.d|header\.from)="?legitimate\.com(?![\w.-])/)
    })
  }
})

test('the check ends at its deadline, and what is open then is temperror', async () => {
  const clock = new ManualClock()
  let asked = 0
  const never: Resolver = {
    resolve: () => new Promise(() => asked++),
    fresh: () => new Promise(() => {}),
    close: async () => {},
  }
  const signed = signMail(mailFrom('ann@sender.test'), { key, domain: 'sender.test' })
  const judging = authenticate(Buffer.from(signed), arrival(), never, { clock })
  while (asked < 3) await new Promise((done) => setImmediate(done))
  clock.advance(10_000)
  const { verdict } = await judging
  assert.deepEqual(
    [verdict.spf, verdict.dkim, verdict.dmarc, verdict.arc, verdict.fromAligned],
    ['temperror', 'temperror', 'temperror', 'none', false],
  )
  // Nothing is asked any more once the time is up.
  assert.equal(asked, 3)
})

test('a term that takes silence for a no does not turn a late answer into a fail', async () => {
  const clock = new ManualClock()
  const zone = zoneResolver({ 'sender.test': { TXT: ['v=spf1 ptr -all'] } })
  let waiting = false
  const resolver: Resolver = {
    ...zone,
    resolve(name, type) {
      if (type !== 'PTR') return zone.resolve(name, type)
      waiting = true
      return new Promise(() => {})
    },
  }
  const judging = authenticate(Buffer.from(mailFrom('ann@sender.test')), arrival(), resolver, { clock })
  while (!waiting) await new Promise((done) => setImmediate(done))
  clock.advance(10_000)
  assert.equal((await judging).verdict.spf, 'temperror')
})

test('at most ten signatures are looked at', async () => {
  const zone: Zone = { ...ZONE }
  let mail = mailFrom('ann@sender.test')
  for (let n = 0; n < 100; n++) {
    zone[`k${n}._domainkey.sender.test`] = { TXT: [key.record] }
    mail = signMail(mail, { key, domain: 'sender.test', selector: `k${n}` })
  }
  const resolver = zoneResolver(zone)
  const verdict = await judge(mail, {}, {}, resolver)
  const keys = resolver.queries.filter(({ name }) => name.includes('_domainkey'))
  // The newest stand first in the header.
  assert.deepEqual(
    keys.map(({ name }) => name.split('.')[0]),
    Array.from({ length: 10 }, (_, n) => `k${99 - n}`),
  )
  assert.equal(verdict.signatures.length, 10)
  assert.equal(verdict.dkim, 'pass')
})

test('thousands of signatures end in a bounded verdict', async () => {
  const longest = `${'d'.repeat(60)}.`.repeat(4)
  for (const [count, line] of [
    [900, 'DKIM-Signature: v=1; a=rsa-sha256; d=x.test; s=s; h=from; bh=AA==; b=AA=='],
    [200, `DKIM-Signature: v=1; a=rsa-sha256; d=${longest}test; s=${longest}test; h=from; bh=AA==; b=AA==`],
    [5000, 'DKIM-Signature: v=1; a=rsa-sha256; d=x.test; s=s; h=from; bh=AA==; b=AA=='],
  ] as const) {
    const resolver = zoneResolver(ZONE)
    const verdict = await judge(`${`${line}\r\n`.repeat(count)}${mailFrom('ann@sender.test')}`, {}, {}, resolver)
    assert.ok(verdict.signatures.length <= 10)
    assert.ok(resolver.queries.length <= 20, `${resolver.queries.length} questions`)
    assert.notEqual(verdict.dkim, 'pass')
    assert.ok(JSON.stringify(verdict).length < 64 * 1024)
  }
})

test('each signature may cover another part of the body', async () => {
  let mail = mailFrom('ann@sender.test')
  for (let n = 0; n < 10; n++) {
    const body = Buffer.from('Hello Bob\r\n').subarray(0, n)
    mail = signMail(mail, { key, domain: 'sender.test', tags: `l=${n}`, body })
  }
  const { signatures } = await judge(mail, ZONE)
  assert.deepEqual(
    signatures.map(({ result, reason }) => [result, /(\d+) bytes/.exec(reason)?.[1]]),
    Array.from({ length: 10 }, (_, n) => ['pass', String(2 + n)]),
  )
})

test('SPF that runs in circles or asks for too much is a permerror after ten questions', async () => {
  const wide: Zone = {
    'sender.test': { TXT: [`v=spf1 ${Array.from({ length: 30 }, (_, n) => `a:a${n}.test`).join(' ')} -all`] },
  }
  for (let n = 0; n < 30; n++) wide[`a${n}.test`] = { A: ['203.0.113.1'] }
  const zones: Zone[] = [
    {
      'sender.test': { TXT: ['v=spf1 include:other.test -all'] },
      'other.test': { TXT: ['v=spf1 include:sender.test -all'] },
    },
    { 'sender.test': { TXT: ['v=spf1 redirect=sender.test'] } },
    wide,
    // Two void lookups are allowed.
    { 'sender.test': { TXT: ['v=spf1 a:x.test a:y.test a:z.test +all'] } },
  ]
  for (const zone of zones) {
    const resolver = zoneResolver(zone)
    assert.equal((await judge('Subject: x\r\n\r\n', {}, {}, resolver)).spf, 'permerror')
    assert.ok(resolver.queries.length <= 12, `${resolver.queries.length} questions`)
  }
})

test('huge records are answered, not believed', async () => {
  const huge = 'x'.repeat(60_000)
  const zone: Zone = {
    'sender.test': { TXT: [`v=spf1 ${'ip4:203.0.113.1 '.repeat(3000)}-all`] },
    '_dmarc.sender.test': { TXT: [`v=DMARC1; p=reject; rua=${huge}`] },
    's1._domainkey.sender.test': { TXT: [`v=DKIM1; p=${huge}`] },
  }
  await using dns = await startDns(zone)
  const resolver = openResolver({ servers: [dns.address], clock: systemClock })
  const verdict = await judge(signMail(mailFrom('ann@sender.test'), { key, domain: 'sender.test' }), {}, {}, resolver)
  assert.deepEqual([verdict.spf, verdict.dkim, verdict.dmarc], ['fail', 'neutral', 'fail'])
  for (const { answer } of verdict.dns) assert.ok(answer.length <= 300)
  await resolver.close()
})

test('malformed messages get a verdict too', async () => {
  const mails = [
    `From: ann@sender.test\r\nSubject: \0\xff\xfe\x80\r\n\xe4: x\r\n\r\nbody`,
    'From: ann@sender.test',
    'From: ann@sender.test\r\n',
    `From: ann@sender.test\r\nX: ${'y'.repeat(1024 * 1024)}\r\n\r\nbody`,
    `From ${' '.repeat(200_000)}x\r\nFrom: ann@sender.test\r\n\r\n`,
    `X: ${' \t'.repeat(30_000)}y\r\nFrom: ann@sender.test\r\n\r\n`,
    `From: ann@sender.test\r\n${'X: y\r\n'.repeat(100_000)}\r\nbody`,
    `From: ann@sender.test\r\nX:${'\r\n y'.repeat(100_000)}\r\n\r\nbody`,
    `From: ${'('.repeat(60_000)}ann@sender.test\r\n\r\n`,
    `From: ${'"'.repeat(60_001)}ann@sender.test\r\n\r\n`,
    `From: ${'a:'.repeat(30_000)}ann@sender.test\r\n\r\n`,
    `From: ${'<'.repeat(60_000)}ann@sender.test\r\n\r\n`,
    `Content-Type: ${'multipart/mixed; boundary="'.repeat(2000)}\r\n${mailFrom('ann@sender.test')}`,
    `DKIM-Signature: ${'='.repeat(60_000)}\r\n${mailFrom('ann@sender.test')}`,
    `DKIM-Signature: ${'a=b;'.repeat(15_000)}\r\n${mailFrom('ann@sender.test')}`,
    `ARC-Seal: i=${'9'.repeat(60_000)}; ${'('.repeat(2000)}\r\n${mailFrom('ann@sender.test')}`,
    `ARC-Authentication-Results: ${'('.repeat(60_000)}\r\n${mailFrom('ann@sender.test')}`,
    '\n'.repeat(1000),
    '\0'.repeat(1000),
  ]
  for (const mail of mails) {
    const verdict = await judge(signMailLoosely(mail), ZONE)
    assert.ok(['pass', 'fail', 'none', 'permerror', 'neutral'].includes(verdict.dkim), mail.slice(0, 60))
    assert.equal(verdict.spf, 'pass')
  }
})

/** With a signature that names everything, so that the verifier reads all of it. */
function signMailLoosely(mail: string): string {
  return `DKIM-Signature: v=1; a=ed25519-sha256; c=relaxed/relaxed; d=sender.test; s=s1; h=from:x:subject:from; bh=AA==; b=AA==\r\n${mail}`
}

test('the results cannot be written by those they are about', async () => {
  const forged = 'x;\r\n dmarc=pass header.from=bank.test'
  const mail = signMailLoosely(mailFrom('ann@sender.test')).replace(
    'd=sender.test; s=s1',
    'd=a(b\\)c"d.test; s=x\t) dkim=pass',
  )
  for (const given of [
    { helo: forged, mailFrom: '' },
    { mailFrom: `${forged}@sender.test` },
    { mailFrom: `ann@${forged}` },
    { mailFrom: 'ann@"; dmarc=pass' },
    { mailFrom: "ann@sender.test' smtp.mailfrom=bank.test" },
    { mailFrom: 'ann@\0' },
  ]) {
    const { header } = await judge(mail, ZONE, given)
    assert.doesNotMatch(header, /bank/)
    assert.equal(header.match(/dkim=/g)?.length, 1)
    assert.equal(header.match(/dmarc=/g)?.length, 1)
    assert.equal(header.split('\r\n').length, 5)
  }
})

test('the evidence is bounded', async () => {
  const zone: Zone = { 'sender.test': { TXT: ['v=spf1 mx ptr -all'], MX: [] } }
  zone['1.2.0.192.in-addr.arpa'] = { PTR: Array.from({ length: 100 }, (_, n) => `p${n}.test`) }
  let mail = mailFrom('ann@sender.test')
  for (let n = 0; n < 10; n++) {
    mail = signMail(mail, { key, domain: `${'d.'.repeat(20)}${n}.sender.test` })
    zone[`s1._domainkey.${'d.'.repeat(20)}${n}.sender.test`] = { TXT: [key.record] }
  }
  zone['_dmarc.sender.test'] = { TXT: ['v=DMARC1; p=reject'] }
  const verdict = await judge(mail, zone)
  assert.ok(verdict.dns.length <= 50)
  assert.ok(verdict.dns.length > 20)
})
