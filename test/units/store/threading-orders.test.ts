// Conversations of real and generated lists in ten random orders each: related messages are in one thread for any order of arrival.
//
// Two kinds of exceptions are accepted (docs/design/mailbox.md §5), counted and printed. A message can refer to several threads that were separate
// before: threads are never merged, so they stay separate ("bridged"). And a message without any known id can join a thread by its
// subject, which has to exist before it ("by subject").

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { newId } from '../../../src/base/ids.ts'
import { sha256 } from '../../../src/base/secrets.ts'
import type { Tx } from '../../../src/db/db.ts'
import type { ParsedMessage } from '../../../src/mime/message.ts'
import type { Account } from '../../../src/store/rows/records.ts'
import { amount } from '../../support/amount.ts'
import { connected, lists } from '../../support/conversations.ts'
import { openTestStore, type TestStore } from '../../support/mailbox.ts'
import { Random } from '../../support/random.ts'

const ORDERS = amount(3, 10)
let appliance: TestStore

before(async () => {
  appliance = await openTestStore()
})
after(() => appliance[Symbol.asyncDispose]())

/** The results for a list in one order, by index in the list. */
interface Run {
  account: Account
  /** Public ids of messages, and of their threads at delivery. */
  messages: string[]
  threads: string[]
  /** Threads that a message connects but that were separate at its delivery. */
  bridges: string[][]
  /** Threads that a message joined by subject. */
  bySubject: Set<string>
}

async function run(name: string, mails: readonly ParsedMessage[], order: readonly number[]): Promise<Run> {
  const { db, store } = appliance
  const mailboxId = newId('mailbox')
  await db.write((tx) => store.edit.openAccount(tx, mailboxId, 'ana@shop.test'))
  const account = store.accounts.byMailbox(mailboxId)!
  const result: Run = { account, messages: [], threads: [], bridges: [], bySubject: new Set() }
  await db.write((tx) => {
    for (const index of order) {
      const mail = mails[index]!
      const known = threadsKnowing(tx, account, mail)
      const taken = store.edit.imports.import(
        tx,
        { account, ownAddresses: ['archive@list.test'], quotaBytes: 1e9 },
        {
          ...{ parsed: mail, hash: sha256(`${name} ${index}`), sizeBytes: 1, folderIds: null, keywords: [] },
          receivedAt: timeOf(mails, index),
          authentication: { spf: 'none', dkim: 'none', dmarc: 'none', arc: 'none', fromAligned: false, reasons: [] },
          spam: { score: 0, isSpam: false, reasons: [] },
          envelope: { mailFrom: '', rcptTo: '' },
        },
      )
      assert.ok(taken.outcome === 'new')
      const { threadId } = store.read.messages.summary(account, taken.id, tx)!
      if (known.length > 1) result.bridges.push(known)
      if (known.length > 0)
        assert.equal(threadId, known[0], `${name} mail ${index}: the oldest thread that knows its ids`)
      else if (result.threads.includes(threadId)) result.bySubject.add(threadId)
      result.messages[index] = taken.id
      result.threads[index] = threadId
    }
  })
  return result
}

function timeOf(mails: readonly ParsedMessage[], index: number): number {
  return mails[index]!.sentAt ?? index
}

/** Ids of the threads with a Message-ID of a message, oldest first. */
function threadsKnowing(tx: Tx, account: Account, mail: ParsedMessage): string[] {
  const refs = [mail.messageId, ...mail.inReplyTo, ...mail.references].filter((ref) => ref !== null)
  if (refs.length === 0) return []
  const rows = tx.all<{ id: string }>(
    `SELECT DISTINCT t.n, t.id FROM thread_refs r JOIN threads t ON t.n = r.thread
     WHERE r.account = ? AND r.ref IN (${refs.map(() => '?').join(', ')}) ORDER BY t.n`,
    [account.n, ...refs.map((ref) => sha256(ref).subarray(0, 16))],
  )
  return rows.map(({ id }) => id)
}

function shuffled(length: number, random: Random): number[] {
  const order = Array.from({ length }, (_, at) => at)
  for (let at = length - 1; at > 0; at--) {
    const other = random.below(at + 1)
    const [one, two] = [order[at]!, order[other]!]
    order[at] = two
    order[other] = one
  }
  return order
}

/** Threads that are connected by a bridging message only. */
function bridged({ threads, bridges }: Run): Map<string, string> {
  const home = new Map(threads.map((id) => [id, id]))
  for (const apart of bridges) {
    const same = new Set(apart.map((id) => home.get(id)!))
    const [first] = same
    for (const [id, at] of home) if (same.has(at)) home.set(id, first!)
  }
  return home
}

/** Compares a list in many orders with its graph. @returns the number of exceptions */
async function holdAgainst(
  name: string,
  mails: readonly ParsedMessage[],
): Promise<{ bridges: number; subjects: number }> {
  const graph = connected(mails)
  const random = new Random(20261121)
  const shown = new Map<number, Set<string>>()
  const count = { bridges: 0, subjects: 0 }
  for (let round = 0; round < ORDERS; round++) {
    const made = await run(name, mails, shuffled(mails.length, random))
    count.bridges += made.bridges.length
    count.subjects += made.bySubject.size
    isStable(made)
    const home = bridged(made)
    const apart = new Set(made.bridges.flat().map((id) => home.get(id)!))
    const mixed = new Set([...made.bySubject].map((id) => home.get(id)!))
    for (const [group, indexes] of Map.groupBy(graph.keys(), (index) => graph[index]!)) {
      const homes = new Set(indexes.map((index) => home.get(made.threads[index]!)!))
      assert.equal(homes.size, 1, `${name}: mails ${indexes} belong together`)
      const [at] = homes
      if (mixed.has(at!)) continue
      const inside = [...graph.keys()].filter((index) => home.get(made.threads[index]!) === at)
      assert.deepEqual(inside, indexes, `${name}: mails ${inside} do not belong together`)
      if (apart.has(at!)) continue
      // The displayed thread does not depend on the order either.
      const { messageIds } = appliance.store.read.threads.get(made.account, made.threads[indexes[0]!]!)!
      const times = messageIds.map((id) => timeOf(mails, made.messages.indexOf(id)))
      shown.set(group, (shown.get(group) ?? new Set()).add(`${messageIds.length}: ${times.join(' ')}`))
    }
  }
  for (const views of shown.values()) assert.equal(views.size, 1)
  assert.ok(shown.size > 0)
  return count
}

describe(`conversations in ${ORDERS} random orders`, () => {
  for (const [name, read] of lists) {
    it(name, async (t) => {
      const mails = read()
      const { bridges, subjects } = await holdAgainst(name, mails)
      const conversations = new Set(connected(mails)).size
      t.diagnostic(`${mails.length} mails, ${conversations} conversations: ${bridges} bridged, ${subjects} by subject`)
      if (name === 'generated') assert.ok(bridges > 0 && subjects === 0)
    })
  }
})

/** Every message is still in the thread of its delivery. */
function isStable({ account, messages, threads }: Run): void {
  for (const [index, id] of messages.entries()) {
    assert.equal(appliance.store.read.messages.summary(account, id)!.threadId, threads[index])
  }
}
