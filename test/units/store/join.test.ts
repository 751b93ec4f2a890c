// The thread a message joins: by Message-IDs, by subject and participants, or a new one; and the counts of the thread.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Db } from '../../../src/db/db.ts'
import type { ParsedMessage } from '../../../src/mime/message.ts'
import { type JoinedThread, joinThreads } from '../../../src/store/entries/join-threads.ts'
import { copyEmptyDatabase } from '../../support/empty-database.ts'

const DAY = 24 * 60 * 60 * 1000
const OWN = 'me@here.test'
let folder: string
let db: Db
let account = 0

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mailstead-join-'))
  await copyEmptyDatabase(join(folder, 'mail.db'))
  db = new Db({ file: join(folder, 'mail.db') })
})
after(async () => {
  await db.close()
  await rm(folder, { recursive: true })
})

interface Given {
  id?: string | null
  subject?: string
  inReplyTo?: string[]
  references?: string[]
  from?: string
  at?: number
  listed?: boolean
  unread?: boolean
  attachments?: boolean
}

async function newAccount(): Promise<(given: Given) => Promise<JoinedThread>> {
  const n = ++account
  await db.write((tx) => tx.insert('accounts', { n, mailbox_id: `mbx_${n}`, created_at: 0 }))
  let count = 0
  return (given) => {
    count++
    const mail = {
      subject: given.subject ?? 'Plan',
      from: [{ email: given.from ?? 'ana@far.test', name: '' }],
      to: [{ email: OWN, name: '' }],
      cc: [],
      messageId: given.id === undefined ? `m${n}.${count}@far.test` : given.id,
      inReplyTo: given.inReplyTo ?? [],
      references: given.references ?? [],
      hasAttachments: given.attachments ?? false,
    } as unknown as ParsedMessage
    const receivedAt = given.at ?? count * 1000
    const { listed = true, unread = true } = given
    return db.write(
      (tx) =>
        joinThreads(tx, [{ n: count, account: n, parsed: mail, receivedAt, unread, listed, ownAddresses: [OWN] }])[0]!,
    )
  }
}

const thread = (n: number) =>
  db.read.get<{
    listed: number
    message_count: number
    unread_count: number
    has_attachments: number
    participants: string
  }>('SELECT listed, message_count, unread_count, has_attachments, participants FROM threads WHERE n = ?', [n])

/** Number of the last message of a thread. */
const lastOf = (n: number) =>
  db.read.get<{ last: number }>('SELECT last_message AS last FROM threads WHERE n = ?', [n])?.last

