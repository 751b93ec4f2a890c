// Cuts the texts of messages of earlier versions into words anew (decisions §10.4), in pieces, while mail comes in and is searched for.

import type { Db, Tx } from '../db/db.ts'
import type { BodyTextReader } from '../workers/body-reader.ts'
import type { Accounts } from './accounts.ts'
import type { Blobs } from './blobs.ts'
import { isThere, type SearchedMessage, searchedBehind } from './messages/searched.ts'
import { endRenewal, moveRenewal, openRenewal } from './search/renewal.ts'
import { type IndexedMessage, indexMessage, isCutAnew, unindexMessage } from './search/text.ts'

// A message takes a millisecond, most of it outside of the write. A piece ends early with long texts, so that it holds others up no
// longer than a delivery does.
const AT_ONCE = 20
const CHARS_AT_ONCE = 256 * 1024
/** Messages of one run: other jobs have their turn between two. */
const PER_RUN = 5000

/** What was done: how many messages got into the index anew, and how many could not be read. */
export interface Renewed {
  renewed: number
  unreadable: number
}

type Read = IndexedMessage & { id: string }

interface Deps {
  db: Db
  accounts: Accounts
  blobs: Blobs
}

export class TextRenewal {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Goes on where it was left, as far as one run goes or the signal lets it. A message whose text stays as it was is not written. */
  async run(reader: BodyTextReader, signal: AbortSignal): Promise<Renewed> {
    const { db } = this.#deps
    const done: Renewed = { renewed: 0, unreadable: 0 }
    for (let seen = 0; seen < PER_RUN && !signal.aborted; ) {
      const renewal = await openRenewal(db.read)
      if (renewal === undefined) break
      const messages = await searchedBehind(db.read, renewal, AT_ONCE)
      if (messages.length === 0) await db.write(endRenewal)
      else seen += await this.#piece(reader, messages, done)
    }
    return done
  }

  /** @returns how many of the messages were looked at */
  async #piece(reader: BodyTextReader, messages: readonly SearchedMessage[], done: Renewed): Promise<number> {
    const changed: Read[] = []
    let seen = 0
    for (let chars = 0; seen < messages.length && chars < CHARS_AT_ONCE; seen++) {
      const read = await this.#read(reader, messages[seen]!)
      if (read === null) done.unreadable++
      else if (isCutAnew(read.mail)) changed.push(read)
      chars += read?.mail.searchText.length ?? 0
    }
    const { db, accounts } = this.#deps
    await db.write(async (tx) => {
      for (const message of changed) if (await isThere(tx, message)) renew(tx, message)
      for (const account of new Set(changed.map((message) => message.account))) await accounts.moveOn(tx, account)
      await moveRenewal(tx, messages[seen - 1]!.n)
    })
    done.renewed += changed.length
    return seen
  }

  /** Null when its content is damaged: it stays in the index as it is. */
  async #read(reader: BodyTextReader, message: SearchedMessage): Promise<Read | null> {
    const { n, id, account, mail, people, blob, sizeBytes, root } = message
    try {
      const bytes = await this.#deps.blobs.bytes(blob, 0, sizeBytes)
      const searchText = root === null ? '' : await reader.text(bytes, root)
      return { n, id, account, mail: { ...mail, searchText }, people }
    } catch {
      return null
    }
  }
}

/** At the end of the transaction, where other writers of the index are too: a message that goes meanwhile goes after it. */
function renew(tx: Tx, message: IndexedMessage): void {
  tx.atEnd(async (end) => {
    await unindexMessage(end, message.n)
    await indexMessage(end, message)
  }, message.n)
}
