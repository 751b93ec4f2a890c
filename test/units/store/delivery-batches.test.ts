// Deliveries that are written together leave the same rows as deliveries one after the other.

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { newId } from '../../../src/base/ids.ts'
import { sha256 } from '../../../src/base/secrets.ts'
import type { DeliveryResult, DeliveryTarget, IncomingMessage } from '../../../src/store/mailbox/delivery.ts'
import { attachmentOf, mailOf, openTestStore, person, type TestStore } from '../../support/mailbox.ts'
import { Random } from '../../support/random.ts'

const ROUNDS = 16
const MESSAGES = 30
/** Every second round has mailboxes that get full. */
const QUOTA_BYTES = [1e9, 5000] as const

let appliance: TestStore
before(async () => {
  appliance = await openTestStore()
})
after(() => appliance[Symbol.asyncDispose]())

interface Arrival {
  message: IncomingMessage
  /** Indexes of mailboxes, each with its decision. */
  targets: { box: number; junk: boolean; script: 'none' | 'discard' | 'folder' }[]
}

/** Messages that reply to, repeat and outgrow each other. */
function arrivals(random: Random, now: number): Arrival[] {
  const made: Arrival[] = []
  const ids: string[] = []
  for (let i = 0; i < MESSAGES; i++) {
    if (made.length > 0 && random.chance(0.1)) {
      made.push(random.pick(made))
      continue
    }
    const id = `m${i}@far.test`
    const related = random.some(ids.slice(-8), 0.3)
    ids.push(id)
    const text = `${i} ${random.next()}`
    const inspection = {
      hash: sha256(text),
      arrivedHash: sha256(`a${text}`),
      sizeBytes: 50 + random.below(300),
      chunks: [{ start: 0, sizeBytes: 4, zstd: false, data: Buffer.from('text') }],
      forwardMarks: [],
      linkTokens: [],
      message: mailOf({
        subject: `${random.chance(0.4) ? 'Re: ' : ''}Subject ${random.below(4)}`,
        from: [person(`p${random.below(5)}@far.test`, 'P')],
        to: [person('ann@here.test')],
        cc: random.chance(0.2) ? [person(`P${random.below(5)}@far.test`, 'P')] : [],
        messageId: random.chance(0.9) ? id : null,
        inReplyTo: related.slice(0, 1),
        references: related,
        searchText: `word${random.below(6)}`,
        hasAttachments: i % 7 === 0,
        attachments: i % 7 === 0 ? [{ ...attachmentOf(`f${i}`), sizeBytes: 3 }] : [],
      }),
    }
    const receivedAt = now + (random.chance(0.1) ? i - 200_000 : i * 1000 + random.below(900))
    const emailId = random.chance(0.1) ? newId('email') : undefined
    const message = { inspection, mailFrom: 'p@far.test', receivedAt, emailId } as unknown as IncomingMessage
    const targets = random.some([0, 1, 0], 0.6).map((box) => ({
      box,
      junk: random.chance(0.15),
      script: random.chance(0.1) ? ('discard' as const) : random.chance(0.1) ? ('folder' as const) : ('none' as const),
    }))
    // Messages without content to store overtake others: at least one copy of each is stored.
    if (targets.every(({ script }) => script === 'discard')) targets.push({ box: 1, junk: false, script: 'none' })
    made.push({ message, targets })
  }
  return made
}

async function openMailboxes(): Promise<string[]> {
  const ids = [newId('mailbox'), newId('mailbox')]
  for (const id of ids) await appliance.db.write((tx) => appliance.store.edit.openAccount(tx, id, 'ann@here.test'))
  return ids
}

function targetOf(
  { box, junk, script }: Arrival['targets'][number],
  mailboxIds: readonly string[],
  quotaBytes: number,
): DeliveryTarget {
  const outcomes = {
    none: null,
    discard: { targets: [], keywords: [], error: null },
    folder: {
      targets: [{ kind: 'folder', path: 'Lists/New', create: true }],
      keywords: ['$flagged', 'blue'],
      error: null,
    },
  }
  return {
    mailboxId: mailboxIds[box]!,
    rcptTo: 'ann+x@here.test',
    reached: 'ann@here.test',
    step: 'address' as const,
    patternOf: null,
    email: 'ann@here.test',
    quotaBytes,
    junk,
    authentication: { spf: 'none', dkim: 'none', dmarc: 'none', arc: 'none', fromAligned: false, reasons: [] },
    spam: { score: 0, isSpam: false, reasons: [] },
    scriptOutcome: outcomes[script],
  } as unknown as DeliveryTarget
}

