// The search index is merged in small steps.

import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import type { Tx } from '../../../src/db/db.ts'
import { SEARCH_TEXT_MAX } from '../../../src/mime/parse.ts'
import { noteWritten } from '../../../src/store/search/segments.ts'
import { indexMessage } from '../../../src/store/search/text.ts'
import { mailOf, openTestStore, type TestStore } from '../../support/mailbox.ts'
import { Random } from '../../support/random.ts'

const TRANSACTIONS = 100
const MESSAGES = 8
const WORDS = 300
/** Of the index, in a transaction and the step that follows: 64 pages with their keys, once written and once deleted, and the messages. */
const ROWS_MAX = 500

let appliance: TestStore
before(async () => {
  appliance = await openTestStore()
})
after(() => appliance[Symbol.asyncDispose]())

it('merges a bounded number of pages after a transaction, and keeps the number of segments small', async () => {
  const { db } = appliance
  const random = new Random(7)
  const people = { from: [], to: [], cc: [] }
  const changes = () => db.write((tx) => tx.get<{ n: number }>('SELECT total_changes() AS n')!.n)
  const rows: number[] = []
  for (let n = 1; n < TRANSACTIONS * MESSAGES; n += MESSAGES) {
    const texts = Array.from({ length: MESSAGES }, () =>
      Array.from({ length: WORDS }, () => `w${random.below(50_000)}`).join(' '),
    )
    const before = await changes()
    await db.write((tx) =>
      tx.atEnd((end) => {
        for (const [index, searchText] of texts.entries())
          indexMessage(end, { n: n + index, account: 1, message: mailOf({ searchText }), correspondents: people })
      }),
    )
    // FTS5 writes at the commit; the step has run before the next unit of work.
    rows.push((await changes()) - before)
  }
  assert.ok(Math.max(...rows) < ROWS_MAX, `${Math.max(...rows)} rows of the index`)
  const segments = db.read.get<{ n: number }>('SELECT count(DISTINCT segid) AS n FROM message_text_idx')!.n
  assert.ok(segments < 24, `${segments} segments`)
})

it('merges as much for a transaction of the longest texts as for the same text in many', () => {
  const steps = stepsOf((tx) => {
    for (let n = 0; n < 32; n++) noteWritten(tx, SEARCH_TEXT_MAX)
  })
  assert.ok(steps >= (32 * SEARCH_TEXT_MAX) / (64 * 1024), `${steps} steps`)
})

it('counts the bytes that the text fills, in every script', () => {
  const write = (searchText: string) =>
    stepsOf((tx) => {
      for (let n = 1; n <= 64; n++)
        indexMessage(tx, {
          n,
          account: 1,
          message: mailOf({ searchText }),
          correspondents: { from: [], to: [], cc: [] },
        })
    })
  const latin = write('words '.repeat(4000))
  const cyrillic = write('слова '.repeat(4000))
  assert.ok(cyrillic > latin * 1.5, `${cyrillic} and ${latin} steps`)
})

/** Steps of merging that are due after what is written in one transaction. */
function stepsOf(write: (tx: Tx) => void): number {
  const due: ((tx: Tx) => void)[] = []
  let steps = 0
  const openTx = () => {
    const followUp = (work: (tx: Tx) => void) => due.push(work)
    return { followUp, keepsCaches() {}, insert() {}, run: () => steps++ } as unknown as Tx
  }
  write(openTx())
  for (let work = due.shift(); work !== undefined; work = due.shift()) work(openTx())
  return steps
}
