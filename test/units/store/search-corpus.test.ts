// Random queries over generated messages, and real ones where the fixtures are, return what a linear scan of all messages finds: messages, threads and counts, also over the API.

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sha256 } from '../../../src/base/secrets.ts'
import type { Account, FolderRole, PageKey } from '../../../src/store/rows/records.ts'
import type { Store } from '../../../src/store/store.ts'
import { inspectOwn } from '../../../src/workers/read-message.ts'
import { walk } from '../../api/expect.ts'
import { amount } from '../../support/amount.ts'
import { startAppliance } from '../../support/appliance.ts'
import { ManualClock } from '../../support/clock.ts'
import { type CorpusMessage, CorpusQueries, corpusMessage, LABELS } from '../../support/corpus-model.ts'
import { fixtureBytes, fixtureNames } from '../../support/fixtures.ts'
import type { GeneratedQuery } from '../../support/generated-query.ts'
import { openTestStore, TestMailbox } from '../../support/mailbox.ts'
import { Random } from '../../support/random.ts'

/** Set SEARCH_SEED for other queries. */
const SEED = Number(process.env.SEARCH_SEED ?? 1)
const QUERIES = amount(400, 2000)
const THREADS_EVERY = 4
const COUNT_EVERY = 8
const API_QUERIES = amount(30, 60)
const API_MAILS = 200
/** Without the fixtures as many as the queries need to find something. */
const GENERATED = 420
const DAY = 24 * 60 * 60 * 1000

const CORPORA = ['mime/mailcore2/summary/input', 'mime/ruby-mail', 'mime/webklex', 'mime/mail-parser', 'mime/flanker']
/** Many similar messages: every second one is enough. */
const LARGE_CORPORA = ['corpus/spamassassin', 'threading/jwz-messages', 'bounces/sisimai']
const PLACES: FolderRole[][] = [
  ['inbox'],
  ['inbox'],
  ['archive'],
  ['junk'],
  ['trash'],
  ['inbox', 'archive'],
  ['trash', 'archive'],
]

const WORDS = [
  ...'invoice order delivery meeting minutes agenda holiday contract signature release draft budget train ticket hotel'.split(
    ' ',
  ),
  ...'Rechnung Größe Straße naïve façade Łódź Übermorgen señor smørrebrød İstanbul'.split(' '),
  ...'Привет Москва ΣΟΦΙΑ καλημέρα שלום مرحبا नमस्ते 한국어 東京 会議 注文 สวัสดี'.split(' '),
  ...'x1 2026 3.14 v2.10.7 C++ e-mail can’t https://shop.test/a?b=1 ana@shop.test 👋 👩‍👩‍👧 ﬁne ½ Ⅳ'.split(' '),
]
const PEOPLE = [
  'Ana Lopez <ana@shop.test>',
  'Bob O’Neil <bob@mail.shop.test>',
  'Zoë <zoe@bücher.test>',
  '田中 <t@tokyo.test>',
]
const FILES = ['invoice-2026.pdf', 'naïve plan.docx', 'photo_1.png', '会議.txt']

/** A message of words in many scripts. */
function generated(random: Random): Buffer {
  const words = (most: number) => Array.from({ length: 1 + random.below(most) }, () => random.pick(WORDS)).join(' ')
  const file = random.chance(0.3)
    ? `--b\r\nContent-Disposition: attachment; filename="${random.pick(FILES)}"\r\n\r\n${words(3)}\r\n`
    : ''
  const header = [
    `From: ${random.pick(PEOPLE)}`,
    `To: ${random.pick(PEOPLE)}`,
    ...(random.chance(0.3) ? [`Cc: ${random.pick(PEOPLE)}`] : []),
    ...(random.chance(0.1) ? [`Bcc: ${random.pick(PEOPLE)}`] : []),
    `Subject: ${words(6)}`,
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=b',
  ]
  const body = `--b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${words(30)}\r\n${file}--b--\r\n`
  return Buffer.from(`${header.join('\r\n')}\r\n\r\n${body}`)
}

