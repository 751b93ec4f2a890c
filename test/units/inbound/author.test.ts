// A property over mutations of the header: nobody gets into the Inbox under a name whose owner asks for refusal.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from '../../../src/config/load.ts'
import { decide } from '../../../src/inbound/decision.ts'
import type { AcceptedRecipient } from '../../../src/inbound/recipients.ts'
import type { MailTransaction, Peer } from '../../../src/inbound/transaction.ts'
import { inspect } from '../../../src/workers/inspect.ts'
import type { Inspection } from '../../../src/workers/inspection.ts'
import { amount } from '../../support/amount.ts'
import { arrival } from '../../support/arrivals.ts'
import { ed25519Key, signMail } from '../../support/dkim.ts'
import { type Zone, zoneResolver } from '../../support/dns.ts'
import { Random } from '../../support/random.ts'

const SEED = Number(process.env.TEST_SEED ?? 13)
const ROUNDS = amount(400, 2000)
const ENVELOPE = 'x@evil.test'

const key = ed25519Key()
const zone: Zone = {
  'good.example': { TXT: ['v=spf1 -all'] },
  '_dmarc.good.example': { TXT: ['v=DMARC1; p=reject'] },
  's1._domainkey.good.example': { TXT: [key.record] },
  'evil.test': { TXT: ['v=spf1 +all'] },
  's1._domainkey.evil.test': { TXT: [key.record] },
}
const resolver = zoneResolver(zone)
// No score leads to Junk: what goes there goes by the rules of the author alone.
const config = loadConfig({ SPAM_JUNK_SCORE: '99', SPAM_REFUSE_SCORE: '100' }, 'no-such-file.json')
const off = { mode: 'off', rules: [] } as const
const friends = { mode: 'allowlist', rules: [{ type: 'allow', pattern: 'good.example' }] } as const

function outcomeOf(inspection: Inspection, mailboxFilter: object = off): string {
  const recipients = [{ policy: { mailboxFilter, domainFilter: off } }] as unknown as AcceptedRecipient[]
  const transaction = { sender: { address: ENVELOPE }, recipients } as MailTransaction
  const peer = { helo: 'mx.evil.test', name: { name: 'mx.evil.test' } } as Peer
  const { refusal, junk } = decide({ ...transaction, inspection, peer }, { config, namesOwnDomain: false })
  return refusal ? (refusal.reason ?? 'refused') : junk ? 'junk' : 'inbox'
}

async function looked(mail: string): Promise<Inspection> {
  return inspect(Buffer.from(mail, 'latin1'), arrival({ mailFrom: ENVELOPE }), resolver)
}

const VICTIM = 'ceo@good.example'
/** What From values are put together from. Characters up to U+00FF are one byte each. */
const PIECES = [
  ...[VICTIM, VICTIM, `<${VICTIM}>`, ENVELOPE, `<${ENVELOPE}>`, 'ceo', '@', 'good', '.', 'example', 'evil.test', 'Ann'],
  ...[
    '"',
    '(',
    ')',
    '<',
    '>',
    ',',
    ';',
    ':',
    '\\',
    ' ',
    '  ',
    '\t',
    '\r\n ',
    '\r\n\t',
    '\r\n \r\n ',
    '"Ann"',
    '(Ann)',
    'A:',
    ';',
  ],
  ...[
    '=?utf-8?Q?ceo=40good=2Eexample?=',
    `=?utf-8?B?${Buffer.from(`<${VICTIM}>`).toString('base64')}?=`,
    `=?utf-8?Q?<${VICTIM}>?=`,
  ],
  ...[
    '\x01',
    '\x0b',
    '\x7f',
    '\xa0',
    '\xc2\xad',
    '\xe2\x80\x8b',
    '\xef\xbc\xa0',
    '@evil.test:',
    '"<',
    '>"',
    '(<',
    '>)',
    '\\"',
    '\\>',
  ],
]
/** Lines that are put between the fields. */
const LINES = [
  ...[
    'no field',
    'From x',
    '--',
    '--b',
    'X: y',
    ' folded',
    '\tFrom: a@b.test',
    '>From: a@b.test',
    ':',
    ': x',
    'From',
    'From\r\n ',
  ],
  ...[
    `From : ${ENVELOPE}`,
    `from:${ENVELOPE}`,
    `From\r\n : ${VICTIM}`,
    `From\xa0: ${VICTIM}`,
    `Sender: ${VICTIM}`,
    `Resent-From: ${VICTIM}`,
  ],
  ...[
    `X-Pad:${' '.repeat(257)}y`,
    `X: ${'y'.repeat(70_000)}`,
    `${'X: y\r\n'.repeat(990)}X: y`,
    'Return-Path: <a@b.test>',
    ' \r\n',
  ],
  ...[
    'Authentication-Results: mx.house.test; dmarc=pass',
    'DKIM-Signature: v=1; d=good.example; s=a..b; h=from; bh=AA==; b=AA==',
  ],
  `DKIM-Signature: v=1; a=ed25519-sha256; d=good.example; s=${'s'.repeat(64)}; h=from; bh=AA==; b=AA==`,
]

