// Threads of mailing lists, compared with the graph of references.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Db } from '../../../src/db/db.ts'
import type { ParsedMessage } from '../../../src/mime/message.ts'
import { type JoinedThread, joinThreads } from '../../../src/store/entries/join-threads.ts'
import { connected, lists } from '../../support/conversations.ts'
import { copyEmptyDatabase } from '../../support/empty-database.ts'

let folder: string
let db: Db
let account = 0

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mailstead-threads-'))
  await copyEmptyDatabase(join(folder, 'mail.db'))
  db = new Db({ file: join(folder, 'mail.db') })
})
after(async () => {
  await db.close()
  await rm(folder, { recursive: true })
})

async function threadsOf(mails: readonly ParsedMessage[]): Promise<JoinedThread[]> {
  const n = ++account
  await db.write((tx) => tx.insert('accounts', { n, mailbox_id: `mbx_${n}`, created_at: 0 }))
  const joined: JoinedThread[] = []
  for (const [index, mail] of mails.entries()) {
    const receivedAt = mail.sentAt ?? index
    const input = {
      ...{ n: index + 1, account: n, parsed: mail, receivedAt },
      unread: true,
      listed: true,
      ownAddresses: ['archive@list.test'],
    }
    joined.push(await db.write((tx) => joinThreads(tx, [input])[0]!))
  }
  return joined
}

describe('every list', () => {
  for (const [name, read] of lists) {
    it(name, async () => {
      const mails = read()
      assert.ok(mails.length > 0)
      const joined = await threadsOf(mails)
      const graph = connected(mails)
      // No thread contains unconnected messages, unless they were joined by subject.
      const bySubject = new Set(joined.filter((one) => one.by === 'subject').map((one) => one.n))
      const groupOf = new Map<number, number>()
      for (const [index, one] of joined.entries()) {
        if (bySubject.has(one.n)) continue
        assert.equal(groupOf.get(one.n) ?? graph[index], graph[index], `${name} mail ${index}`)
        groupOf.set(one.n, graph[index]!)
      }
      // A reply is in the thread of its original if the original arrived before it.
      const seen = new Map<string, number>()
      for (const [index, mail] of mails.entries()) {
        const parents = [...mail.inReplyTo, ...mail.references].filter((id) => seen.has(id))
        const homes = new Set(parents.map((id) => seen.get(id)!))
        if (homes.size === 1) assert.equal(joined[index]!.n, [...homes][0], `${name} mail ${index} left its parent`)
        if (mail.messageId !== null && !seen.has(mail.messageId)) seen.set(mail.messageId, joined[index]!.n)
      }
      // Threads are never merged, so a few stay separate that the graph connects; not more than that.
      const threads = new Set(joined.map((one) => one.n)).size
      const groups = new Set(graph).size
      assert.ok(threads <= groups + Math.ceil(mails.length / 20), `${threads} threads for ${groups} groups`)
    })
  }
})
