// What became of a list of messages since a state: which ones leave it, and where the others stand now (RFC 8620 5.6).

import type { Reader } from '../../db/db.ts'
import { counters } from '../accounts.ts'
import { touchedSince } from '../changes.ts'
import type { Fragment } from '../folders.ts'
import { matching } from '../search/hits.ts'
import type { Search } from '../search/search.ts'
import { every, type RowKey } from '../search/sql.ts'
import { isFirst, type MessageOrder, SORT_KEY } from './list.ts'
import { numberRange } from './numbers.ts'
import { meets, meetsOnWalk, type Walk, walksOf } from './walk.ts'

/** Which list, and since when. */
export interface ListChangesQuery {
  search: Search
  order: MessageOrder
  /** Counter of the messages at the state. */
  since: number
  /** Messages that may have been touched since; one more says that there are more. */
  most: number
  /** The last place that is of interest; null for all. */
  upTo: RowKey | null
}

/** What became of it, all of it read at one moment. */
export interface ListChanges {
  /** Counter of the account, and that of its messages. */
  seq: number
  messagesSeq: number
  /** Messages in the list now. */
  total: number
  /** Everything touched since, and where it stands in the list now; `index` is null for what is not in it, or behind `upTo`. */
  told: { id: string; index: number | null }[]
  /** True when more was touched than may be told. */
  tooMany: boolean
}

interface Row {
  id: string | null
  place: number | null
  total: number | null
  seq: number | null
  messages_seq: number | null
  touched: number | null
}

/** A table of a WITH. */
interface Table {
  name: string
  content: Fragment
}

// Every time of receipt lies between these.
const TIME_ENDS = { desc: Number.MAX_SAFE_INTEGER, asc: Number.MIN_SAFE_INTEGER }

/**
 * Everything comes from one statement: an index is right only together with the state it belongs to. What is touched is removed and
 * added anew wherever it stood before: nothing is known of that, and a client whose list was read a moment after its state ends
 * right as well.
 */
export async function changesOfList(reader: Reader, asked: ListChangesQuery): Promise<ListChanges> {
  const { sql, values } = changesStatement(asked)
  const rows = await reader.all<Row>(sql, values)
  const facts = rows.find(({ id }) => id === null)!
  return {
    seq: facts.seq!,
    messagesSeq: facts.messages_seq!,
    total: facts.total!,
    told: rows.flatMap(({ id, place }) => (id === null ? [] : [{ id, index: place }])),
    tooMany: facts.touched! > asked.most,
  }
}

/** The one statement. Where an index leads through the list it is counted up to the last message that is told, else it is read whole. */
export function changesStatement(asked: ListChangesQuery): Fragment {
  const { search, order } = asked
  const walks = search.text === null && order.sort === 'received_at' && !search.never
  const tables = [...touchedTables(asked), ...(walks ? walkedTables(asked) : listedTables(asked))]
  const total = walks ? countOnWalks(search, order, null) : { sql: '(SELECT count(*) FROM list)', values: [] }
  const facts = counters(search.account, 'messages')
  const written = tables.map(({ name, content }) => `${name} AS MATERIALIZED (${content.sql})`)
  return {
    sql: `WITH ${written.join(',\n')}
SELECT told.id AS id, placed.place AS place, NULL AS total, NULL AS seq, NULL AS messages_seq, NULL AS touched
FROM told LEFT JOIN placed ON placed.n = told.n
UNION ALL
SELECT NULL, NULL, ${total.sql}, a.seq, a.type_seq, (SELECT count(*) FROM touched) FROM (${facts.sql}) a`,
    values: [...tables.flatMap(({ content }) => content.values), ...total.values, ...facts.values],
  }
}

/** `told(n, id)`: what was touched, and of threads that were touched the message the list may have shown before. */
function touchedTables({ search, order, since, most }: ListChangesQuery): Table[] {
  const { account, text } = search
  const touched = touchedSince(account, 'messages', since, most + 1)
  const tables: Table[] = [
    { name: 'touched(n, id)', content: { ...touched, sql: `SELECT n, object FROM (${touched.sql})` } },
  ]
  if (text !== null) tables.push({ name: 'hits(n)', content: matching(text) })
  if (!order.collapseThreads || search.never) {
    return [...tables, { name: 'told(n, id)', content: { sql: 'SELECT n, id FROM touched', values: [] } }]
  }
  // What was not touched matched before as it does now, so that of all these only the first can have stood for its thread.
  const untouched = (column: string) =>
    every([{ sql: `${column} NOT IN (SELECT n FROM touched)`, values: [] }, isHit(search)(column)])
  const threads = touchedSince(account, 'threads', since, most + 1)
  const asked = every([
    // The number of a thread that is gone may be that of a thread of another mailbox by now. The plus keeps to the index of threads.
    { sql: 'm.thread = t.n AND +m.account = ?', values: [account] },
    meets(search, 'm'),
    untouched('m.n'),
    isFirst(search, order, untouched),
  ])
  return [
    ...tables,
    {
      name: 'told(n, id)',
      content: {
        sql: `SELECT n, id FROM touched
UNION ALL SELECT m.n, m.id FROM (${threads.sql}) t CROSS JOIN messages m WHERE ${asked.sql}`,
        values: [...threads.values, ...asked.values],
      },
    },
  ]
}

