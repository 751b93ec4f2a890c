// Sender filters: storage as a whole, concurrent writers, and decisions row by row (docs/design/directory.md §5.4, §5.5).

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { conflict } from '../../../src/base/errors.ts'
import {
  evaluateFilters,
  type FilterInput,
  type FilterRule,
  type FilterState,
  RULES_MAX,
  SENDERS_MAX,
} from '../../../src/directory/domains/filters.ts'
import { failure, openTestDirectory, type TestDirectory } from '../../support/directory.ts'

const allow = (pattern: string): FilterRule => ({ type: 'allow', pattern })
const deny = (pattern: string): FilterRule => ({ type: 'deny', pattern })
const off: FilterState = { mode: 'off', rules: [] }
const allowlist = (...rules: FilterRule[]): FilterState => ({ mode: 'allowlist', rules })
const denylist = (...rules: FilterRule[]): FilterState => ({ mode: 'denylist', rules })

const FRIEND = 'friend@good.example'
const STRANGER = 'who@other.example'
const SPAMMER = 'spam@bad.example'

type Row = [
  what: string,
  mailbox: FilterState,
  domain: FilterState,
  from: string | string[],
  expected: { accept: boolean; scope: 'mailbox' | 'domain' | null; rule?: FilterRule },
  more?: Partial<FilterInput>,
]