describe('a message joins', () => {
  it('the thread of the message it replies to', async () => {
    const join = await newAccount()
    const first = await join({ id: 'a@x' })
    const answer = await join({ id: 'b@x', inReplyTo: ['a@x'], subject: 'Something else' })
    assert.deepEqual([first.by, answer.by, answer.ref, answer.n], ['new', 'id', 'a@x', first.n])
    const deep = await join({ id: 'c@x', references: ['unknown@x', 'b@x'], subject: 'Other' })
    assert.equal(deep.n, first.n)
  })

  it('the thread its replies created, if it arrives after them', async () => {
    const join = await newAccount()
    const child = await join({ id: 'child@x', references: ['parent@x'] })
    const sibling = await join({ id: 'sibling@x', inReplyTo: ['parent@x'], subject: 'Different' })
    const parent = await join({ id: 'parent@x', subject: 'Third' })
    assert.deepEqual([sibling.n, parent.n], [child.n, child.n])
  })

  it('the oldest of several threads with its Message-IDs, and these are not merged', async () => {
    const join = await newAccount()
    const one = await join({ id: 'one@x', subject: 'One' })
    const two = await join({ id: 'two@x', subject: 'Two' })
    const both = await join({ id: 'both@x', references: ['two@x', 'one@x'], subject: 'Both' })
    assert.equal(both.n, one.n)
    const again = await join({ id: 'again@x', inReplyTo: ['two@x'], subject: 'Again' })
    assert.equal(again.n, one.n, 'two@x is known to the oldest thread now')
    assert.equal(thread(two.n)?.message_count, 1)
  })

  it('the thread with its subject, if it is a reply and shares a participant', async () => {
    const join = await newAccount()
    const first = await join({ id: 'a@x', subject: 'Lunch on Friday' })
    const answer = await join({ id: 'b@x', subject: 'Re: lunch on  friday' })
    assert.deepEqual([answer.by, answer.n], ['subject', first.n])
    const header = await join({ id: 'c@x', subject: 'Lunch on Friday', inReplyTo: ['lost@x'] })
    assert.deepEqual([header.by, header.n], ['subject', first.n])
  })

  const alone: [string, Given][] = [
    ['the same subject without any sign of an answer', { subject: 'Lunch' }],
    ['a reply by somebody who took no part', { subject: 'Re: Lunch', from: 'stranger@else.test' }],
    ['a reply to what is older than 30 days', { subject: 'Re: Lunch', at: 31 * DAY + 1000 }],
    ['a reply to another subject', { subject: 'Re: Dinner' }],
    ['a reply without a subject', { subject: 'Re:' }],
    ['a mail without Message-ID and subject', { id: null, subject: '' }],
  ]
  for (const [name, given] of alone) {
    it(`none: ${name}`, async () => {
      const join = await newAccount()
      const first = await join({ subject: 'Lunch' })
      const other = await join(given)
      assert.equal(other.by, 'new')
      assert.notEqual(other.n, first.n)
    })
  }

  it('never a thread of another account', async () => {
    const [mine, theirs] = [await newAccount(), await newAccount()]
    const stranger = await theirs({ id: 'secret@x', subject: 'Secret' })
    const forged = await mine({ references: ['secret@x'], subject: 'Re: Secret' })
    assert.notEqual(forged.n, stranger.n)
    assert.equal(forged.by, 'new')
  })
})

describe('a thread counts', () => {
  it('unread messages, attachments and participants in order of occurrence', async () => {
    const join = await newAccount()
    const { n } = await join({ id: 'a@x', unread: false })
    await join({ inReplyTo: ['a@x'], from: 'ben@far.test', attachments: true })
    await join({ inReplyTo: ['a@x'], from: 'ANA@far.test' })
    const row = thread(n)!
    assert.deepEqual([row.message_count, row.unread_count, row.has_attachments], [3, 2, 1])
    const emails = JSON.parse(row.participants).map((person: { email: string }) => person.email)
    assert.deepEqual(emails, ['ana@far.test', OWN, 'ben@far.test'])
  })

  it('at most 50 participants', async () => {
    const join = await newAccount()
    const { n } = await join({ id: 'a@x' })
    for (let i = 0; i < 60; i++) await join({ inReplyTo: ['a@x'], from: `p${i}@far.test` })
    assert.equal(JSON.parse(thread(n)!.participants).length, 50)
  })

  it('the messages outside Junk, or all if there are none outside', async () => {
    const join = await newAccount()
    const { n } = await join({ id: 'a@x', listed: false, attachments: true })
    await join({ inReplyTo: ['a@x'], listed: false })
    assert.deepEqual(
      { ...thread(n), participants: '' },
      { listed: 0, message_count: 2, unread_count: 2, has_attachments: 1, participants: '' },
    )
    await join({ inReplyTo: ['a@x'] })
    assert.equal(lastOf(n), 3)
    assert.deepEqual(
      { ...thread(n), participants: '' },
      { listed: 1, message_count: 1, unread_count: 1, has_attachments: 0, participants: '' },
    )
    await join({ inReplyTo: ['a@x'], listed: false })
    assert.equal(lastOf(n), 3)
    assert.equal(thread(n)?.message_count, 1)
  })
})

describe('limits', () => {
  it('at most a hundred references are looked up and stored', async () => {
    const join = await newAccount()
    const references = Array.from({ length: 5000 }, (_, i) => `r${i}@x`)
    const { n } = await join({ id: 'a@x', references })
    const row = db.read.get<{ c: number }>('SELECT count(*) AS c FROM thread_refs WHERE thread = ?', [n])
    assert.equal(row?.c, 100)
    const near = await join({ inReplyTo: ['r4999@x'], subject: 'Near' })
    assert.equal(near.n, n, 'the closest ancestors are stored')
  })
})