/** Distinct messages: generated ones, or those of the fixtures. */
function corpus(): Buffer[] {
  const namesIn = (path: string) =>
    fixtureNames(path).flatMap((name) => (/\.(?:json|tsv|md|xml)$/.test(name) ? [] : `${path}/${name}`))
  const names = [...CORPORA.flatMap(namesIn), ...LARGE_CORPORA.flatMap(namesIn).filter((_, index) => index % 2 === 0)]
  const random = new Random(SEED + 2)
  const mails = names.length > 0 ? names.map(fixtureBytes) : Array.from({ length: GENERATED }, () => generated(random))
  return [...new Map(mails.map((bytes) => [sha256(bytes).toString('hex'), bytes])).values()]
}

/** A mailbox with messages, and its model. */
class Mailbox {
  readonly corpus: CorpusMessage[] = []
  readonly #store: Store
  readonly #account: Account
  readonly #random: Random
  readonly #now: number

  constructor(store: Store, account: Account, random: Random, now: number) {
    this.#store = store
    this.#account = account
    this.#random = random
    this.#now = now
  }

  async fill(mails: readonly Buffer[]): Promise<void> {
    await Promise.all(mails.map((bytes) => this.#deliver(bytes)))
    await this.#arrange()
  }

  async #deliver(bytes: Buffer): Promise<void> {
    // Few distinct times in random order: equal times and late arrivals are common.
    const receivedAt = this.#now - this.#random.below(300) * DAY - this.#random.below(2) * 500
    const mailFrom = 'from@corpus.test'
    const own = {
      mailFrom,
      hostName: 'mx.mailstead.test',
      queueId: 'x',
      rcptTo: null,
      receivedAt,
      author: mailFrom,
      scripts: [],
    }
    const inspection = inspectOwn(bytes, own)
    const none = 'none' as const
    const target = {
      ...{ mailboxId: this.#account.mailboxId, rcptTo: 'ana@corpus.test', email: 'ana@corpus.test' },
      ...{ reached: 'ana@corpus.test', step: 'address' as const, patternOf: null },
      ...{ quotaBytes: 2 ** 40, junk: false, spam: { score: 0, isSpam: false, reasons: [] } },
      authentication: { spf: none, dkim: none, dmarc: none, arc: none, fromAligned: false, reasons: [] },
    }
    const [copy] = await this.#store.delivery.deliver(
      { inspection, mailFrom, receivedAt },
      [target],
      (_tx, results) => results,
    )
    const { message: mail, sizeBytes } = inspection
    const { messageId: id, threadId: thread } = copy as { messageId: string; threadId: string }
    this.corpus.push(corpusMessage({ id, thread, mail, receivedAt, sizeBytes, folders: ['inbox'], keywords: [] }))
  }

  /** Sets folders, flags and labels of every message. */
  async #arrange(): Promise<void> {
    const {
      read: { folders },
      edit: { messages: edits },
    } = this.#store
    const keys = new Map(folders.keys(this.#account).map(({ role, id }) => [role, id]))
    this.corpus.sort((a, b) => a.receivedAt - b.receivedAt || (a.mail.searchText < b.mail.searchText ? -1 : 1))
    const change = async (message: CorpusMessage) => {
      const to = message.folders.map((role) => keys.get(role)!)
      await edits.change(this.#account, [message.id], { keywords: { set: message.keywords }, folders: { set: to } })
    }
    for (const message of this.corpus) {
      message.folders = this.#random.pick(PLACES)
      message.keywords = ['$seen', '$flagged', '$answered', ...LABELS].filter(() => this.#random.chance(0.3))
    }
    await Promise.all(this.corpus.map(change))
  }

  /** The result of a linear scan. */
  expected({ matches, opens }: GeneratedQuery<CorpusMessage>): CorpusMessage[] {
    const isShown = ({ folders }: CorpusMessage) =>
      folders.some((role) => (role !== 'junk' && role !== 'trash') || opens.has(role))
    return this.corpus.filter((message) => (opens.has('all') || isShown(message)) && matches(message))
  }

  async messages(q: string, direction: 'asc' | 'desc', limit: number): Promise<{ id: string; at: number }[]> {
    const found: { id: string; at: number }[] = []
    let at: PageKey | null = null
    do {
      const cut = { sort: 'received_at', direction, collapseThreads: false, limit, after: at } as const
      const page = await this.#store.read.messages.list(this.#account, { q }, cut)
      found.push(...page.items.map(({ id, receivedAt }) => ({ id, at: receivedAt })))
      at = page.next
    } while (at !== null)
    return found
  }

  async threads(q: string, direction: 'asc' | 'desc', limit: number): Promise<string[]> {
    const ids: string[] = []
    let at: PageKey | null = null
    do {
      const page = await this.#store.read.threads.list(this.#account, { q }, { direction, limit, after: at })
      ids.push(...page.items.map(({ id }) => id))
      at = page.next
    } while (at !== null)
    return ids
  }

  async count(q: string): Promise<number> {
    return (await this.#store.read.messages.count(this.#account, { q })).count
  }
}

const sorted = (ids: Iterable<string>) => [...new Set(ids)].sort()
const idsOf = (messages: readonly { id: string }[]) => sorted(messages.map(({ id }) => id))
const threadsOf = (messages: readonly CorpusMessage[]) => sorted(messages.map(({ thread }) => thread))

describe('a search over many messages', () => {
  it(`returns what a linear scan finds, for ${QUERIES} queries`, async (t) => {
    t.diagnostic(`SEARCH_SEED=${SEED}`)
    await using appliance = await openTestStore()
    const random = new Random(SEED)
    const now = appliance.clock.now()
    const { account } = await TestMailbox.open(appliance)
    const box = new Mailbox(appliance.store, account, random, now)
    await box.fill(corpus())
    assert.ok(box.corpus.length > 400, String(box.corpus.length))
    const queries = new CorpusQueries(random, box.corpus, now)
    let hits = 0
    for (let i = 0; i < QUERIES; i++) {
      const sample = queries.next()
      const what = `SEARCH_SEED=${SEED}, query ${i}: ${sample.text}`
      const direction = random.pick(['asc', 'desc'] as const)
      const limit = random.pick([60, 200, 1000])
      const answer = box.expected(sample)
      const found = await box.messages(sample.text, direction, limit)
      assert.equal(found.length, answer.length, what)
      assert.deepEqual(idsOf(found), idsOf(answer), what)
      const times = found.map(({ at }) => at)
      assert.deepEqual(
        times,
        times.toSorted((a, b) => (direction === 'asc' ? a - b : b - a)),
        what,
      )
      if (i % THREADS_EVERY === 0) {
        assert.deepEqual((await box.threads(sample.text, direction, limit)).sort(), threadsOf(answer), what)
      }
      if (i % COUNT_EVERY === 0) assert.equal(await box.count(sample.text), answer.length, what)
      if (answer.length > 0) hits++
    }
    t.diagnostic(`${box.corpus.length} messages, ${hits} queries found something`)
    assert.ok(hits > QUERIES / 2, String(hits))
  })

  it('returns the same over the API, for messages and threads', async (t) => {
    t.diagnostic(`SEARCH_SEED=${SEED}`)
    const clock = new ManualClock()
    const appliance = await startAppliance({ clock })
    t.after(() => appliance.close())
    const team = await appliance.team()
    await team.domain('corpus.test')
    const { id, key } = await team.mailbox('ana@corpus.test')
    const { store } = appliance.app
    const random = new Random(SEED + 1)
    const box = new Mailbox(store, store.accounts.byMailbox(id)!, random, clock.now())
    await box.fill(corpus().slice(0, API_MAILS))
    const queries = new CorpusQueries(random, box.corpus, clock.now())
    for (let i = 0; i < API_QUERIES; i++) {
      const sample = queries.next()
      const answer = box.expected(sample)
      const query = `limit=50&q=${encodeURIComponent(sample.text)}`
      const messages = await walk<{ id: string }>(appliance, `/mailbox/messages?${query}`, key)
      assert.deepEqual(messages.map((one) => one.id).sort(), idsOf(answer), sample.text)
      const threads = await walk<{ id: string }>(appliance, `/mailbox/threads?${query}`, key)
      assert.deepEqual(threads.map((one) => one.id).sort(), threadsOf(answer), sample.text)
    }
  })
})
