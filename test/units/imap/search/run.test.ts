// Large searches: pages in turn, progress between them, the end with the session, and how many run at a time.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { SEARCHES_AT_ONCE, SEARCHES_PER_MAILBOX } from '../../../../src/imap/grammar/limits.ts'
import type { PageResult, PageTask } from '../../../../src/imap/search/page.ts'
import { Searcher } from '../../../../src/imap/search/searcher.ts'
import type { ImapSession } from '../../../../src/imap/session/session.ts'
import { searchFolder } from '../../../../src/imap/untagged/run.ts'
import { UidView } from '../../../../src/imap/views/views.ts'

const COUNT = 50_000
const folder = { n: 1, view: UidView.ofRuns([{ first: 1, count: COUNT }]), recent: [], saved: [] }
const searcher = new Searcher({ mail: 'absent', blobs: 'absent' })
after(() => searcher.close())

/** A page that looks at so many UIDs within its time, and finds the even ones. */
function answer({ part }: PageTask, most: number): PageResult {
  const [[first, last]] = part.ranges as [[number, number]]
  const through = Math.min(last, first + most - 1)
  const uids = Uint32Array.from({ length: through - first + 1 }, (_, at) => first + at).filter((uid) => uid % 2 === 0)
  const undecided = { uids: new Uint32Array(0), messages: new Float64Array(0), bytes: 0 }
  return { through, uids, modSeqs: Float64Array.from(uids), facts: null, damaged: [], undecided }
}

type FakeSession = ImapSession & { isGone: boolean; reached: [number, number][] }

/** What a search sees of its session. */
function sessionWith(page: (task: PageTask) => Promise<PageResult>, account = 1): FakeSession {
  const session = {
    app: {
      clock: { now: () => 0 },
      db: { durable: async () => {} },
      searcher: { page, during: searcher.during.bind(searcher) },
    },
    signedIn: { account: { n: account } },
    isGone: false,
    progress: { reached: (done: number, total: number) => session.reached.push([done, total]) },
    reached: [] as [number, number][],
    assertRunning: () => {
      if (session.isGone) throw new Error('The client has gone.')
    },
  }
  return session as unknown as FakeSession
}

test('pages go on where their time had expired, and progress is reported between them', async () => {
  const session = sessionWith(async (task) => answer(task, 1500))
  const { hits } = await searchFolder(session, folder, { kind: 'all' })
  assert.equal(hits.length, COUNT / 2)
  assert.deepEqual([hits.uids[0], hits.uids.at(-1), hits.highestModSeq], [2, COUNT, COUNT])
  assert.deepEqual(session.reached, [
    [20_000, COUNT],
    [40_000, COUNT],
    [COUNT, COUNT],
  ])
})

test('a search ends with its session, also one that still waits for its turn', async () => {
  let pages = 0
  const session = sessionWith(async (task) => {
    if (++pages === 2) session.isGone = true
    return answer(task, 100)
  })
  const waiting = sessionWith(async (task) => answer(task, 100))
  const first = searchFolder(session, folder, { kind: 'all' })
  const second = searchFolder(waiting, folder, { kind: 'all' })
  waiting.isGone = true
  await assert.rejects(first, /gone/)
  await assert.rejects(second, /gone/)
  assert.equal(pages, 2)
})

test('bounds: searches of one mailbox and of all mailboxes at a time', async () => {
  const open = new Map<number, number>()
  let most = 0
  const gates: (() => void)[] = []
  const search = (account: number) =>
    searcher.during(account, async () => {
      open.set(account, (open.get(account) ?? 0) + 1)
      assert.ok(open.get(account)! <= SEARCHES_PER_MAILBOX)
      most = Math.max(
        most,
        [...open.values()].reduce((sum, count) => sum + count, 0),
      )
      await new Promise<void>((resolve) => gates.push(resolve))
      open.set(account, open.get(account)! - 1)
    })
  const all = Promise.all(Array.from({ length: 3 * SEARCHES_AT_ONCE }, (_, at) => search(at % (SEARCHES_AT_ONCE + 1))))
  let ended = false
  void all.then(() => (ended = true))
  while (!ended) {
    gates.shift()?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.equal(most, SEARCHES_AT_ONCE)
})