/** `placed(n, place)` by counting along an index, from each message that is told to the next one. */
function walkedTables({ search, order, upTo }: ListChangesQuery): Table[] {
  const { direction } = order
  const asked = every([
    { sql: 'm.n = told.n', values: [] },
    meets(search, 'm'),
    order.collapseThreads ? isFirst(search, order, () => null) : null,
    upTo && notBehind('m.received_at', 'm.n', order, upTo),
  ])
  const row = `ORDER BY at ${direction}, n ${direction}`
  const between = countOnWalks(search, order, (walk) => betweenSteps(walk, order))
  return [
    {
      name: 'found(at, n)',
      content: {
        sql: `SELECT m.received_at, m.n FROM told CROSS JOIN messages m WHERE ${asked.sql}`,
        values: asked.values,
      },
    },
    {
      name: 'steps(at, n, at_before, n_before)',
      content: {
        sql: `SELECT at, n, coalesce(lag(at) OVER (${row}), ?), coalesce(lag(n) OVER (${row}), 0) FROM found`,
        values: [TIME_ENDS[direction]],
      },
    },
    {
      name: 'counted(at, n, passed)',
      content: { sql: `SELECT s.at, s.n, ${between.sql} FROM steps s`, values: between.values },
    },
    {
      name: 'placed(n, place)',
      content: {
        sql: `SELECT n, sum(passed) OVER (${row}) + row_number() OVER (${row}) - 1 FROM counted`,
        values: [],
      },
    },
  ]
}

/** `placed(n, place)` by putting the whole list in its order. */
function listedTables({ search, order, upTo }: ListChangesQuery): Table[] {
  const key = SORT_KEY[order.sort]('m')
  const { low, high } = numberRange(search.account)
  const asked = every([
    search.never ? { sql: '1 = 0', values: [] } : null,
    search.text === null ? { sql: 'm.n BETWEEN ? AND ?', values: [low, high] } : { sql: 'm.n = hits.n', values: [] },
    meets(search, 'm'),
    order.collapseThreads ? isFirst(search, order, isHit(search)) : null,
  ])
  const from = search.text === null ? 'messages m' : 'hits CROSS JOIN messages m'
  const wanted = upTo === null ? { sql: '1 = 1', values: [] } : notBehind('at', 'n', order, upTo)
  return [
    {
      name: 'list(at, n, place)',
      content: {
        sql: `SELECT ${key}, m.n, row_number() OVER (ORDER BY ${key} ${order.direction}, m.n ${order.direction}) - 1
FROM ${from} WHERE ${asked.sql}`,
        values: asked.values,
      },
    },
    { name: 'placed(n, place)', content: { ...wanted, sql: `SELECT n, place FROM list WHERE ${wanted.sql}` } },
  ]
}

/** How many messages the walks meet. @param part which stretch of each walk; null for all of it */
function countOnWalks(search: Search, order: MessageOrder, part: ((walk: Walk) => Fragment) | null): Fragment {
  const counts = walksOf(search).map((walk) => {
    const isBare = walk.bare !== null && search.others === null && !order.collapseThreads
    const from = isBare ? walk.bare! : walk.from
    const asked = every([
      isBare ? null : walk.where,
      part?.(walk),
      meetsOnWalk(search, walk.order.at),
      order.collapseThreads ? isFirst(search, order, () => null) : null,
    ])
    return { sql: `(SELECT count(*) FROM ${from.sql} WHERE ${asked.sql})`, values: [...from.values, ...asked.values] }
  })
  return { sql: counts.map(({ sql }) => sql).join(' + '), values: counts.flatMap(({ values }) => values) }
}

function betweenSteps({ order: { at, n } }: Walk, { direction }: MessageOrder): Fragment {
  const [behind, before] = direction === 'desc' ? ['<', '>'] : ['>', '<']
  return {
    sql: `(${at}, ${n}) ${behind} (s.at_before, s.n_before) AND (${at}, ${n}) ${before} (s.at, s.n)`,
    values: [],
  }
}

function notBehind(at: string, n: string, { direction }: MessageOrder, place: RowKey): Fragment {
  return { sql: `(${at}, ${n}) ${direction === 'desc' ? '>=' : '<='} (?, ?)`, values: [place.at, place.n] }
}

function isHit({ text }: Search): (column: string) => Fragment | null {
  return (column) => (text === null ? null : { sql: `${column} IN (SELECT n FROM hits)`, values: [] })
}
