// Lists and searches against a model: the same messages in an array, and generated queries with their meaning.

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { FEW } from '../../../src/store/lists/find-by-text.ts'
import type { MessageFilter, MessageSort, PageKey, SortDirection } from '../../../src/store/rows/records.ts'
import { amount } from '../../support/amount.ts'
import { openTestStore, TestMailbox, type TestStore } from '../../support/mailbox.ts'
import { Random } from '../../support/random.ts'
import { DAY, type Known, NOW, randomPut, randomQuery, type SearchQuery } from '../../support/search-model.ts'

// More than FEW of them contain the most frequent word, so that both statements of a full-text search are used.
const MESSAGES = 2000
const QUERIES = amount(40, 150)

let appliance: TestStore
let box: TestMailbox
const known: Known[] = []

before(async () => {
  appliance = await openTestStore()
  const random = new Random(11)
  box = await TestMailbox.open(appliance)
  const other = await TestMailbox.open(appliance)
  const puts = Array.from({ length: MESSAGES }, (_, index) => randomPut(random, index))
  const ids = await box.putAll(puts)
  known.push(...puts.map((put, index) => ({ ...put, id: ids[index]! })))
  // Messages of other accounts must never be found.
  await other.putAll(Array.from({ length: 300 }, (_, index) => randomPut(random, index)))
})
after(() => appliance[Symbol.asyncDispose]())

const isListed = ({ folders }: Known) => folders.some((role) => role !== 'junk' && role !== 'trash')

function isShown(message: Known, opens: SearchQuery['opens']): boolean {
  return isListed(message) || opens.has('all') || message.folders.some((role) => opens.has(role))
}

function found({ matches, opens }: SearchQuery): Known[] {
  return known.filter((message) => isShown(message, opens) && matches(message))
}

async function allMessages(
  filter: MessageFilter,
  options: { sort: MessageSort; direction: SortDirection; collapseThreads: boolean },
  limit: number,
) {
  const ids: string[] = []
  let at: PageKey | null = null
  do {
    const page = await appliance.store.read.messages.list(box.account, filter, { ...options, limit, after: at })
    assert.ok(page.items.length <= limit)
    ids.push(...page.items.map(({ id }) => id))
    at = page.next
  } while (at !== null)
  return ids
}

async function allThreads(filter: MessageFilter, direction: SortDirection, limit: number) {
  const threads: { id: string; at: number }[] = []
  let at: PageKey | null = null
  do {
    const page = await appliance.store.read.threads.list(box.account, filter, { direction, limit, after: at })
    threads.push(...page.items.map(({ id, lastMessage }) => ({ id, at: lastMessage.receivedAt })))
    at = page.next
  } while (at !== null)
  return threads
}

const SORT_VALUE: Record<MessageSort, (message: Known) => string | number> = {
  received_at: ({ receivedAt }) => receivedAt,
  sent_at: ({ mail, receivedAt }) => mail.sentAt ?? receivedAt,
  subject: ({ mail }) => mail.subject.replace(/[A-Z]/g, (letter) => letter.toLowerCase()),
  from: ({ mail }) => mail.from[0]!.email.replace(/[A-Z]/g, (letter) => letter.toLowerCase()),
  size: ({ sizeBytes }) => sizeBytes!,
}

/** Checks that the ids are exactly those messages in the requested order; equal values can be in any order. */
function checkOrder(ids: string[], expected: Known[], sort: MessageSort, direction: SortDirection, what: string): void {
  assert.deepEqual(ids.toSorted(), expected.map(({ id }) => id).toSorted(), what)
  const byId = new Map(expected.map((message) => [message.id, message]))
  const values = ids.map((id) => SORT_VALUE[sort](byId.get(id)!))
  const sorted = values.toSorted((a, b) => {
    const order = typeof a === 'number' ? a - Number(b) : Buffer.compare(Buffer.from(a), Buffer.from(String(b)))
    return direction === 'asc' ? order : -order
  })
  assert.deepEqual(values, sorted, `${what}: order by ${sort} ${direction}`)
}

