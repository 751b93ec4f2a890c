// Query plans of list statements: they use their index, without table scans and sorts.

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Db, Reader, Tx } from '../../../src/db/db.ts'
import { messageKeysOf } from '../../../src/store/entries/thread-messages.ts'
import { firstPassStatement, secondPassStatement } from '../../../src/store/lists/find-by-text.ts'
import { changesStatement } from '../../../src/store/lists/message-changes.ts'
import { listStatement as messageStatement, textList as messagesByText } from '../../../src/store/lists/message-list.ts'
import { listStatement as threadStatement, textList as threadsByText } from '../../../src/store/lists/thread-list.ts'
import { messageWithContent } from '../../../src/store/messages/contents.ts'
import { editRows } from '../../../src/store/messages/edit-rows.ts'
import { sortByReceipt } from '../../../src/store/rows/folders-sort.ts'
import type { MessageFilter, PageKey } from '../../../src/store/rows/records.ts'
import { skipUids } from '../../../src/store/rows/renumber.ts'
import { openSearch, type Search } from '../../../src/store/search/search.ts'
import { RemoteMessages } from '../../../src/sync/ledger/remote-messages.ts'
import { openTestStore, TestMailbox, type TestStore } from '../../support/mailbox.ts'
import { Random } from '../../support/random.ts'
import { NOW, randomPut } from '../../support/search-model.ts'
import { watchedTx } from '../../support/watched-tx.ts'

let appliance: TestStore
let box: TestMailbox

before(async () => {
  appliance = await openTestStore()
  box = await TestMailbox.open(appliance)
  const random = new Random(3)
  await box.putAll(Array.from({ length: 50 }, (_, index) => randomPut(random, index)))
})
after(() => appliance[Symbol.asyncDispose]())

const CUT = { direction: 'desc', limit: 25, sort: 'received_at', collapseThreads: false } as const
const BEHIND: PageKey = [NOW, 5]

function search(filter: MessageFilter): Search {
  return openSearch({ reader: appliance.db.read, folders: appliance.store.read.folders, now: NOW }, box.account, filter)
}

function plan({
  sql,
  values,
}: {
  sql: string
  values: (string | number | bigint | boolean | Uint8Array | null | undefined)[]
}) {
  const rows = appliance.db.read.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, values)
  return rows.map(({ detail }) => detail)
}

/** A line of a plan that scans or searches a table, and the index it uses. */
const touching = (lines: string[], table: RegExp) => lines.filter((line) => table.test(line))

function plansOf(filter: MessageFilter, after: PageKey | null) {
  const input = search(filter)
  return {
    messages: plan(messageStatement(input, { ...CUT, after })),
    threads: plan(threadStatement(input, { ...CUT, after })),
  }
}

describe('entries of folders', () => {
  it('are read and changed without a pass over a table', async () => {
    const {
      programs: { flags, moves, views },
      read: { folders },
    } = appliance.store
    const { account } = box
    const [from, to] = [folders.byRole(account.n, 'inbox').n, folders.byRole(account.n, 'archive').n]
    const seen = new Set<string>()
    await appliance.db.write((tx) => {
      skipUids(tx, 1000, NOW)
      const watched = watchedTx(tx, (method, sql) => method === 'insert' || seen.add(sql))
      const uids = views.entries(from, [{ first: 1, last: 2 ** 32 - 1 }], 4, watched).map(({ uid }) => uid)
      assert.equal(uids.length, 4)
      flags.changeIn(
        watched,
        account,
        { folder: from, uids },
        { keywords: { add: ['$flagged', 'new'] }, deleted: true },
      )
      flags.changeIn(watched, account, { folder: from, uids }, { keywords: { remove: ['new'], add: ['$seen'] } })
      flags.changeIn(watched, account, { folder: from, uids }, { keywords: { remove: ['$seen'] } })
      moves.copyIn(watched, account, { from, to, uids: uids.slice(0, 1) })
      moves.moveIn(watched, account, { from, to, uids: uids.slice(0, 3) })
      assert.deepEqual(moves.expungeIn(watched, account, from, uids), uids.slice(3))
      views.expungedSince(from, 0, watched)
      views.statuses(account, watched)
    })
    assert.ok(seen.size > 20)
    const passes = [...seen].flatMap((sql) =>
      touching(plan({ sql, values: [] }), /^SCAN (?!j\b|r\b|d\b|json_each|\d+-ROW)/),
    )
    assert.deepEqual(passes, [])
  })
})

