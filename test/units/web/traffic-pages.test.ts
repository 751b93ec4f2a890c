// What the traffic pages compute: changes of sender filters, addresses of an import, rows of a file, answers in words, samples.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { evaluateFilters, type FilterState } from '../../../src/directory/domains/filters.ts'
import { addressesOf } from '../../../web/src/base/csv-addresses.ts'
import { acceptFor, changeFor } from '../../../web/src/base/filter-change.ts'
import { readParts } from '../../../web/src/base/list-parts.ts'
import { webhookSamples } from '../../../web/src/console/webhooks/samples.ts'
import { inShort, inWords, isNoMailbox, outcomeOf } from '../../../web/src/words/en/replies.ts'

describe('letting a sender in', () => {
  const FROM = 'fay@friend.test'
  const OFF: FilterState = { mode: 'off', rules: [] }
  const accepts = (filter: FilterState, envelopeFrom: string) =>
    evaluateFilters({ mailboxFilter: filter, domainFilter: OFF, headerFrom: [FROM], envelopeFrom, dmarcFailed: false })
      .accept

  /** Every filter of up to two rules over patterns that match the sender, its envelope, or others. */
  const patterns = [FROM, '@friend.test', '*.test', '@out.test', 'other@friend.test']
  const rules = patterns.flatMap((pattern) => [
    { type: 'allow' as const, pattern },
    { type: 'deny' as const, pattern },
  ])
  const lists = [[], ...rules.map((rule) => [rule]), ...rules.flatMap((one) => rules.map((other) => [one, other]))]

  test('makes the server accept exactly what it refused, and keeps the other rules', () => {
    let changed = 0
    for (const mode of ['allowlist', 'denylist', 'off'] as const) {
      for (const list of lists) {
        for (const pattern of [FROM, '@friend.test']) {
          const filter = { mode, rules: list }
          const change = changeFor(filter, pattern, [FROM, 'b@out.test'])
          const label = JSON.stringify({ mode, list, pattern, change })
          assert.equal(change === null, accepts(filter, 'b@out.test'), label)
          if (change === null) continue
          changed++
          assert.ok(accepts(change.filter, 'b@out.test'), label)
          assert.equal(change.filter.mode, mode)
          const kept = list.filter(({ type, pattern: one }) => type === 'allow' || !change.removed.includes(one))
          assert.deepEqual(change.filter.rules.slice(0, kept.length), kept, label)
          assert.deepEqual(change.filter.rules.length - kept.length, change.added === null ? 0 : 1, label)
        }
      }
    }
    assert.ok(changed > 100)
  })
})

describe('accepting a sender', () => {
  const from = 'fay@friend.test'
  const allow = { type: 'allow' as const, pattern: from }
  const deny = { type: 'deny' as const, pattern: '@out.test' }

  test('adds a rule to a filter that is on, and turns on one that refuses nobody', () => {
    const after = (mode: 'off' | 'allowlist' | 'denylist', rules: (typeof allow | typeof deny)[]) =>
      acceptFor({ mode, rules }, from, from)?.filter ?? null
    assert.deepEqual(after('off', []), { mode: 'denylist', rules: [allow] })
    assert.deepEqual(after('off', [deny, allow]), { mode: 'denylist', rules: [allow] }, 'what was off refuses nobody')
    assert.deepEqual(after('denylist', [deny]), { mode: 'denylist', rules: [deny, allow] })
    assert.deepEqual(after('allowlist', []), { mode: 'allowlist', rules: [allow] })
    assert.equal(after('denylist', [allow]), null)
  })
})

describe('addresses of an import', () => {
  test('are lines, or comma-separated values with and without a head', () => {
    const one = { email: 'a@x.test', note: null }
    assert.deepEqual(addressesOf('a@x.test\r\n\r\nb@x.test'), [one, { email: 'b@x.test', note: null }])
    assert.deepEqual(addressesOf('a@x.test;"left; ""for good"""'), [{ email: 'a@x.test', note: 'left; "for good"' }])
    const head = 'reason,email,created_at,note\nbounce,a@x.test,2030,"two\nlines"\nmanual,b@x.test,,\n'
    assert.deepEqual(addressesOf(`\ufeff${head}`), [
      { email: 'a@x.test', note: 'two\nlines' },
      { email: 'b@x.test', note: null },
    ])
    assert.deepEqual(addressesOf('Email\na@x.test'), [one])
    assert.deepEqual(addressesOf(' \n,,\n'), [])
    assert.equal(addressesOf(`a@x.test,${'n'.repeat(600)}`)[0]!.note!.length, 500)
  })
})

describe('rows of a file', () => {
  const ask = (parts: number[][]) => async (cursor?: string) => {
    const index = Number(cursor ?? 0)
    return { items: parts[index]!, next: index + 1 < parts.length ? String(index + 1) : null }
  }
  test('are read part by part up to a number, or until they are cancelled', async () => {
    const seen: number[] = []
    const go = (most: number, signal = new AbortController().signal) =>
      readParts(ask([[1, 2], [3, 4], [5]]), most, (rows) => seen.push(rows), signal)
    assert.deepEqual(await go(10), { rows: [1, 2, 3, 4, 5], hasMore: false })
    assert.deepEqual(seen, [2, 4, 5])
    assert.deepEqual(await go(3), { rows: [1, 2, 3], hasMore: true })
    assert.deepEqual(await go(4), { rows: [1, 2, 3, 4], hasMore: true })
    assert.deepEqual((await go(10, AbortSignal.abort())).rows, [1, 2])
  })
})

test('answers of other servers are said in words by their enhanced status code, temporary ones as such', () => {
  assert.deepEqual(
    [
      'bounced: 550 5.1.1 User unknown',
      'deferred: 451 4.7.1 greylisted',
      '550-5.7.1 no',
      'suppressed: on the list',
      'x',
    ].map(inShort),
    ['No such mailbox', 'Asked to come back later', 'Refused by their policy', 'Suppressed', 'x'],
  )
  assert.ok(isNoMailbox('bounced: 5.1.1 unknown') && !isNoMailbox('bounced: 5.1.10 null MX'))
  assert.equal(inWords('bounced: 550 spam'), null)
  assert.deepEqual(['cancelled', 'expired: 451 no', ''].map(outcomeOf), ['cancelled', 'expired', ''])
})

test('the samples of the console are those of the documentation', () => {
  const document = readFileSync(new URL('../../../docs/webhooks.md', import.meta.url), 'utf8')
  const languages = { node: 'js', python: 'python', go: 'go', php: 'php' }
  for (const [name, language] of Object.entries(languages) as [keyof typeof languages, string][]) {
    assert.ok(document.includes(`\`\`\`${language}\n${webhookSamples[name]}\`\`\``), name)
  }
})
