// Edits of whole threads: one change of all their messages, in one unit of work.

import { conflict, notFound } from '../../base/errors.ts'
import type { Db, Reader, Steps, Tx } from '../../db/db.ts'
import { countMessagesOf, messageIdsOf } from '../entries/thread-messages.ts'
import { threadRow } from '../entries/thread-rows.ts'
import type { EditRefusal, MessageChange, MessageEdits } from '../messages/edits.ts'
import type { Account } from '../rows/records.ts'

/** Maximum number of messages that one request changes. */
export const THREAD_MESSAGES_MAX = 5000
/** Messages changed before other code of this thread runs. */
const STEP_MESSAGES = 500

/** A change of the messages of a thread. */
export interface ThreadChange extends MessageChange {
  /** Number of the folder whose messages are changed; null: all that the counts of the thread cover. */
  inFolder: number | null
}

/** One of the messages cannot be changed, so none of the thread is. */
export class ThreadEditRefused extends Error {
  readonly refusal: EditRefusal

  constructor(refusal: EditRefusal) {
    super(refusal.message)
    this.refusal = refusal
  }
}

/** Moving a thread to Trash must be possible on a full disk. */
const FREEING = { mayUseReserve: true }

export class ThreadEdits {
  readonly #db: Db
  readonly #edits: MessageEdits

  constructor(deps: { db: Db; edits: MessageEdits }) {
    this.#db = deps.db
    this.#edits = deps.edits
  }

  /**
   * Changes all messages of a thread, or none.
   * @param check a precondition, in the unit of work
   * @throws ProductError not_found, conflict for a thread with too many messages
   * @throws ThreadEditRefused
   */
  change(account: Account, id: string, change: ThreadChange, check: (tx: Tx) => void = () => {}): Promise<void> {
    const edits = this.#edits
    return this.#db.writeInSteps(function* (tx): Steps<void> {
      // A unit of work that is repeated collects again.
      if (change.undo !== undefined) change.undo.length = 0
      check(tx)
      const thread = threadRow(tx, account.n, id)
      if (thread === undefined) throw notFound('thread')
      const ids = messageIdsOf(tx, thread.n, thread.listed === 1, change.inFolder)
      if (ids.length > THREAD_MESSAGES_MAX) throw tooMany()
      for (let at = 0; at < ids.length; at += STEP_MESSAGES) {
        const { notUpdated } = edits.changeIn(tx, account, ids.slice(at, at + STEP_MESSAGES), change)
        if (notUpdated[0] !== undefined) throw new ThreadEditRefused(notUpdated[0])
        yield
      }
    }, FREEING)
  }

  /** How many messages a change of a thread would concern; undefined if there is no such thread. */
  size(account: Account, id: string, inFolder: number | null, reader: Reader = this.#db.read): number | undefined {
    const thread = threadRow(reader, account.n, id)
    return thread && countMessagesOf(reader, thread.n, thread.listed === 1, inFolder)
  }
}

/** The error for a request that concerns too many messages. */
export function tooMany() {
  const message = `One request changes at most ${THREAD_MESSAGES_MAX} messages. Send fewer threads, or change the messages.`
  return conflict(message)
}
