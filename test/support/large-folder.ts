// Fills the Inbox of a mailbox with rows as deliveries write them, some thousand a second: for tests and measurements of large folders.

import { newId } from '../../src/base/ids.ts'
import { sha256 } from '../../src/base/secrets.ts'
import type { Context } from '../../src/context.ts'
import type { Tx } from '../../src/db/db.ts'
import { headerKeys } from '../../src/mime/header-keys.ts'
import { readHeaders } from '../../src/mime/headers.ts'
import { packHeaders } from '../../src/mime/message-headers.ts'
import { parseMessage } from '../../src/mime/parse.ts'
import { headerRow } from '../../src/store/entries/headers.ts'
import { Random } from './random.ts'

const AT_ONCE = 500
/** One of so many UIDs is missing, as in a folder that is cleaned up now and then. */
const GAP_EVERY = 10
const HOUR_MS = 3_600_000
const WORDS = 'invoice meeting report shipment answer draft agenda budget contract harbour copper lantern'.split(' ')
const BODY = `${WORDS.join(' ')}\r\n`.repeat(16)

interface SharedContent {
  blob: Uint8Array
  structure: string
  sizeBytes: number
}

/**
 * Fills the empty Inbox. All messages share one content, which has the word "lantern"; fields, words in the index and flags are their own:
 * message `i` (from 0) has the subject "… s<i>" and the word `w<i modulo 977>` in its body's index; every third one is an unseen reply.
 */
export async function fillInbox(app: Context, mailboxId: string, messages: number): Promise<void> {
  const account = app.store.accounts.byMailbox(mailboxId)!.n
  const inbox = app.store.programs.views
    .statuses(app.store.accounts.byMailbox(mailboxId)!)
    .find(({ role }) => role === 'inbox')!
  const bytes = Buffer.from(`Subject: x\r\nContent-Type: text/plain\r\n\r\n${BODY}`)
  const content: SharedContent = {
    blob: sha256(bytes),
    structure: JSON.stringify({ root: parseMessage(bytes).structure, textPart: '1', htmlPart: null }),
    sizeBytes: bytes.length,
  }
  const { blob, sizeBytes } = content
  await app.store.blobs.put(blob, sizeBytes, [{ start: 0, sizeBytes, zstd: false, data: bytes }])
  const random = new Random(7)
  for (let at = 0; at < messages; at += AT_ONCE) {
    const end = Math.min(at + AT_ONCE, messages)
    await app.db.write((tx) => {
      for (let i = at; i < end; i++) insert(tx, { account, folder: inbox.n, i, content, random })
      tx.run('UPDATE folders SET uid_next = ?, total_messages = ?, unread_messages = ?, mod_seq = ? WHERE n = ?', [
        ...[uidOf(end - 1) + 1, end, Math.ceil(end / 3), end + 1, inbox.n],
      ])
      tx.run('UPDATE accounts SET seq = ?, messages_seq = ?, message_count = ? WHERE n = ?', [
        end + 1,
        end + 1,
        end,
        account,
      ])
    })
  }
}

function uidOf(i: number): number {
  return 1 + i + Math.floor(i / (GAP_EVERY - 1))
}

interface NewRow {
  account: number
  folder: number
  i: number
  content: SharedContent
  random: Random
}

function headOf(i: number, title: string, at: number, random: Random): Buffer {
  const person = random.below(900)
  const fields = [
    ...[`From: "Person ${person}" <p${person}@else.test>`, 'To: Box <box@bench.test>', `Subject: ${title}`],
    ...[`Date: ${new Date(at).toUTCString().replace('GMT', '+0000')}`, `Message-ID: <${i}@bench.test>`],
    ...(i % 3 === 0 && i > 50 ? [`References: <${i - 3 * random.below(15)}@bench.test>`] : []),
    ...['MIME-Version: 1.0', 'Content-Type: text/plain; charset=utf-8'],
  ]
  return Buffer.from(`${fields.join('\r\n')}\r\n\r\n`)
}

function insert(tx: Tx, { account, folder, i, content, random }: NewRow): void {
  const { blob, structure, sizeBytes } = content
  const n = account * 2 ** 32 + 1 + i
  const receivedAt = Date.UTC(2024, 0, 1) + i * HOUR_MS
  const title = `${i % 3 === 0 ? 'Re: ' : ''}${random.pick(WORDS)} ${random.pick(WORDS)} ${random.below(5000)} s${i}`
  const head = headOf(i, title, receivedAt, random)
  const seen = i % 3 === 0 ? 0 : 1
  const addresses = JSON.stringify({ from: [], to: [], cc: [], bcc: [], replyTo: [] })
  const empty = { in_reply_to: '[]', refs: '[]', keywords: '[]', people: '{}', addresses, envelope: '{}' }
  tx.insert('messages', {
    ...{ n, id: newId('message'), account, thread: n, received_at: receivedAt, listed: 1, seen, flagged: 0, draft: 0 },
    ...{ answered: 0, has_attachments: 0, size_bytes: sizeBytes, sent_at: receivedAt, ...empty, subject: title },
    ...{ preview: title, from_email: 'p@else.test', from_name: 'P', blob, internet_message_id: `${i}@bench.test` },
    ...{ parsed: 1, authentication: '{}', spam: '{}', structure, created_at: receivedAt },
  })
  tx.insert('threads', {
    ...{ n, id: newId('thread'), account, subject: title, subject_key: '', listed: 1, message_count: 1 },
    ...{ unread_count: 1 - seen, has_attachments: 0, last_message: n, last_received_at: receivedAt },
    ...{ participants: '[]', created_at: receivedAt },
  })
  tx.insert('thread_folders', { thread: n, folder, messages: 1, unread: 1 - seen, last_received_at: receivedAt })
  const { fields } = readHeaders(head)
  tx.insert('message_headers', headerRow(n, { keptHeaders: packHeaders(head, fields), headerKeys: headerKeys(fields) }))
  tx.insert('message_folders', {
    ...{ folder, uid: uidOf(i), message: n, received_at: receivedAt, filed_at: receivedAt },
    ...{ mod_seq: i + 1, flags: seen, size_bytes: sizeBytes },
  })
  tx.run('INSERT INTO message_text (rowid, subject, body) VALUES (?, ?, ?)', [
    n,
    title,
    `${WORDS.join(' ')} w${i % 977}`,
  ])
}
