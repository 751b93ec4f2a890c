// Who wrote messages, and whether that is proven: for the decisions about what programs of a mailbox may send.

import type { Reader } from '../../db/db.ts'
import { threadIdsOf, threadNumbersOf } from '../entries/thread-rows.ts'
import type { MessageAuthentication } from '../rows/records.ts'

/** The author of a message. */
export interface MessageAuthor {
  /** `msg_…` */
  id: string
  threadId: string
  /** Address in From, lower-case. */
  author: string
  subject: string
  /** The From domain is authenticated. */
  isProven: boolean
}

interface Row {
  id: string
  thread: number
  from_email: string
  subject: string
  authentication: string
}

const READ = 'SELECT id, thread, from_email, subject, authentication FROM messages'

/** The authors of messages of an account, by message ids or by thread ids; unknown ids are omitted. @param account its number */
export function messageAuthors(
  reader: Reader,
  account: number,
  { messages, threads }: { messages: readonly string[]; threads: readonly string[] },
): MessageAuthor[] {
  const numbers = threadNumbersOf(reader, account, threads)
  const rows = reader.all<Row>(
    `${READ} WHERE account = ? AND id IN (SELECT value FROM json_each(?))
     UNION ${READ} WHERE thread IN (SELECT value FROM json_each(?))`,
    [account, JSON.stringify(messages), JSON.stringify(numbers)],
  )
  const ids = threadIdsOf(
    reader,
    rows.map(({ thread }) => thread),
  )
  return rows.map((row) => ({
    id: row.id,
    threadId: ids.get(row.thread)!,
    author: row.from_email.toLowerCase(),
    subject: row.subject,
    isProven: isProven(row),
  }))
}

/** The proven authors in the thread of a message (its number), each once. */
export function threadAuthors(reader: Reader, thread: number): Set<string> {
  const rows = reader.all<Row>(`${READ} WHERE thread = ?`, [thread])
  return new Set(rows.filter(isProven).map(({ from_email }) => from_email.toLowerCase()))
}

function isProven({ authentication }: Row): boolean {
  return (JSON.parse(authentication) as MessageAuthentication).fromAligned
}
