// Changes of lists of messages and threads since a state (RFC 8620 §5.6): what is common to both.

import { conflict, ProductError } from '../../base/errors.ts'
import type { Reader } from '../../db/db.ts'
import { type Accounts, writeState } from './accounts.ts'
import { stateTooOld } from './changes.ts'
import { floorOf } from './changes-history.ts'
import type { Account } from './records.ts'

/** Changes of a list since a state: remove, then insert in this order. */
export interface QueryChanges {
  newState: string
  /** Entries in the list now. */
  total: number
  /** Public ids; may contain ids that were not in the list. */
  removed: string[]
  /** In ascending order of index. */
  added: { id: string; index: number }[]
}

/** Changes of a list as one statement reads them. */
export interface ListChanges {
  /** Sequence number of the account, and of the type of the entries. */
  seq: number
  typeSeq: number
  /** Entries in the list now. */
  total: number
  /** The changed entries with their current index; null if not in the list, or after the last one the client has. */
  reported: { id: string; index: number | null }[]
  /** True if more entries changed than allowed. */
  tooMany: boolean
}

interface ChangesRequest {
  accounts: Accounts
  account: Account
  type: 'messages' | 'threads'
  reader: Reader
  /** Sequence number of the type at the state. */
  since: number
}

/** Attempts to read a list and the names in its filter in the same state while other clients change the mailbox. */
const ATTEMPTS_MAX = 10

/**
 * Reads the changes until the account did not change between the names in the filter and the list.
 * @throws ProductError conflict if the state is unknown or too old, or more entries changed; service_unavailable
 */
export async function steadyChanges(
  { accounts, account, type, reader, since }: ChangesRequest,
  read: () => Promise<ListChanges>,
): Promise<QueryChanges> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const seq = accounts.seq(account)
    const list = await read()
    // The account changed after the names in the filter were resolved.
    if (list.seq !== seq) continue
    // Checked after the list is read: changes pruned in the meantime are missing in it.
    const isPruned = since < floorOf(reader, account.n, type)
    if (since > list.typeSeq || list.tooMany || isPruned) throw stateTooOld('since_query_state')
    const added = list.reported.flatMap(({ id, index }) => (index === null ? [] : [{ id, index }]))
    return {
      newState: writeState(type, list.typeSeq),
      total: list.total,
      removed: list.reported.map(({ id }) => id),
      added: added.sort((a, b) => a.index - b.index),
    }
  }
  throw new ProductError('service_unavailable', 'The mailbox is changing too quickly. Try again.', { retryAfter: 1 })
}

/** The error for a list whose entries change with the time alone. */
export function dependsOnTime(): ProductError {
  return conflict('This list depends on the current time; fetch it again', 'since_query_state')
}
