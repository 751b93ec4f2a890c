// Changes of messages that can be undone for a day: what each message was before, and what it is afterwards.

import type { Clock } from '../../base/clock.ts'
import { DAY_MS } from '../../base/durations.ts'
import type { ErrorCode } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import type { Db, Reader, Steps, Tx } from '../../db/db.ts'
import { integer, json, key, type RecordOf, table, text, time } from '../../db/table.ts'
import { foldersByMessage } from '../entries/folders-entries.ts'
import { isSameSet } from '../entries/keywords.ts'
import type { Account } from '../rows/records.ts'
import { editRows } from './edit-rows.ts'
import type { MessageChange, MessageEdits } from './edits.ts'
import type { UndoEdit } from './undo-edits.ts'

/** How long a change can be undone, ms. */
export const UNDO_MS = DAY_MS
/** Changes that a mailbox keeps; the oldest make room. */
export const UNDO_RECORDS_MAX = 100
/** Messages restored before other code of this thread runs. */
const STEP_MESSAGES = 500
const EXPIRED_AT_ONCE = 100

export const UNDO_RECORDS = table('undo_records', {
  n: key(),
  id: text(),
  account: integer(),
  edits: json<UndoEdit[]>(),
  created_at: time(),
})
type UndoRecord = RecordOf<typeof UNDO_RECORDS>

export interface UndoOutcome {
  restored: string[]
  /** Messages that were changed or deleted since, or whose folder is gone. */
  notRestored: { id: string; code: ErrorCode; message: string }[]
}

/** Undoing must be possible on a full disk, as what it undoes is. */
const FREEING = { mayUseReserve: true }

export class UndoRecords {
  readonly #deps: { db: Db; clock: Clock; edits: MessageEdits }

  constructor(deps: { db: Db; clock: Clock; edits: MessageEdits }) {
    this.#deps = deps
  }

  /** Keeps what was changed. @returns the id to undo it with */
  add(tx: Tx, account: Account, edits: readonly UndoEdit[]): string {
    const id = newId('undo')
    UNDO_RECORDS.insert(tx, { id, account: account.n, edits: [...edits], createdAt: this.#deps.clock.now() })
    tx.run(
      `DELETE FROM undo_records WHERE n IN
         (SELECT n FROM undo_records WHERE account = ? ORDER BY n DESC LIMIT -1 OFFSET ?)`,
      [account.n, UNDO_RECORDS_MAX],
    )
    return id
  }

  /** Restores keywords and folders, and takes back what was learned. Once. @returns undefined when there is nothing to undo any more */
  undo(account: Account, id: string): Promise<UndoOutcome | undefined> {
    const { db, clock, edits } = this.#deps
    return db.writeInSteps(function* (tx): Steps<UndoOutcome | undefined> {
      const record = recordOf(tx, account, id)
      if (record === undefined || record.createdAt <= clock.now() - UNDO_MS) return undefined
      const outcome: UndoOutcome = { restored: [], notRestored: [] }
      for (let at = 0; at < record.edits.length; at += STEP_MESSAGES) {
        restore(tx, account, edits, record.edits.slice(at, at + STEP_MESSAGES), outcome)
        yield
      }
      tx.run('DELETE FROM undo_records WHERE n = ?', [record.n])
      return outcome
    }, FREEING)
  }

  /** Deletes what can no longer be undone. @returns how many */
  async expire(signal: AbortSignal): Promise<number> {
    const { db, clock } = this.#deps
    let deleted = 0
    while (!signal.aborted) {
      const { changes } = await db.writeFreeing((tx) =>
        tx.run(
          'DELETE FROM undo_records WHERE n IN (SELECT n FROM undo_records WHERE created_at <= ? ORDER BY created_at LIMIT ?)',
          [clock.now() - UNDO_MS, EXPIRED_AT_ONCE],
        ),
      )
      deleted += changes
      if (changes < EXPIRED_AT_ONCE) break
    }
    return deleted
  }

  /** See `PurgeStep`. */
  purgeIn(tx: Tx, { n }: Pick<Account, 'n'>, limit: number): number {
    return tx.run('DELETE FROM undo_records WHERE n IN (SELECT n FROM undo_records WHERE account = ? LIMIT ?)', [
      n,
      limit,
    ]).changes
  }
}

function recordOf(reader: Reader, account: Account, id: string): UndoRecord | undefined {
  return UNDO_RECORDS.get(reader, 'WHERE id = ? AND account = ?', [id, account.n])
}

const CHANGED = { code: 'conflict', message: 'The message was changed since.' } as const
const DELETED = { code: 'not_found', message: 'The message was deleted since.' } as const

/** Messages that were changed since keep what they have: a later decision counts. */
function restore(tx: Tx, account: Account, edits: MessageEdits, list: readonly UndoEdit[], outcome: UndoOutcome): void {
  const rows = editRows(
    tx,
    account,
    list.map(({ id }) => id),
  )
  const filed = foldersByMessage(
    tx,
    [...rows.values()].map(({ n }) => n),
  )
  const unchanged = list.filter(({ id, after }) => {
    const row = rows.get(id)
    const folders = row === undefined ? [] : filed.get(row.n)!.map((folder) => folder.id)
    const isSame = row !== undefined && isSameSet(row.keywords, after.keywords) && isSameSet(folders, after.folders)
    if (!isSame) outcome.notRestored.push({ id, ...(row === undefined ? DELETED : CHANGED) })
    return isSame
  })
  for (const group of Map.groupBy(unchanged, (edit) => JSON.stringify([edit.before, edit.said])).values()) {
    const { before, said } = group[0]!
    const taught = said === null ? {} : ({ teaches: 'api', says: said } as const)
    const change: MessageChange = { keywords: { set: before.keywords }, folders: { set: before.folders }, ...taught }
    const ids = group.map(({ id }) => id)
    const { updated, notUpdated } = edits.changeIn(tx, account, ids, change)
    outcome.restored.push(...updated)
    outcome.notRestored.push(...notUpdated.map(({ id, code, message }) => ({ id, code, message })))
  }
}