describe('a folder that is numbered again', () => {
  it('is not passed for each entry', async () => {
    const { db, store } = appliance
    const folder = store.read.folders.byRole(box.account.n, 'inbox').n
    const seen = new Set<string>()
    const write = (work: (tx: Tx) => unknown) =>
      db.write((tx) => work(watchedTx(tx, (method, sql) => method === 'insert' || seen.add(sql))) as never)
    const options = { now: NOW, signal: new AbortController().signal }
    await sortByReceipt({ write } as Pick<Db, 'write'>, box.account, folder, options)
    const [update] = [...seen].filter((sql) => sql.startsWith('UPDATE message_folders'))
    assert.deepEqual(plan({ sql: update!, values: [] }), [
      'SCAN j VIRTUAL TABLE INDEX 1:',
      'SEARCH message_folders USING PRIMARY KEY (folder=? AND uid=?)',
    ])
    const [next] = [...seen].filter((sql) => sql.startsWith('SELECT uid'))
    const index = 'message_folders_order (folder=? AND (received_at,message)>(?,?))'
    assert.deepEqual(plan({ sql: next!, values: [] }), [`SEARCH message_folders USING COVERING INDEX ${index}`])
    const received = db.read.all<{ received_at: number }>(
      'SELECT received_at FROM message_folders WHERE folder = ? ORDER BY uid',
      [folder],
    )
    const times = received.map(({ received_at: at }) => at)
    assert.ok(times.length > 10)
    assert.deepEqual(
      times,
      [...times].sort((a, b) => a - b),
    )
  })
})

describe('messages at another server', () => {
  it('are marked without a pass over their folder', async () => {
    const seen: string[] = []
    await appliance.db.write((tx) => {
      const watched = watchedTx(tx, (_, sql) => seen.push(sql))
      new RemoteMessages(appliance.db).mark(watched, 1, [{ uid: 1, marks: ['$seen'] }])
    })
    assert.deepEqual(plan({ sql: seen[0]!, values: [] }), [
      'SCAN j VIRTUAL TABLE INDEX 1:',
      'SEARCH remote_messages USING PRIMARY KEY (remote_folder=? AND uid=?)',
    ])
  })
})

