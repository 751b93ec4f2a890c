// What the score makes of ordinary mail, of forwarded mail and of spam; each weight by name.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuthVerdict, MessageTraits, ParsedMessage } from '../../../src/mime/message.ts'
import type { SenderCircumstances } from '../../../src/spam/facts/sender.ts'
import { scoreSpam } from '../../../src/spam/score.ts'

const JUNK = 5

interface Given {
  verdict?: Partial<AuthVerdict>
  traits?: Partial<MessageTraits>
  mail?: Partial<ParsedMessage>
  helo?: string
  hasReverseName?: boolean
  trustedForwarder?: boolean
  namesOwnDomain?: boolean
}

function facts(given: Given): SenderCircumstances {
  const verdict = { spf: 'pass', dkim: 'pass', dmarc: 'pass', dmarcPolicy: 'none', arc: 'none', ...given.verdict }
  const traits: MessageTraits = {
    fromFields: 1,
    fromAddresses: 1,
    hasDate: true,
    hasMessageId: true,
    dateSkewMs: 0,
    receivedCount: 1,
    repeatedFields: [],
    subjectAllCaps: false,
    suspectLinks: [],
    htmlOnly: false,
    mismatchedLinks: 0,
    isList: false,
    autoSubmitted: false,
    wantsNoAnswer: false,
    ...given.traits,
  }
  const mail = { parsed: true, from: [{ email: 'ann@out.test', name: 'Ann' }], ...given.mail }
  return {
    verdict: verdict as AuthVerdict,
    traits,
    message: mail as ParsedMessage,
    helo: given.helo ?? 'mx.out.test',
    hasReverseName: given.hasReverseName ?? true,
    trustedForwarder: given.trustedForwarder ?? false,
    namesOwnDomain: given.namesOwnDomain ?? false,
  }
}

/** Without the probability and the details. */
const scored = (given: Given) => {
  const { score, refusalScore, parts } = scoreSpam(facts(given), null)
  return { score, refusalScore, parts: parts.map(({ reason, points }) => ({ reason, points })) }
}
const score = (given: Given) => scoreSpam(facts(given), null).score
const reasons = (given: Given) => scoreSpam(facts(given), null).parts.map(({ reason }) => reason)

const nothing = { spf: 'none', dkim: 'none', dmarc: 'none', dmarcPolicy: '' } as const

test('authenticated mail has no points', () => {
  assert.deepEqual(scored({}), { score: 0, refusalScore: 0, parts: [] })
})

test('plain mail of a small host without any authentication goes to the Inbox', () => {
  const given = { verdict: nothing, helo: 'laptop', hasReverseName: false }
  assert.deepEqual(reasons(given), ['spf_none', 'dkim_none', 'helo_not_a_name', 'no_reverse_name'])
  assert.equal(score(given), 2)
  assert.equal(score({ ...given, traits: { hasMessageId: false, hasDate: false } }), 3.5)
})

test('forwarded mail goes to the Inbox', () => {
  assert.equal(score({ verdict: { spf: 'fail', dkim: 'fail', dmarc: 'none', dmarcPolicy: '' } }), 3)
  assert.equal(score({ verdict: { spf: 'fail' } }), 0, 'an aligned signature vouches for it')
  const broken = { spf: 'fail', dkim: 'fail', dmarc: 'fail', dmarcPolicy: 'reject' } as const
  assert.equal(score({ verdict: broken, trustedForwarder: true }), 0)
})

test('a domain that asks for quarantine gets it', () => {
  const given = { verdict: { spf: 'none', dkim: 'none', dmarc: 'fail', dmarcPolicy: 'quarantine' } } as const
  assert.deepEqual(reasons(given), ['dmarc_quarantine', 'spf_none', 'dkim_none'])
  assert.equal(score(given), 6)
})

test('the usual spam gets to Junk', () => {
  const given: Given = {
    verdict: { spf: 'fail', dkim: 'none', dmarc: 'fail', dmarcPolicy: 'none' },
    traits: { suspectLinks: ['bit.ly'] },
  }
  assert.deepEqual(reasons(given), ['spf_fail', 'dmarc_fail', 'url_shortener', 'dkim_none'], 'the heaviest first')
  assert.equal(score(given), 5.5)
})

test('a DNS that failed is held against nobody', () => {
  assert.deepEqual(reasons({ verdict: { spf: 'temperror', dkim: 'temperror', dmarc: 'temperror' } }), [])
})