describe('a search', () => {
  it('has words that are frequent enough to walk the list, and rare enough to sort', () => {
    const holding = (word: string) =>
      known.filter(({ mail }) => `${mail.subject} ${mail.searchText}`.includes(word)).length
    assert.ok(holding('common') > FEW, String(holding('common')))
    assert.ok(holding('seldom') < 75, String(holding('seldom')))
  })

  it('returns what the model finds, in its order, page by page', async () => {
    const random = new Random(7)
    for (let i = 0; i < QUERIES; i++) {
      const sample = randomQuery(random)
      const direction = random.pick(['asc', 'desc'] as const)
      const sort = random.chance(0.8) ? 'received_at' : random.pick(['sent_at', 'subject', 'from', 'size'] as const)
      const limit = random.pick([60, 100, 500])
      const ids = await allMessages({ q: sample.text }, { sort, direction, collapseThreads: false }, limit)
      checkOrder(ids, found(sample), sort, direction, sample.text)
    }
  })

  it('returns the threads with a message that matches all conditions', async () => {
    const random = new Random(8)
    const ids = threadIds()
    for (let i = 0; i < QUERIES; i++) {
      const sample = randomQuery(random)
      const direction = random.pick(['asc', 'desc'] as const)
      const threads = await allThreads({ q: sample.text }, direction, random.pick([40, 100, 500]))
      const expected = new Set(found(sample).map(({ thread }) => ids.get(thread)!))
      assert.deepEqual(threads.map(({ id }) => id).toSorted(), [...expected].toSorted(), sample.text)
      const times = threads.map(({ at }) => at)
      assert.deepEqual(
        times,
        times.toSorted((a, b) => (direction === 'asc' ? a - b : b - a)),
        sample.text,
      )
    }
  })

  it('returns only the first message of each thread if requested', async () => {
    const random = new Random(9)
    for (let i = 0; i < 60; i++) {
      const sample = randomQuery(random)
      const direction = random.pick(['asc', 'desc'] as const)
      const sort = random.pick(['received_at', 'size'] as const)
      const all = await allMessages({ q: sample.text }, { sort, direction, collapseThreads: false }, 500)
      const threads = new Set<string>()
      const firsts = all.filter((id) => {
        const { thread } = known.find((message) => message.id === id)!
        return !threads.has(thread) && threads.add(thread)
      })
      const collapsed = await allMessages({ q: sample.text }, { sort, direction, collapseThreads: true }, 40)
      assert.deepEqual(collapsed, firsts, sample.text)
    }
  })
})

function threadIds(): Map<string, string> {
  const rows = appliance.db.read.all<{ id: string; thread: string }>(
    'SELECT m.id, t.id AS thread FROM messages m JOIN threads t ON t.n = m.thread',
  )
  const byMessage = new Map(rows.map((row) => [row.id, row.thread]))
  return new Map(known.map(({ id, thread }) => [thread, byMessage.get(id)!]))
}

interface Filtered {
  filter: MessageFilter
  matches(message: Known): boolean
}

const contains = (part: string, people: Known['mail']['to']) =>
  people.some(({ email, name }) => `${email}\n${name}`.toLowerCase().includes(part))