const M = 'mailbox' as const
const D = 'domain' as const
const everything = [allow(FRIEND), deny(SPAMMER)]
const rows: Row[] = [
  ['nothing set', off, off, STRANGER, { accept: true, scope: null }],
  [
    'rules kept but off',
    { mode: 'off', rules: [deny(STRANGER)] },
    { mode: 'off', rules: [deny(STRANGER)] },
    STRANGER,
    { accept: true, scope: null },
  ],

  ['domain allowlist, allowed', off, allowlist(allow(FRIEND)), FRIEND, { accept: true, scope: D, rule: allow(FRIEND) }],
  ['domain allowlist, not named', off, allowlist(allow(FRIEND)), STRANGER, { accept: false, scope: D }],
  ['domain allowlist, empty', off, allowlist(), FRIEND, { accept: false, scope: D }],
  [
    'domain allowlist, allowed and denied',
    off,
    allowlist(allow('@good.example'), deny(FRIEND)),
    FRIEND,
    { accept: false, scope: D, rule: deny(FRIEND) },
  ],
  ['domain denylist, denied', off, denylist(deny(SPAMMER)), SPAMMER, { accept: false, scope: D, rule: deny(SPAMMER) }],
  ['domain denylist, not named', off, denylist(deny(SPAMMER)), STRANGER, { accept: true, scope: D }],
  ['domain denylist, empty', off, denylist(), STRANGER, { accept: true, scope: D }],
  [
    'domain denylist, denied and allowed',
    off,
    denylist(deny('@bad.example'), allow(SPAMMER)),
    SPAMMER,
    { accept: true, scope: D, rule: allow(SPAMMER) },
  ],

  [
    'mailbox allowlist over domain denylist',
    allowlist(allow(FRIEND)),
    denylist(deny(FRIEND)),
    FRIEND,
    { accept: true, scope: M, rule: allow(FRIEND) },
  ],
  ['mailbox allowlist without a match is final', allowlist(allow(FRIEND)), off, STRANGER, { accept: false, scope: M }],
  [
    'mailbox allowlist without a match, domain allows',
    allowlist(allow(FRIEND)),
    allowlist(allow(STRANGER)),
    STRANGER,
    { accept: false, scope: M },
  ],
  [
    'mailbox allowlist, denied',
    allowlist(...everything),
    off,
    SPAMMER,
    { accept: false, scope: M, rule: deny(SPAMMER) },
  ],
  [
    'mailbox denylist, denied',
    denylist(deny(SPAMMER)),
    allowlist(allow(SPAMMER)),
    SPAMMER,
    { accept: false, scope: M, rule: deny(SPAMMER) },
  ],
  [
    'mailbox denylist, allowed over domain denylist',
    denylist(...everything),
    denylist(deny(FRIEND)),
    FRIEND,
    { accept: true, scope: M, rule: allow(FRIEND) },
  ],
  [
    'mailbox denylist, allowed over domain allowlist',
    denylist(allow(FRIEND)),
    allowlist(),
    FRIEND,
    { accept: true, scope: M, rule: allow(FRIEND) },
  ],
  [
    'mailbox denylist without a match, domain decides to block',
    denylist(deny(SPAMMER)),
    denylist(deny(STRANGER)),
    STRANGER,
    { accept: false, scope: D, rule: deny(STRANGER) },
  ],
  [
    'mailbox denylist without a match, domain allowlist',
    denylist(deny(SPAMMER)),
    allowlist(allow(FRIEND)),
    STRANGER,
    { accept: false, scope: D },
  ],
  ['mailbox denylist without a match, domain off', denylist(deny(SPAMMER)), off, STRANGER, { accept: true, scope: M }],
  [
    'mailbox off, domain decides',
    off,
    denylist(deny(STRANGER)),
    STRANGER,
    { accept: false, scope: D, rule: deny(STRANGER) },
  ],

  [
    'a block by the envelope sender',
    off,
    denylist(deny(SPAMMER)),
    FRIEND,
    { accept: false, scope: D, rule: deny(SPAMMER) },
    { envelopeFrom: SPAMMER },
  ],
  [
    'no allowance by the envelope sender',
    off,
    allowlist(allow(FRIEND)),
    STRANGER,
    { accept: false, scope: D },
    { envelopeFrom: FRIEND },
  ],
  [
    'an allowance whatever the envelope sender',
    off,
    allowlist(allow(FRIEND)),
    FRIEND,
    { accept: true, scope: D, rule: allow(FRIEND) },
    { envelopeFrom: STRANGER },
  ],
  [
    'no allowance when DMARC fails',
    off,
    allowlist(allow(FRIEND)),
    FRIEND,
    { accept: false, scope: D },
    { dmarcFailed: true },
  ],
  [
    'no exception from a denylist when DMARC fails',
    off,
    denylist(deny('@good.example'), allow(FRIEND)),
    FRIEND,
    { accept: false, scope: D, rule: deny('@good.example') },
    { dmarcFailed: true },
  ],
  [
    'a block although DMARC fails',
    off,
    denylist(deny(SPAMMER)),
    SPAMMER,
    { accept: false, scope: D, rule: deny(SPAMMER) },
    { dmarcFailed: true },
  ],
  [
    'an unauthenticated friend falls through to the domain',
    denylist(allow(FRIEND)),
    denylist(deny(FRIEND)),
    FRIEND,
    { accept: false, scope: D, rule: deny(FRIEND) },
    { dmarcFailed: true },
  ],
  ['the null sender', off, denylist(deny(SPAMMER)), STRANGER, { accept: true, scope: D }, { envelopeFrom: '' }],
  [
    'the null sender of an allowed From',
    off,
    allowlist(allow(FRIEND)),
    FRIEND,
    { accept: true, scope: D, rule: allow(FRIEND) },
    { envelopeFrom: null },
  ],
  [
    'no From at all',
    off,
    allowlist(allow('*@good.example')),
    [],
    { accept: false, scope: D },
    { envelopeFrom: FRIEND },
  ],
  [
    'two Froms are never allowed',
    off,
    allowlist(allow('@good.example')),
    [FRIEND, 'b@good.example'],
    { accept: false, scope: D },
  ],
  [
    'the second From can be blocked',
    off,
    denylist(deny(SPAMMER)),
    [FRIEND, SPAMMER],
    { accept: false, scope: D, rule: deny(SPAMMER) },
  ],
  ['a From that is no address', off, allowlist(allow('@good.example')), 'nonsense', { accept: false, scope: D }],
  [
    'the first rule that matches is told',
    off,
    denylist(deny('@bad.example'), deny(SPAMMER)),
    SPAMMER,
    { accept: false, scope: D, rule: deny('@bad.example') },
  ],
]