describe('lists without full-text search', () => {
  const cases: { what: string; filter: () => MessageFilter; messages: RegExp; threads: RegExp }[] = [
    {
      what: 'everything',
      filter: () => ({}),
      messages: /^SEARCH m USING COVERING INDEX messages_order \(account=\? AND listed=\?/,
      threads: /^SEARCH t USING COVERING INDEX threads_order \(account=\? AND listed=\?/,
    },
    {
      what: 'a folder',
      filter: () => ({ folderId: box.folder('inbox').id }),
      messages: /^SEARCH message_folders USING COVERING INDEX message_folders_order \(folder=\?/,
      threads: /^SEARCH thread_folders USING COVERING INDEX thread_folders_order \(folder=\?/,
    },
    {
      what: 'unread',
      filter: () => ({ isUnread: true }),
      messages: /^SEARCH m USING INDEX messages_unread \(account=\?/,
      threads: /^SEARCH t USING (?:COVERING )?INDEX threads_unread \(account=\? AND listed=\?/,
    },
    {
      what: 'with attachments',
      filter: () => ({ hasAttachment: true }),
      messages: /^SEARCH m USING INDEX messages_attachments \(account=\?/,
      threads: /^SEARCH t USING (?:COVERING )?INDEX threads_attachments \(account=\? AND listed=\?/,
    },
    {
      what: 'from a time on',
      filter: () => ({ after: NOW - 1000 }),
      messages: /^SEARCH m USING COVERING INDEX messages_order \(account=\? AND listed=\? AND received_at/,
      threads: /^SEARCH t USING COVERING INDEX threads_order \(account=\? AND listed=\? AND last_received_at/,
    },
  ]
  for (const { what, filter, messages, threads } of cases) {
    for (const after of [null, BEHIND]) {
      it(`read ${what}${after ? ', a later page' : ''} directly from an index`, () => {
        const plans = plansOf(filter(), after)
        assert.match(plans.messages[0]!, messages)
        assert.match(plans.threads[0]!, threads)
        if (after) {
          assert.match(plans.messages[0]!, /received_at(?:,message\))?[<>]/)
          assert.match(plans.threads[0]!, /last_received_at(?:,thread\))?[<>]/)
        }
        for (const line of [...plans.messages, ...plans.threads]) assert.doesNotMatch(line, /TEMP B-TREE|^SCAN/)
      })
    }
  }

  it('look up one message of a thread by the index on threads', () => {
    const { threads } = plansOf({ before: NOW }, null)
    assert.deepEqual(touching(threads, / m /), [
      'SEARCH m EXISTS USING COVERING INDEX messages_thread (thread=? AND received_at<?)',
    ])
    for (const line of threads) assert.doesNotMatch(line, /TEMP B-TREE|^SCAN/)
  })
})

describe('full-text searches', () => {
  const lists = { messages: messagesByText, threads: threadsByText }
  const statements = { glance: firstPassStatement, whole: secondPassStatement }
  for (const [list, textList] of Object.entries(lists)) {
    for (const [stage, statement] of Object.entries(statements)) {
      it(`of ${list} (${stage}) walk the list in its order and read messages only by number or thread`, () => {
        for (const q of [
          'common',
          'common usual',
          '"common usual"',
          'com*',
          '-common',
          'common is:unread',
          'common in:inbox',
        ]) {
          const input = search({ q })
          for (const after of [null, BEHIND]) {
            const cut = { ...CUT, after }
            const lines = plan(statement(input.text!, cut, after && 7, textList(input, cut)))
            for (const line of touching(lines, /\bm\b|\bt\b|folders|\bmessages\b/))
              assert.match(line, /^SEARCH/, `${q}: ${line}`)
            for (const line of touching(lines, /message_text/))
              assert.match(line, /VIRTUAL TABLE INDEX \d+:[^ ]*M8/, `${q}: ${line}`)
            // One sort: of the few matches.
            const sorts = touching(lines, /TEMP B-TREE FOR ORDER BY/)
            assert.equal(sorts.length, 1, `${q}: ${lines.join('\n')}`)
          }
        }
      })
    }
  }

  it('limit the index to the number range of the account', () => {
    const input = search({ q: 'common' })
    const lines = plan(
      secondPassStatement(input.text!, { ...CUT, after: null }, null, messagesByText(input, { ...CUT, after: null })),
    )
    assert.deepEqual(touching(lines, /MATERIALIZE hits|VIRTUAL TABLE/).slice(0, 2), [
      'MATERIALIZE hits',
      'SCAN message_text VIRTUAL TABLE INDEX 192:M8><',
    ])
  })
})

describe('changes of a list', () => {
  it('are counted along its index, from one reported message to the next, and in total', () => {
    const cases: [MessageFilter, RegExp, RegExp][] = [
      [
        {},
        /^SEARCH m USING COVERING INDEX messages_order \(account=\? AND listed=\? AND received_at>\?/,
        /^SEARCH m USING COVERING INDEX messages_order \(account=\? AND listed=\?\)/,
      ],
      [
        { folderId: box.folder('inbox').id },
        /^SEARCH message_folders USING COVERING INDEX message_folders_order \(folder=\? AND received_at>\?/,
        /^SEARCH message_folders USING COVERING INDEX message_folders_order \(folder=\?\)/,
      ],
    ]
    for (const [filter, step, whole] of cases) {
      const input = { search: search(filter), order: CUT, since: 1, most: 10, upTo: null }
      const lines = plan(changesStatement(input))
      assert.ok(lines.some((line) => step.test(line)) && lines.some((line) => whole.test(line)), lines.join('\n'))
      assert.equal(touching(lines, /^SCAN (m|message_folders|changes)\b/).length, 0, lines.join('\n'))
    }
  })
})

describe('small lookups', () => {
  /** Returns the query plan instead of rows. */
  let planner: Reader
  before(() => {
    const all = (sql: string, values: Parameters<typeof plan>[0]['values'] = []) => plan({ sql, values })
    planner = { all } as unknown as Reader
  })
  const oneLine = (found: unknown) => (found as string[]).join('\n')

  it('of a page of a thread use the index on threads', () => {
    for (const listed of [true, false]) {
      for (const after of [null, BEHIND]) {
        for (const direction of ['asc', 'desc'] as const) {
          const lines = oneLine(messageKeysOf(planner, 1, listed, { direction, limit: 25, after }))
          assert.match(lines, /^SEARCH messages USING INDEX messages_thread \(thread=\?/)
          assert.doesNotMatch(lines, /TEMP B-TREE|SCAN/)
          if (after) assert.match(lines, /thread=\? AND .*received_at.*[<>]/)
        }
      }
    }
  })

  it('of the message with some content use the index on contents', () => {
    const row = messageWithContent(
      { get: (sql: string, values: []) => ({ id: oneLine(plan({ sql, values })) }) } as unknown as Reader,
      { n: 1 },
      new Uint8Array(32),
    ) as string
    assert.match(row, /^SEARCH messages USING INDEX messages_blob \(blob=\?/)
  })
})

it('edits of many messages look them up by id, for any size of the account', () => {
  const plans: string[] = []
  const reader = {
    all: (sql: string, values: string[]) => {
      plans.push(...plan({ sql, values }))
      return []
    },
  }
  editRows(
    reader as never,
    box.account,
    Array.from({ length: 100 }, (_, index) => `msg_${index}`),
  )
  assert.deepEqual(plans, ['SEARCH messages USING INDEX sqlite_autoindex_messages_1 (id=?)'])
})
