// Threads of real mailing lists, held against the plain graph of who refers to whom.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Db } from '../../../src/db/db.ts'
import { migrate } from '../../../src/db/migrate.ts'
import { mailMigrations } from '../../../src/db/migrations/migrations.ts'
import type { ParsedMessage } from '../../../src/mime/message.ts'
import { parseMessage } from '../../../src/mime/parse.ts'
import { type Joined, joinThread } from '../../../src/store/threads/join.ts'
import { connected, lists, mailsOf } from '../../support/conversations.ts'
import { fixturesMissing } from '../../support/fixtures.ts'

const skip = fixturesMissing('threading')
let folder: string
let db: Db
let account = 0

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mailstead-threads-'))
  db = new Db({ file: join(folder, 'mail.db') })
  await migrate(db, mailMigrations)
})
after(async () => {
  await db.close()
  await rm(folder, { recursive: true })
})

async function threadsOf(mails: readonly ParsedMessage[]): Promise<Joined[]> {
  const n = ++account
  await db.write((tx) => tx.insert('accounts', { n, mailbox_id: `mbx_${n}`, created_at: 0 }))
  const joined: Joined[] = []
  for (const [index, mail] of mails.entries()) {
    const receivedAt = mail.sentAt ?? index
    const joining = { account: n, mail, receivedAt, unread: true, listed: true, own: ['archive@list.test'] }
    joined.push(await db.write((tx) => joinThread(tx, joining)))
  }
  return joined
}

describe('real lists', { skip }, () => {
  for (const [name, files] of lists) {
    it(name, async () => {
      const mails = files.flatMap(mailsOf).map(parseMessage)
      assert.ok(mails.length > 0)
      const joined = await threadsOf(mails)
      const graph = connected(mails)
      // No thread holds mails that nothing connects, unless a subject brought them together.
      const bySubject = new Set(joined.filter((one) => one.by === 'subject').map((one) => one.n))
      const groupOf = new Map<number, number>()
      for (const [index, one] of joined.entries()) {
        if (bySubject.has(one.n)) continue
        assert.equal(groupOf.get(one.n) ?? graph[index], graph[index], `${name} mail ${index}`)
        groupOf.set(one.n, graph[index]!)
      }
      // A mail lies with the one it answers whenever that one came before it.
      const seen = new Map<string, number>()
      for (const [index, mail] of mails.entries()) {
        const parents = [...mail.inReplyTo, ...mail.references].filter((id) => seen.has(id))
        const homes = new Set(parents.map((id) => seen.get(id)!))
        if (homes.size === 1) assert.equal(joined[index]!.n, [...homes][0], `${name} mail ${index} left its parent`)
        if (mail.messageId !== null && !seen.has(mail.messageId)) seen.set(mail.messageId, joined[index]!.n)
      }
      // Threads never merge, so a few stay apart that a graph would join; not more than that.
      const threads = new Set(joined.map((one) => one.n)).size
      const groups = new Set(graph).size
      assert.ok(threads <= groups + Math.ceil(mails.length / 20), `${threads} threads for ${groups} groups`)
    })
  }
})