describe('evaluation', () => {
  for (const [what, mailboxFilter, domainFilter, from, expected, more] of rows) {
    it(what, () => {
      const headerFrom = [from].flat()
      const facts = { mailboxFilter, domainFilter, headerFrom, envelopeFrom: null, dmarcFailed: false, ...more }
      const { accept, scope, mode, rule } = evaluateFilters(facts)
      assert.deepEqual({ accept, scope, rule }, { rule: null, ...expected })
      assert.equal(mode, scope === null ? 'off' : (scope === 'mailbox' ? mailboxFilter : domainFilter).mode)
    })
  }

  it(`evaluates ${SENDERS_MAX} From addresses`, () => {
    const crowd = Array.from({ length: SENDERS_MAX }, (_, i) => `a${i}@other.example`)
    const judge = (headerFrom: string[]) =>
      evaluateFilters({
        mailboxFilter: off,
        domainFilter: denylist(deny(SPAMMER)),
        headerFrom,
        envelopeFrom: null,
        dmarcFailed: false,
      })
    assert.equal(judge([...crowd.slice(1), SPAMMER]).accept, false)
    assert.equal(judge([...crowd, SPAMMER]).accept, true)
  })
})

describe('storage', () => {
  let appliance: TestDirectory
  before(async () => {
    appliance = await openTestDirectory()
  })
  after(() => appliance[Symbol.asyncDispose]())

  it('is off by default', () => {
    assert.deepEqual(appliance.directory.filters.get('mbx_new'), off)
  })

  it('is replaced as a whole, lower-case, without exact duplicates, in order', async () => {
    const { filters } = appliance.directory
    const stored = await filters.put('mbx_a', {
      mode: 'denylist',
      rules: [deny('Z@Example.com'), deny('a@example.com'), deny('z@EXAMPLE.com'), allow('z@example.com')],
    })
    assert.deepEqual(stored, denylist(deny('z@example.com'), deny('a@example.com'), allow('z@example.com')))
    assert.deepEqual(filters.get('mbx_a'), stored)
    const less = await filters.put('mbx_a', { mode: 'off', rules: [deny('b@example.com')] })
    assert.deepEqual(filters.get('mbx_a'), less)
    assert.deepEqual(filters.get('mbx_b'), off)
  })

  it('refuses an invalid pattern and names its index', async () => {
    const { filters } = appliance.directory
    const put = (rules: FilterRule[]) => filters.put('mbx_c', { mode: 'denylist', rules })
    const wrong = failure('validation_error', { field: 'rules.1.pattern', code: 'invalid_format' })
    await assert.rejects(put([deny('a@example.com'), deny('a*b*@example.com')]), wrong)
    await assert.rejects(put([deny('')]), failure('validation_error', { field: 'rules.0.pattern', code: 'too_small' }))
    const long = deny(`a@${'b.'.repeat(200)}example`)
    await assert.rejects(put([long]), failure('validation_error', { field: 'rules.0.pattern', code: 'too_big' }))
    const many = Array.from({ length: 80 }, () => deny('*'))
    await assert.rejects(put(many), (error: { issues: unknown[] }) => error.issues.length === 50)
    assert.deepEqual(filters.get('mbx_c'), off)
  })

  it(`holds ${RULES_MAX} rules and no more`, async () => {
    const rules = Array.from({ length: RULES_MAX }, (_, i) => deny(`a${i}@example.com`))
    const { filters } = appliance.directory
    assert.deepEqual((await filters.put('mbx_d', { mode: 'denylist', rules })).rules, rules)
    const more = { mode: 'denylist' as const, rules: [...rules, deny('more@example.com')] }
    await assert.rejects(filters.put('mbx_d', more), failure('validation_error', { field: 'rules', code: 'too_big' }))
  })

  it('lets one of fifty concurrent writers with the same precondition win', async () => {
    const { filters } = appliance.directory
    const read = JSON.stringify(filters.get('mbx_e'))
    const asked = await Promise.allSettled(
      Array.from({ length: 50 }, (_, i) =>
        filters.put('mbx_e', denylist(deny(`w${i}@example.com`)), (current) => {
          if (JSON.stringify(current) !== read) throw conflict('Resource changed since it was read.')
        }),
      ),
    )
    const won = asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    assert.equal(won.length, 1)
    assert.deepEqual(filters.get('mbx_e'), won[0])
    for (const one of asked) if (one.status === 'rejected') failure('conflict')(one.reason)
  })
})