function drawn(random: Random): string {
  const pieces = Array.from({ length: 1 + random.below(6) }, () => random.pick(PIECES))
  const plain = [VICTIM, ENVELOPE, `Ann <${ENVELOPE}>`, `"${VICTIM}" <${ENVELOPE}>`]
  const from = `From: ${random.chance(0.2) ? random.pick(plain) : pieces.join('')}`
  const fields = [
    from,
    'To: bob@house.test',
    'Subject: hello',
    'Date: Fri, 20 Nov 2026 12:00:00 +0000',
    'Message-ID: <1@x>',
  ]
  if (random.chance(0.1)) fields.unshift(`From: ${random.pick(plain)}`)
  if (random.chance(0.4)) fields.splice(random.below(fields.length), 0, random.pick(LINES))
  const mail = `${fields.join('\r\n')}\r\n\r\nHello\r\n`
  return random.chance(0.2) ? signMail(mail, { key, domain: 'evil.test', fields: ['from'] }) : mail
}

/** Readers of other makes: what each of them would show as the author's domains. */
const READERS: ((from: string) => string[])[] = [
  (from) => [...from.matchAll(/<([^<>]*)>/g)].map(([, inside]) => inside!).slice(-1),
  (from) => [from.replace(/\s|\([^()]*\)/g, '')],
  (from) => from.split(/[,;]/),
  (from) => [
    from
      .replace(/"[^"]*"/g, '')
      .replace(/.*</s, '')
      .replace(/>.*/s, ''),
  ],
]

test('a shown author whose domain says reject and that nothing vouches for never reaches the Inbox', async (t) => {
  const random = new Random(SEED)
  const counts = new Map<string, number>()
  for (let round = 0; round < ROUNDS; round++) {
    const mail = drawn(random)
    const inspection = await looked(mail)
    const { verdict, message: shown } = inspection
    const outcome = outcomeOf(inspection)
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
    const what = `seed ${SEED}, round ${round}: ${JSON.stringify(mail.slice(0, 400))} shows ${JSON.stringify(shown.from)}`
    const domains = shown.from.map(({ email }) => email.slice(email.lastIndexOf('@') + 1).toLowerCase())
    // Nobody could have proved it: the only host that sends for good.example is none.
    assert.notEqual(outcomeOf(inspection, friends), 'inbox', what)
    assert.ok(!(verdict.fromAligned && verdict.authorProblem), what)
    if (verdict.fromAligned) assert.deepEqual(domains, ['evil.test'], what)
    if (outcome !== 'inbox') continue
    assert.deepEqual(domains, [verdict.fromDomain], what)
    assert.notEqual(verdict.fromDomain, 'good.example', what)
    const text = /^from[ \t]*:((?:.|\r\n[ \t])*)/im.exec(mail)![1]!.replace(/\r\n/g, '')
    for (const reader of READERS) {
      // The last word of what a reader takes for an address; names in quotes are none.
      const read = reader(text.replace(/"(?:[^"\\]|\\.)*"(?!@)|=\?\S*\?=/gs, '')).map((address) => address.trim())
      if (/\s/.test(read.join(''))) continue
      for (const address of read) assert.doesNotMatch(address, /@good\.example[.\s]*$/i, what)
    }
  }
  t.diagnostic(JSON.stringify(Object.fromEntries(counts)))
  for (const outcome of ['inbox', 'junk', 'dmarc_reject']) assert.ok(counts.get(outcome)! > ROUNDS / 50, outcome)
})

test('of a message that counts as authenticated, what is shown is what was signed', async (t) => {
  const random = new Random(SEED)
  const original = [
    ...[`From: ${VICTIM}`, 'To: bob@house.test', 'Subject: hello', 'Date: Fri, 20 Nov 2026 12:00:00 +0000'],
    ...['Message-ID: <1@good.example>', 'Content-Type: text/plain', '', 'Hello', ''],
  ].join('\r\n')
  const seenIn = ({ message: mail }: Inspection) => ({
    from: mail.from,
    to: mail.to,
    ...{
      subject: mail.subject,
      sentAt: mail.sentAt,
      messageId: mail.messageId,
      preview: mail.preview,
      html: mail.htmlPart,
    },
  })
  const expected = seenIn(await looked(original))
  const added = [
    ...[
      'Subject: pay now',
      'subject : pay now',
      'Subject\r\n : pay now',
      'To: eve@evil.test',
      'Date: Sat, 21 Nov 2026 12:00:00 +0000',
    ],
    ...[
      'Message-ID: <2@evil.test>',
      `From: ${ENVELOPE}`,
      'Content-Type: text/html',
      'Content-Type: multipart/mixed; boundary=Hello',
    ],
    ...[
      'Subject: hello',
      'X: y',
      'no field',
      ' folded',
      'Received: from a by b; Fri, 20 Nov 2026 12:00:00 +0000',
      'Content-Transfer-Encoding: base64\r\nContent-Transfer-Encoding: 7bit',
    ],
  ]
  const names = ['from', 'to', 'subject', 'date', 'message-id', 'content-type', 'content-transfer-encoding']
  let vouched = 0
  for (let round = 0; round < ROUNDS / 5; round++) {
    const fields = [...names, ...random.some(names, 0.2)]
    const lines = signMail(original, { key, domain: 'good.example', fields }).split(/\r\n(?![ \t])/)
    for (let count = random.below(3); count > 0; count--) lines.splice(random.below(8), 0, random.pick(added))
    const inspection = await looked(lines.join('\r\n'))
    const { verdict } = inspection
    if (!verdict.fromAligned) assert.notEqual(outcomeOf(inspection), 'inbox')
    else assert.deepEqual(seenIn(inspection), expected, `seed ${SEED}, round ${round}: ${JSON.stringify(lines)}`)
    vouched += Number(verdict.fromAligned)
  }
  t.diagnostic(`${vouched} count as authenticated`)
  assert.ok(vouched > ROUNDS / 50)
})
