// All rows of one mailbox, found by walking the schema, so that a new table is included.

import type { TestAppliance } from './appliance.ts'

/** Numbers of objects of a mailbox, which rows without its own number refer to. */
export interface Traced {
  mailboxId: string
  account: number
  messages: number[]
  threads: number[]
  folders: number[]
}

/** Columns that identify the owner or subject of a row. */
const WHOSE: Record<string, (traced: Traced) => (string | number)[]> = {
  account: ({ account }) => [account],
  mailbox: ({ account }) => [account],
  mailbox_id: ({ mailboxId }) => [mailboxId],
  owner_id: ({ mailboxId }) => [mailboxId],
  owner: ({ mailboxId }) => [mailboxId],
  message: ({ messages }) => messages,
  thread: ({ threads }) => threads,
  folder: ({ folders }) => folders,
}

export function trace(appliance: TestAppliance, mailboxId: string): Traced {
  const { db, store } = appliance.app
  const { n: account } = store.accounts.byMailbox(mailboxId)!
  const numbers = (table: string) =>
    db.read.all<{ n: number }>(`SELECT n FROM ${table} WHERE account = ?`, [account]).map(({ n }) => n)
  return {
    ...{ mailboxId, account, messages: numbers('messages') },
    ...{ threads: numbers('threads'), folders: numbers('folders') },
  }
}

/** Number of rows of the mailbox in each table that can have some. */
export function tracesOf(appliance: TestAppliance, traced: Traced): Map<string, number> {
  const { db } = appliance.app
  const tables = db.read.all<{ name: string }>(
    `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`,
  )
  const found = new Map<string, number>()
  const count = (table: string, column: string, values: (string | number)[]) => {
    const list = JSON.stringify(values)
    const sql = `SELECT count(*) AS count FROM ${table} WHERE ${column} IN (SELECT value FROM json_each(?))`
    return db.read.get<{ count: number }>(sql, [list])!.count
  }
  for (const { name } of tables) {
    const columns = db.read.all<{ name: string }>(`SELECT name FROM pragma_table_info('${name}')`)
    const whose = columns.filter((column) => Object.hasOwn(WHOSE, column.name))
    let rows = 0
    for (const column of whose) rows = Math.max(rows, count(name, column.name, WHOSE[column.name]!(traced)))
    if (whose.length > 0) found.set(name, rows)
  }
  // The search index has no such columns: its rowids are numbers of messages.
  found.set('message_text', count('message_text_docsize', 'id', traced.messages))
  return found
}