/** All rows of an account, with names that do not depend on the numbers and ids assigned. */
function rowsOf(mailboxId: string) {
  const { db, store } = appliance
  const account = store.accounts.byMailbox(mailboxId)!
  const all = (sql: string) => db.read.all<Record<string, unknown>>(sql, [account.n])
  // The totals that triggers maintain (migration 27).
  assert.deepEqual(
    all(
      'SELECT listed, unread, has_attachments, threads FROM thread_totals WHERE account = ? AND threads > 0 ORDER BY 1, 2, 3',
    ),
    all(
      `SELECT listed, unread_count > 0 AS unread, has_attachments, count(*) AS threads FROM threads WHERE account = ?
       GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
    ),
  )
  return {
    account: [account.usedBytes, account.messageCount, account.attachmentBytes, account.fullSince],
    messages: all(
      `SELECT m.received_at, m.listed, m.seen, m.flagged, m.keywords, m.subject, m.people IS NULL AS none,
         hex(m.blob) AS blob, t.n - (SELECT min(n) FROM threads WHERE account = m.account) AS thread
       FROM messages m JOIN threads t ON t.n = m.thread WHERE m.account = ? ORDER BY hex(m.blob)`,
    ),
    threads: all(
      `SELECT n - min(n) OVER () AS n, subject, subject_key, listed, message_count, unread_count, has_attachments, last_received_at,
         participants, (SELECT hex(m.blob) FROM messages m WHERE m.n = last_message) AS last
       FROM threads WHERE account = ? ORDER BY threads.n`,
    ),
    references: all(
      `SELECT hex(ref) AS ref, thread - (SELECT min(n) FROM threads t WHERE t.account = r.account) AS thread
       FROM thread_refs r WHERE account = ? ORDER BY 1, 2`,
    ),
    folders: all(
      `SELECT name, uid_next, total_messages, unread_messages, total_threads, unread_threads FROM folders WHERE account = ?
       ORDER BY name`,
    ),
    entries: all(
      `SELECT f.name, e.uid, hex(m.blob) AS blob, e.received_at FROM message_folders e JOIN folders f ON f.n = e.folder
       JOIN messages m ON m.n = e.message WHERE f.account = ? ORDER BY 1, 2`,
    ),
    threadFolders: all(
      `SELECT f.name, t.thread - (SELECT min(n) FROM threads WHERE account = f.account) AS thread, t.messages, t.unread,
         t.last_received_at
       FROM thread_folders t JOIN folders f ON f.n = t.folder WHERE f.account = ? ORDER BY 1, 2`,
    ),
    changes: all(
      `SELECT type, gone, altered_seq > 0 AS altered, count(*) AS number FROM changes WHERE account = ? GROUP BY 1, 2, 3`,
    ),
    correspondents: all('SELECT folded FROM correspondents WHERE account = ? ORDER BY 1'),
    attachments: all('SELECT filename, size_bytes FROM attachments WHERE account = ? ORDER BY 1'),
  }
}

/** Results, with messages by the order in which their ids occur. */
function outcomes(results: readonly DeliveryResult[][]) {
  const names = new Map<string, number>()
  return results.map((list) =>
    list.map(({ outcome, junk, messageId, threadBy, threadRef, folderIds, scriptError }) => {
      if (messageId !== null && !names.has(messageId)) names.set(messageId, names.size)
      const message = messageId === null ? null : names.get(messageId)
      return { outcome, junk, message, threadBy, threadRef, folders: folderIds.length, scriptError }
    }),
  )
}

describe('deliveries that are written together', () => {
  it('leave the rows of deliveries one after the other', async () => {
    const { store, db, clock } = appliance
    const seen = new Set<string>()
    let units = 0
    for (let seed = 1; seed <= ROUNDS; seed++) {
      const list = arrivals(new Random(seed), clock.now())
      const [single, together] = [await openMailboxes(), await openMailboxes()]
      const deliver = ({ message, targets }: Arrival, boxes: string[]) =>
        store.delivery.deliver(
          message,
          targets.map((target) => targetOf(target, boxes, QUOTA_BYTES[seed % 2]!)),
          (_tx, results) => results,
        )
      const oneByOne: DeliveryResult[][] = []
      for (const arrival of list) oneByOne.push(await deliver(arrival, single))
      const before = db.counts.units
      const atOnce = await Promise.all(list.map((arrival) => deliver(arrival, together)))
      if (seed % 2 === 0) units += db.counts.units - before
      assert.deepEqual(outcomes(atOnce), outcomes(oneByOne), `seed ${seed}`)
      for (const index of [0, 1]) assert.deepEqual(rowsOf(together[index]!), rowsOf(single[index]!), `seed ${seed}`)
      for (const { outcome, threadBy } of oneByOne.flat()) seen.add(outcome).add(`by ${threadBy}`)
    }
    const all = ['by id', 'by new', 'by null', 'by subject', 'discarded', 'duplicate', 'full', 'stored']
    assert.deepEqual([...seen].sort(), all)
    assert.ok(units <= ROUNDS, `${units} units of work for ${Math.floor(ROUNDS / 2)} rounds`)
  })

  it('are undone alone, with the outcome of each', async () => {
    const [mailboxId] = await openMailboxes()
    const list = arrivals(new Random(98), appliance.clock.now())
    const messages = [...new Set(list.map(({ message }) => message))]
    const target = targetOf({ box: 0, junk: false, script: 'none' }, [mailboxId!], 1e9)
    const outcomes = await Promise.all(
      messages.map((message, index) =>
        appliance.store.delivery.deliver(message, [target], (tx) => (index % 10 === 3 ? tx.undo('undone') : 'stored')),
      ),
    )
    assert.deepEqual(
      outcomes,
      messages.map((_, index) => (index % 10 === 3 ? 'undone' : 'stored')),
    )
    const stored = outcomes.filter((outcome) => outcome === 'stored').length
    assert.equal(appliance.store.accounts.byMailbox(mailboxId!)!.messageCount, stored)
  })

  it('fail alone', async () => {
    const [mailboxId] = await openMailboxes()
    const list = arrivals(new Random(99), appliance.clock.now())
    const stored = new Set(list.map(({ message }) => message))
    const results = await Promise.allSettled(
      [...stored].map((message, index) =>
        appliance.store.delivery.deliver(
          message,
          [targetOf({ box: 0, junk: false, script: 'none' }, [mailboxId!], 1e9)],
          () => {
            if (index % 10 === 3) throw new Error('no record')
          },
        ),
      ),
    )
    const failed = results.flatMap(({ status }, index) => (status === 'rejected' ? [index] : []))
    assert.deepEqual(
      failed,
      results.flatMap((_, index) => (index % 10 === 3 ? [index] : [])),
    )
    const account = appliance.store.accounts.byMailbox(mailboxId!)!
    assert.equal(account.messageCount, stored.size - failed.length)
  })
})