const FILTERS: ((random: Random) => Filtered)[] = [
  (random) => {
    const participant = random.pick(['ana', 'LOPEZ', '@shop.example', 'nobody', 'e', 'o’neil'])
    const part = participant.toLowerCase()
    return {
      filter: { participant },
      matches: ({ mail }) => contains(part, [...mail.from, ...mail.to, ...mail.cc]),
    }
  },
  (random) => {
    const from = random.pick(['ana@', 'Prince', '.org'])
    return { filter: { from }, matches: ({ mail }) => contains(from.toLowerCase(), mail.from) }
  },
  () => ({ filter: { to: 'carol' }, matches: ({ mail }) => contains('carol', mail.to) }),
  () => ({ filter: { subject: 'INVOICE' }, matches: ({ mail }) => mail.subject.includes('invoice') }),
  (random) => {
    const after = NOW - random.below(200) * DAY
    return { filter: { after }, matches: ({ receivedAt }) => receivedAt >= after }
  },
  (random) => {
    const before = NOW - random.below(200) * DAY - 500
    return { filter: { before }, matches: ({ receivedAt }) => receivedAt < before }
  },
  (random) => {
    const hasAttachment = random.chance(0.5)
    return { filter: { hasAttachment }, matches: ({ mail }) => mail.hasAttachments === hasAttachment }
  },
  (random) => {
    const isUnread = random.chance(0.7)
    return { filter: { isUnread }, matches: ({ flags }) => flags!.seen !== isUnread }
  },
  (random) => {
    const isFlagged = random.chance(0.7)
    return { filter: { isFlagged }, matches: ({ flags }) => flags!.flagged === isFlagged }
  },
  () => ({ filter: { keyword: 'Work' }, matches: ({ keywords }) => keywords!.includes('work') }),
  () => ({ filter: { notKeyword: '$seen' }, matches: ({ flags }) => !flags!.seen }),
  () => ({
    filter: { minSize: 1000, maxSize: 2000 },
    matches: ({ sizeBytes }) => sizeBytes! >= 1000 && sizeBytes! <= 2000,
  }),
  (random) => {
    const role = random.pick(['inbox', 'junk', 'trash', 'archive'] as const)
    return { filter: { folderId: box.folder(role).id }, matches: ({ folders }) => folders.includes(role) }
  },
]

describe('the filters of a list', () => {
  it('return what the model returns, alone and combined with others and a query', async () => {
    const random = new Random(10)
    const ids = threadIds()
    for (let i = 0; i < 150; i++) {
      const chosen = Array.from({ length: random.below(4) }, () => random.pick(FILTERS)(random))
      const filter: MessageFilter = Object.assign({}, ...chosen.map((one) => one.filter))
      // If two set the same member, the last one applies.
      const sample = chosen.filter((one) =>
        Object.entries(one.filter).every(([name, value]) => filter[name as 'q'] === value),
      )
      const query = random.chance(0.4) ? randomQuery(random, 1) : null
      if (query) filter.q = query.text
      if (random.chance(0.2)) filter.inTrashOrJunk = true
      const folder = Object.entries({ junk: box.folder('junk').id, trash: box.folder('trash').id }).find(
        ([, id]) => id === filter.folderId,
      )
      const opens = new Set([
        ...(query?.opens ?? []),
        ...(filter.inTrashOrJunk ? (['all'] as const) : []),
        ...(folder ? [folder[0] as 'junk'] : []),
      ])
      const expected = known.filter(
        (message) =>
          isShown(message, opens) && sample.every((one) => one.matches(message)) && (query?.matches(message) ?? true),
      )
      const what = JSON.stringify(filter)
      const direction = random.pick(['asc', 'desc'] as const)
      const messages = await allMessages(
        filter,
        { sort: 'received_at', direction, collapseThreads: false },
        random.pick([70, 500]),
      )
      checkOrder(messages, expected, 'received_at', direction, what)
      const threads = await allThreads(filter, direction, random.pick([70, 500]))
      const whole = expected.filter(({ thread }) => fitsWhole(thread, filter))
      const expectedThreads = new Set(whole.map(({ thread }) => ids.get(thread)!))
      assert.deepEqual(threads.map(({ id }) => id).toSorted(), [...expectedThreads].toSorted(), what)
    }
  })
})

/** "Read" and "without attachments" apply to all messages that a thread's counts cover (docs/design/mailbox.md §5). */
function fitsWhole(thread: string, filter: MessageFilter): boolean {
  const all = known.filter((message) => message.thread === thread)
  const outside = all.filter(({ folders }) => folders.some((role) => role !== 'junk' && role !== 'trash'))
  const covered = outside.length > 0 ? outside : all
  if (filter.isUnread === false && covered.some(({ flags }) => !flags!.seen)) return false
  return !(filter.hasAttachment === false && covered.some(({ mail }) => mail.hasAttachments))
}