test('an author that is not clear, and a domain of ours without proof, lead to Junk by themselves', () => {
  const unclear = { spf: 'pass', dkim: 'pass', dmarc: 'permerror', authorProblem: 'There are two.' } as const
  assert.deepEqual(reasons({ verdict: unclear, trustedForwarder: true }), ['author_unclear'])
  assert.deepEqual(reasons({ verdict: { dmarc: 'none' }, namesOwnDomain: true }), ['own_domain_unproven'])
  assert.equal(score({ verdict: unclear }), JUNK)
  assert.equal(score({ verdict: { dmarc: 'none' }, namesOwnDomain: true }), JUNK)
})

const DAY = 86_400_000
/** Mail without a DMARC result whose DKIM signature verifies: what differs has the points alone. */
const unjudged = { spf: 'pass', dkim: 'pass', dmarc: 'none', dmarcPolicy: '' } as const
/** Each rule by itself, with its points. */
const weights: [string, Given, string, points: number][] = [
  ['SPF refuses', { verdict: { ...unjudged, spf: 'fail' } }, 'spf_fail', 2],
  ['SPF doubts', { verdict: { ...unjudged, spf: 'softfail' } }, 'spf_softfail', 1],
  ['broken SPF record', { verdict: { ...unjudged, spf: 'permerror' } }, 'spf_permerror', 0.5],
  ['no SPF record', { verdict: { ...unjudged, spf: 'none' } }, 'spf_none', 0.5],
  ['SPF says nothing', { verdict: { ...unjudged, spf: 'neutral' } }, 'spf_none', 0.5],
  ['a broken signature', { verdict: { ...unjudged, dkim: 'fail' } }, 'dkim_fail', 1],
  ['a signature that cannot be checked', { verdict: { ...unjudged, dkim: 'permerror' } }, 'dkim_fail', 1],
  ['no signature', { verdict: { ...unjudged, dkim: 'none' } }, 'dkim_none', 0.5],
  ['DMARC for reports', { verdict: { ...unjudged, dmarc: 'fail', dmarcPolicy: 'none' } }, 'dmarc_fail', 2],
  ['HELO of one word', { helo: 'laptop' }, 'helo_not_a_name', 0.5],
  ['no reverse name', { hasReverseName: false }, 'no_reverse_name', 0.5],
  ['no From', { traits: { fromFields: 0, fromAddresses: 0 } }, 'from_missing', 2],
  ['two From fields', { traits: { fromFields: 2, fromAddresses: 2, repeatedFields: ['from'] } }, 'from_repeated', 4],
  ['two From addresses', { traits: { fromAddresses: 2 } }, 'from_many', 1.5],
  ['no Date', { traits: { hasDate: false, dateSkewMs: null } }, 'date_missing', 1],
  ['a Date to come', { traits: { dateSkewMs: 2 * DAY } }, 'date_future', 1.5],
  ['an old Date', { traits: { dateSkewMs: -30 * DAY } }, 'date_past', 0.5],
  ['no Message-ID', { traits: { hasMessageId: false } }, 'message_id_missing', 0.5],
  ['two Subjects', { traits: { repeatedFields: ['subject'] } }, 'headers_repeated', 1],
  ['many repeated fields', { traits: { repeatedFields: ['subject', 'date', 'to'] } }, 'headers_repeated', 2],
  ['capitals', { traits: { subjectAllCaps: true } }, 'subject_capitals', 0.5],
  ['not parsed', { mail: { parsed: false } }, 'not_parsed', 1],
  ['a link to an address', { traits: { suspectLinks: ['[2001:db8::1]'] } }, 'url_address', 1.5],
  ['a short link', { traits: { suspectLinks: ['bit.ly'] } }, 'url_shortener', 1],
  ['a link that pretends', { traits: { mismatchedLinks: 3 } }, 'url_mismatch', 1],
  ['nothing to read', { traits: { htmlOnly: true } }, 'no_text', 1],
  [
    'a name that is another address',
    { mail: { from: [{ email: 'x@evil.test', name: 'ann@bank.test' }] } },
    'name_is_other_address',
    2,
  ],
]
for (const [what, given, reason, points] of weights) {
  test(`${what}: ${reason} with ${points} points, not enough for Junk by itself`, () => {
    assert.deepEqual(scored(given), {
      score: points,
      refusalScore: points,
      parts: [{ reason, points }],
    })
    assert.ok(points < JUNK)
  })
}

test('a name that is the own address, or one of a host below, is none', () => {
  assert.deepEqual(reasons({ mail: { from: [{ email: 'ann@out.test', name: 'ann@out.test' }] } }), [])
  assert.deepEqual(reasons({ mail: { from: [{ email: 'ann@news.out.test', name: 'ann@out.test' }] } }), [])
})

test('an address in brackets is a proper HELO', () => {
  assert.deepEqual(reasons({ helo: '[192.0.2.1]' }), [])
})
