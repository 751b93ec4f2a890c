// Reads newly received messages from the outbox for the event streams of mailboxes.

import type { Db } from '../db/db.ts'
import type { Address } from '../mime/message.ts'

/** A summary of a received message. */
export interface ReceivedMessage {
  mailboxId: string
  messageId: string
  threadId: string
  folderIds: readonly string[]
  from: Address
  subject: string
  preview: string
  isSpam: boolean
}

interface Row {
  n: number
  mailbox_id: string
  type: string
  body: string
}

/** The members of the event that the summary uses (see `receivedData`). */
interface Body {
  data: {
    message_id: string
    thread_id: string
    folder_ids: string[]
    from: Address
    subject: string
    preview: string
  }
}

/** Events read at a time: each has up to 64 KiB. */
const PAGE = 100

export class ReceivedEvents {
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  /** Number of the newest event; 0 without events. */
  newest(): number {
    return this.#db.read.get<{ n: number | null }>('SELECT max(n) AS n FROM events')?.n ?? 0
  }

  /**
   * The first messages these mailboxes received after an event number.
   * @returns also the number to continue from, and whether there may be more
   */
  after(n: number, mailboxIds: readonly string[]): { messages: ReceivedMessage[]; last: number; more: boolean } {
    const newest = this.newest()
    // Numbers restart at 1 once retention has deleted all events.
    const from = newest < n ? 0 : n
    const rows = this.#db.read.all<Row>(
      `SELECT n, mailbox_id, type, body FROM events WHERE n > ? AND n <= ? AND type IN ('message.received', 'message.received.spam')
         AND mailbox_id IN (SELECT value FROM json_each(?)) ORDER BY n LIMIT ?`,
      [from, newest, JSON.stringify(mailboxIds), PAGE],
    )
    const more = rows.length === PAGE
    return { messages: rows.map(read), last: more ? rows.at(-1)!.n : newest, more }
  }
}

function read({ mailbox_id: mailboxId, type, body }: Row): ReceivedMessage {
  const { data } = JSON.parse(body) as Body
  return {
    mailboxId,
    messageId: data.message_id,
    threadId: data.thread_id,
    folderIds: data.folder_ids,
    from: data.from,
    subject: data.subject,
    preview: data.preview,
    isSpam: type === 'message.received.spam',
  }
}
