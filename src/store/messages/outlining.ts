// Stores the structure and the header fields of messages of earlier versions as mail programs need them, in batches in the background.

import type { Db, Reader, Tx } from '../../db/db.ts'
import { setDecodedSizes } from '../../mime/decoded-size.ts'
import { headerKeys } from '../../mime/header-keys.ts'
import type { Part } from '../../mime/message.ts'
import { packHeaders } from '../../mime/message-headers.ts'
import { readStructure } from '../../mime/structure.ts'
import type { Blobs } from '../content/blobs.ts'
import { putHeaders, type StoredHeader } from '../entries/headers.ts'
import type { Accounts } from '../rows/accounts.ts'
import { numberRange } from '../rows/accounts-numbers.ts'
import type { MessageEdits } from './edits.ts'
import { servedBytes } from './file-message.ts'

/** A message to outline. */
interface OutlinedMessage {
  n: number
  id: string
  blob: Uint8Array
  sizeBytes: number
}

/** The present form of what is stored about a message. */
interface Outline extends StoredHeader {
  root: Part
}

/** Numbers of accounts that are not done. */
function accountsToOutline(reader: Reader): number[] {
  return reader
    .all<{ account: number }>('SELECT account FROM outline_progress ORDER BY account')
    .map((row) => row.account)
}

/** How many messages are left, at most. */
function messagesToOutline(reader: Reader): number {
  return accountsToOutline(reader).reduce((sum, account) => {
    const row = reader.get<{ n: number }>(
      `SELECT count(*) AS n FROM messages WHERE n BETWEEN ? AND (SELECT before - 1 FROM outline_progress WHERE account = ?)`,
      [numberRange(account).low, account],
    )
    return sum + row!.n
  }, 0)
}

/** The next messages of an account, newest first. */
function nextToOutline(reader: Reader, account: number, limit: number): OutlinedMessage[] {
  return reader.all<OutlinedMessage>(
    `SELECT n, id, blob, size_bytes AS sizeBytes FROM messages
     WHERE n >= ? AND n < (SELECT before FROM outline_progress WHERE account = ?) ORDER BY n DESC LIMIT ?`,
    [numberRange(account).low, account, limit],
  )
}

/** Records that messages with this number and above are done. */
function saveOutlined(tx: Tx, account: number, before: number): void {
  tx.run('UPDATE outline_progress SET before = ? WHERE account = ?', [before, account])
}

/** Nothing is left of the account. @returns the number of deleted rows. See `PurgeStep`. */
export function endOutlining(tx: Tx, account: number): number {
  return tx.run('DELETE FROM outline_progress WHERE account = ?', [account]).changes
}

/** Stores an outline unless the message was deleted. @returns false if it was */
function putOutline(tx: Tx, { n, id }: OutlinedMessage, { root, ...header }: Outline): boolean {
  const row = tx.get<{ structure: string }>('SELECT structure FROM messages WHERE n = ? AND id = ?', [n, id])
  if (row === undefined) return false
  const structure = JSON.parse(row.structure) as { root: Part | null }
  // Without a structure a message was not read, and is shown as it is.
  if (structure.root !== null) {
    tx.run('UPDATE messages SET structure = ? WHERE n = ?', [JSON.stringify({ ...structure, root }), n])
  }
  putHeaders(tx, n, header)
  return true
}

/** Messages in one unit of work; a batch with large messages ends early. */
const MESSAGES_PER_BATCH = 20
const BYTES_PER_BATCH = 4 * 1024 * 1024
/** Messages per run: other jobs run in between. */
const MESSAGES_PER_RUN = 5000

interface OutlineResult {
  outlined: number
  /** Their content is damaged. */
  unreadable: number
}

interface Deps {
  db: Db
  accounts: Accounts
  blobs: Blobs
  edits: MessageEdits
}

export class Outlining {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** How many messages are left. */
  left(): number {
    return messagesToOutline(this.#deps.db.read)
  }

  /**
   * Continues from the saved progress until the run's limit or the signal: the newest messages of each account first, one batch of each
   * account in turn.
   */
  async run(signal: AbortSignal, max = MESSAGES_PER_RUN): Promise<OutlineResult> {
    const done: OutlineResult = { outlined: 0, unreadable: 0 }
    for (let processed = 0; ; ) {
      const accounts = accountsToOutline(this.#deps.db.read)
      if (accounts.length === 0) return done
      for (const account of accounts) {
        if (processed >= max || signal.aborted) return done
        processed += await this.#batch(account, done)
      }
    }
  }

  /** @returns how many of the messages were processed */
  async #batch(account: number, done: OutlineResult): Promise<number> {
    const { db, accounts, edits } = this.#deps
    const messages = nextToOutline(db.read, account, MESSAGES_PER_BATCH)
    const read: { message: OutlinedMessage; outline: Outline }[] = []
    let processed = 0
    for (let bytes = 0; processed < messages.length && bytes < BYTES_PER_BATCH; processed++) {
      const message = messages[processed]!
      const outline = await this.#read(message)
      if (outline === null) done.unreadable++
      else read.push({ message, outline })
      bytes += message.sizeBytes
      // Small content is decompressed and parsed without a turn of the event loop.
      await new Promise(setImmediate)
    }
    await db.write((tx) => {
      const owner = accounts.byNumber(account, tx)
      if (owner === undefined || messages.length === 0) return endOutlining(tx, account)
      for (const { message, outline } of read) {
        if (!putOutline(tx, message, outline)) continue
        // The size of a UID never changes: a message that is served with other line ends gets a new one (RFC 9051 §2.3.1.1).
        edits.renewIn(tx, owner, message.id, servedBytes(message.sizeBytes, outline.root))
      }
      return saveOutlined(tx, account, messages[processed - 1]!.n)
    })
    done.outlined += read.length
    return processed
  }

  /** Null if its content is damaged: what is stored about it stays unchanged. */
  async #read({ blob, sizeBytes }: OutlinedMessage): Promise<Outline | null> {
    try {
      const bytes = await this.#deps.blobs.bytes(blob, 0, sizeBytes)
      const { root, fields } = readStructure(bytes)
      setDecodedSizes(bytes, root, new Map())
      return { root, keptHeaders: packHeaders(bytes, fields), headerKeys: headerKeys(fields) }
    } catch {
      return null
    }
  }
}
