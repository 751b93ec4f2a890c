// A mailbox as the version before folder entries wrote it (migration 23), made with few statements, for any number of messages.

import { Db } from '../../src/db/db.ts'
import { migrate } from '../../src/db/migrate.ts'
import { mailMigrations } from '../../src/db/migrations/migrations.ts'

const ROLES = ['inbox', 'drafts', 'sent', 'junk', 'trash', 'archive']
/** About the width of the row of an ordinary message. */
const STRUCTURE = JSON.stringify({
  root: { id: 'TEXT', type: 'multipart/alternative', parts: [{ id: '1', filler: 'x'.repeat(250) }, { id: '2' }] },
  textPart: '1',
  htmlPart: '2',
})

/** Account 1 with its six folders; two messages a thread, all in the Inbox and every seventh in Archive too. */
export async function openEarlierMailbox(file: string, messages: number): Promise<Db> {
  const db = new Db({ file })
  await migrate(
    db,
    mailMigrations.filter(({ number }) => number < 24),
  )
  await db.write((tx) => {
    tx.insert('accounts', { n: 1, mailbox_id: 'mbx_1', created_at: 0, seq: 77, messages_seq: 77, threads_seq: 77 })
    for (const [at, role] of ROLES.entries()) {
      const row = { n: at + 1, id: `fld_${role}`, account: 1, name: role[0]!.toUpperCase() + role.slice(1), role }
      tx.insert('folders', { ...row, sort_order: at, uid_validity: 1000, created_at: 0, updated_at: 0 })
    }
    const numbers = 'WITH RECURSIVE k (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM k WHERE i + 1 < ?)'
    const base = 2 ** 32
    tx.run(
      `${numbers} INSERT INTO messages (n, id, account, thread, received_at, listed, seen, flagged, draft, answered, has_attachments,
         size_bytes, people, keywords, subject, preview, from_email, from_name, addresses, blob, in_reply_to, refs, parsed, envelope,
         authentication, spam, structure, created_at)
       SELECT ${base} + 1 + i, 'msg_' || i, 1, 1 + i / 2, i * 1000, 1, i % 3 = 0, i % 5 = 0, 0, i % 11 = 0, 0, 1000 + i, '{}',
         CASE WHEN i % 13 = 0 THEN '["work"]' ELSE '[]' END, 'Subject ' || i, printf('%.200c', 'p'), 'p@else.test', 'P',
         '{"from":[{"email":"p@else.test","name":"'||printf('%.150c', 'a')||'"}],"to":[],"cc":[],"bcc":[],"replyTo":[],"sender":null}', randomblob(32), '[]', '[]', 1, '{}', printf('%.150c', 'b'), '{}', ?, i FROM k`,
      [messages, STRUCTURE],
    )
    tx.run(`INSERT INTO message_keywords SELECT 1, 'work', n FROM messages WHERE keywords <> '[]'`)
    tx.run(
      `INSERT INTO threads (n, id, account, subject, subject_key, listed, message_count, unread_count, has_attachments, last_message,
         last_received_at, participants, created_at)
       SELECT thread, 'thr_' || thread, 1, '', '', 1, count(*), sum(seen = 0), 0, max(n), max(received_at), '[]', 0
       FROM messages GROUP BY thread`,
    )
    const filed = 'INSERT INTO message_folders (folder, uid, message, received_at, filed_at) SELECT'
    tx.run(`${filed} 1, 2 * (n - ${base}), n, received_at, received_at FROM messages`)
    tx.run(`${filed} 6, (n - ${base}) / 7, n, received_at, received_at FROM messages WHERE (n - ${base}) % 7 = 0`)
    tx.run(
      `INSERT INTO thread_folders SELECT m.thread, f.folder, count(*), sum(m.seen = 0), t.last_received_at FROM message_folders f
       JOIN messages m ON m.n = f.message JOIN threads t ON t.n = m.thread GROUP BY 1, 2`,
    )
    tx.run(
      `UPDATE folders SET uid_next = 1 + coalesce((SELECT max(uid) FROM message_folders WHERE folder = folders.n), 0),
         (total_messages, unread_messages, total_threads, unread_threads) =
         (SELECT coalesce(sum(messages), 0), coalesce(sum(unread), 0), count(*), coalesce(sum(unread > 0), 0)
          FROM thread_folders WHERE folder = folders.n)`,
    )
  })
  return db
}
