// A mailbox with two clients for a model test: one makes random changes, and all counts can be recomputed.

import assert from 'node:assert/strict'
import { newId } from '../../src/base/ids.ts'
import { sha256 } from '../../src/base/secrets.ts'
import type { ParsedMessage } from '../../src/mime/message.ts'
import type { FilingTarget, SieveOutcome } from '../../src/sieve/outcome.ts'
import type { MessageCount } from '../../src/store/lists/count.ts'
import type { MessageChange } from '../../src/store/messages/edits.ts'
import type { Account, Folder, MessageFilter } from '../../src/store/rows/records.ts'
import type { Inspection } from '../../src/workers/inspection.ts'
import { mailOf, person, type TestStore } from './mailbox.ts'
import { Random } from './random.ts'

const ME = 'me@shop.test'
const LONG_AGO = Date.UTC(2020, 0, 1)
const SUBJECTS = ['Order', 'Re: Order', 'Invoice', 'Fwd: Invoice', 'Hello', '']
const WORDS = ['common', 'rare', 'blue', 'green']
const FOLDERS = ['Work', 'Later', 'Club']
const KEYWORDS = ['$seen', '$flagged', '$answered', '$draft', 'work', 'later', '$junk', '$notjunk']

export class ModelMailbox {
  readonly appliance: TestStore
  readonly mailboxId: string
  readonly #random: Random
  #known: string[] = []
  #arrived = 0

  private constructor(appliance: TestStore, mailboxId: string, random: Random) {
    this.appliance = appliance
    this.mailboxId = mailboxId
    this.#random = random
  }

  static async open(appliance: TestStore, random: Random): Promise<ModelMailbox> {
    const mailboxId = newId('mailbox')
    await appliance.db.write((tx) => appliance.store.edit.openAccount(tx, mailboxId, 'ana@shop.test'))
    return new ModelMailbox(appliance, mailboxId, random)
  }

  /** A mailbox that another process has filled. */
  static of(appliance: TestStore, mailboxId: string): ModelMailbox {
    return new ModelMailbox(appliance, mailboxId, new Random(0))
  }

  account(): Account {
    return this.appliance.store.accounts.byMailbox(this.mailboxId)!
  }

  /** One random operation. */
  async work(): Promise<void> {
    const random = this.#random
    this.appliance.clock.advance(random.below(3) * 700)
    const kind = random.below(20)
    if (kind < 6 || this.#known.length === 0) await this.#arrive()
    else if (kind < 8) await this.#import()
    else if (kind < 17) await this.#edit()
    else if (kind < 19) await this.#erase()
    else await this.#arrange()
  }

  /** Creates, renames or deletes a folder. */
  async #arrange(): Promise<void> {
    const random = this.#random
    const {
      edit: { folders: folderEdits },
      read: { folders },
    } = this.appliance.store
    const account = this.account()
    const all = folders.list(account)
    const own = all.filter(({ role }) => role === null)
    const free = FOLDERS.filter((name) => !own.some((folder) => folder.name === name))
    const one = own.length === 0 ? undefined : random.pick(own)
    const kind = random.below(3)
    if (one === undefined || (kind === 0 && free.length > 0)) {
      const parentId = random.chance(0.5) ? null : random.pick(all).id
      await folderEdits.create(account, { name: random.pick(free), parentId, sortOrder: random.below(80) })
    } else if (kind < 2) {
      const change = { name: free.length > 0 ? random.pick(free) : one.name, sortOrder: random.below(80) }
      await folderEdits.update(account, one.id, change, () => {})
    } else if (!own.some(({ parentId }) => parentId === one.id)) {
      await folderEdits.remove(account, one.id, random.chance(0.5) ? 'trash' : 'delete', () => {})
    }
  }

  #mail(): Partial<ParsedMessage> {
    const random = this.#random
    return {
      subject: random.pick(SUBJECTS),
      from: [person(`p${random.below(4)}@else.test`)],
      to: [person(ME)],
      messageId: `${++this.#arrived}@else.test`,
      inReplyTo: random.chance(0.5) ? [`${random.below(this.#arrived + 2)}@else.test`] : [],
      hasAttachments: random.chance(0.2),
      searchText: random.some(WORDS, 0.4).join(' '),
      sentAt: random.chance(0.3) ? null : this.appliance.clock.now() - random.below(5) * 1000,
    }
  }

  /** Old messages too, from few times: equal times are common, and their numbers have no order. */
  async #import(): Promise<void> {
    const random = this.#random
    const { store, db, clock } = this.appliance
    const account = this.account()
    const folders = store.read.folders.list(account).map(({ id }) => id)
    const chosen = random.some(folders, 0.3)
    const none = 'none' as const
    const imported = {
      ...{ parsed: mailOf(this.#mail()), hash: sha256(newId('message')), sizeBytes: 28 },
      folderIds: chosen.length === 0 ? null : chosen,
      keywords: random.some(KEYWORDS.slice(0, 6), 0.3),
      receivedAt: random.chance(0.5) ? clock.now() - random.below(5) * 1000 : LONG_AGO + random.below(3) * 500,
      authentication: { spf: none, dkim: none, dmarc: none, arc: none, fromAligned: false, reasons: [] },
      spam: { score: 0, isSpam: false, reasons: [] },
      envelope: { mailFrom: '', rcptTo: '' },
    }
    const taken = await db.write((tx) =>
      store.edit.imports.import(tx, { account, ownAddresses: [ME], quotaBytes: 1e9 }, imported),
    )
    assert.ok(taken.outcome === 'new')
    this.#known.push(taken.id)
  }

  async #arrive(): Promise<void> {
    const random = this.#random
    const bytes = Buffer.from(newId('message').padEnd(28 + random.below(4) * 10))
    const inspection = {
      message: mailOf(this.#mail()),
      ...{ hash: sha256(bytes), arrivedHash: sha256(bytes), sizeBytes: bytes.length },
      forwardMarks: [],
      linkTokens: [],
      chunks: [{ start: 0, sizeBytes: bytes.length, zstd: false, data: bytes }],
    } as unknown as Inspection
    const none = 'none' as const
    const target = {
      ...{
        mailboxId: this.mailboxId,
        rcptTo: ME,
        reached: ME,
        step: 'address' as const,
        patternOf: null,
        email: ME,
        quotaBytes: 1e9,
        junk: random.chance(0.15),
      },
      authentication: { spf: none, dkim: none, dmarc: none, arc: none, fromAligned: false, reasons: [] },
      spam: { score: 0, isSpam: false, reasons: [] },
      scriptOutcome: random.chance(0.4) ? this.#sieveOutcome() : null,
    }
    const receivedAt = this.appliance.clock.now() - random.below(3) * 1000
    const [stored] = await this.appliance.store.delivery.deliver(
      { inspection, mailFrom: 'a@else.test', receivedAt },
      [target],
      (_tx, results) => results,
    )
    this.#known.push(stored!.messageId!)
  }

  /** A Sieve result: one to three folders, and some keywords. */
  #sieveOutcome(): SieveOutcome {
    const random = this.#random
    const paths = random.some(['INBOX', 'Archive', 'Junk', 'Trash', 'Sent'], 0.3)
    const named = paths.map((path): FilingTarget => ({ kind: 'folder', path, create: false }))
    const usual: FilingTarget[] = named.length === 0 || random.chance(0.2) ? [{ kind: 'default' }] : []
    return { targets: [...usual, ...named], keywords: random.some(KEYWORDS, 0.2), error: null }
  }

  async #edit(): Promise<void> {
    const random = this.#random
    const account = this.account()
    const folders = this.appliance.store.read.folders.list(account).map(({ id }) => id)
    const ids = random.some(this.#known, Math.min(1, 4 / this.#known.length))
    const change: MessageChange = {}
    if (random.chance(0.7)) {
      change.keywords = random.chance(0.3)
        ? { set: random.some(KEYWORDS.slice(0, 6), 0.3) }
        : { add: random.some(KEYWORDS, 0.2), remove: random.some(KEYWORDS, 0.2) }
    }
    if (random.chance(0.5)) {
      change.folders = random.chance(0.5)
        ? { set: random.some(folders, 0.3) }
        : { add: random.some(folders, 0.2), remove: random.some(folders, 0.3) }
    }
    await this.appliance.store.edit.messages.change(account, ids, change)
  }

  async #erase(): Promise<void> {
    const account = this.account()
    const ids = this.#random.some(this.#known, Math.min(1, 2 / this.#known.length))
    await this.appliance.db.write((tx) => this.appliance.store.edit.messages.deleteIn(tx, account, ids))
    this.#known = this.#known.filter((id) => !ids.includes(id))
  }

  /** Compares every stored count and summary with its rows. */
  async recount(): Promise<void> {
    const { db } = this.appliance
    const account = this.account()
    const one = async <T>(sql: string): Promise<T[]> => db.scan.all<T>(sql, [account.n])
    assert.deepEqual(
      await one(
        'SELECT n, total_messages, unread_messages, total_threads, unread_threads FROM folders WHERE account = ? ORDER BY n',
      ),
      await one(`SELECT f.n, count(m.n) AS total_messages, coalesce(sum(m.seen = 0), 0) AS unread_messages,
          count(DISTINCT m.thread) AS total_threads, count(DISTINCT CASE WHEN m.seen = 0 THEN m.thread END) AS unread_threads
        FROM folders f LEFT JOIN message_folders mf ON mf.folder = f.n LEFT JOIN messages m ON m.n = mf.message
        WHERE f.account = ? GROUP BY f.n ORDER BY f.n`),
    )
    assert.deepEqual(
      await one(`SELECT tf.thread, tf.folder, tf.messages, tf.unread, tf.last_received_at FROM thread_folders tf
        JOIN threads t ON t.n = tf.thread WHERE t.account = ? ORDER BY 1, 2`),
      await one(`SELECT m.thread, mf.folder, count(*) AS messages, sum(m.seen = 0) AS unread, t.last_received_at
        FROM messages m JOIN message_folders mf ON mf.message = m.n JOIN threads t ON t.n = m.thread
        WHERE m.account = ? GROUP BY m.thread, mf.folder ORDER BY 1, 2`),
    )
    assert.deepEqual(
      await one(
        'SELECT n, listed, message_count, unread_count, has_attachments, last_received_at FROM threads WHERE account = ? ORDER BY n',
      ),
      await one(`SELECT t.n, max(m.listed) AS listed, count(*) AS message_count, sum(m.seen = 0) AS unread_count,
          max(m.has_attachments) AS has_attachments, max(m.received_at) AS last_received_at
        FROM threads t JOIN messages m ON m.thread = t.n
          AND (m.listed = 1 OR NOT EXISTS (SELECT 1 FROM messages o WHERE o.thread = t.n AND o.listed = 1))
        WHERE t.account = ? GROUP BY t.n ORDER BY t.n`),
    )
    assert.deepEqual(
      await one('SELECT used_bytes, message_count FROM accounts WHERE n = ?'),
      await one(
        'SELECT coalesce(sum(size_bytes), 0) AS used_bytes, count(*) AS message_count FROM messages WHERE account = ?',
      ),
    )
    assert.deepEqual(
      await one('SELECT n, listed FROM messages WHERE account = ? ORDER BY n'),
      await one(`SELECT m.n, max(f.role IS NULL OR f.role NOT IN ('junk', 'trash')) AS listed FROM messages m
        JOIN message_folders mf ON mf.message = m.n JOIN folders f ON f.n = mf.folder WHERE m.account = ? GROUP BY m.n ORDER BY m.n`),
    )
    assert.deepEqual(
      await one('SELECT n, last_message FROM threads WHERE account = ? ORDER BY n'),
      await one(`SELECT t.n, (SELECT m.n FROM messages m WHERE m.thread = t.n AND m.listed = t.listed
          ORDER BY m.received_at DESC, m.n DESC LIMIT 1) AS last_message FROM threads t WHERE t.account = ? ORDER BY t.n`),
    )
    assert.deepEqual(
      await one('SELECT message, keyword FROM message_keywords WHERE account = ? ORDER BY 1, 2'),
      await one(`SELECT m.n AS message, j.value AS keyword FROM messages m, json_each(m.keywords) j
        WHERE m.account = ? ORDER BY 1, 2`),
    )
    await this.#recountTotals(account)
    const { low, high } = { low: account.n * 2 ** 32, high: (account.n + 1) * 2 ** 32 }
    const indexed = await db.scan.all<{ n: number }>(
      'SELECT rowid AS n FROM message_text WHERE rowid BETWEEN ? AND ? ORDER BY 1',
      [BigInt(low), BigInt(high)] as never,
    )
    assert.deepEqual(indexed, await one('SELECT n FROM messages WHERE account = ? ORDER BY n'))
  }

  /** Compares the stored totals with a count of the messages. */
  async #recountTotals(account: Account): Promise<void> {
    const filters: [MessageFilter, string][] = [
      [{}, 'listed'],
      [{ isUnread: true }, 'listed AND NOT seen'],
      [{ isFlagged: true }, 'listed AND flagged'],
      [{ hasAttachment: true }, 'listed AND has_attachments'],
      [{ q: 'is:unread in:anywhere' }, 'NOT seen'],
      [{ isUnread: true, isFlagged: true }, 'listed AND flagged AND NOT seen'],
    ]
    for (const [filter, where] of filters) {
      const [row] = await this.appliance.db.scan.all<MessageCount>(
        `SELECT count(*) AS count, coalesce(sum(seen = 0), 0) AS unread, coalesce(sum(size_bytes), 0) AS sizeBytes
         FROM messages WHERE account = ? AND ${where}`,
        [account.n],
      )
      assert.deepEqual(await this.appliance.store.read.messages.count(account, filter), { ...row }, where)
    }
  }

  /** The state as a client sees it that reads everything. */
  async view(): Promise<{ messages: Map<string, string>; threads: Map<string, string>; folders: Map<string, string> }> {
    const { store, db } = this.appliance
    const account = this.account()
    const ids = await db.scan.all<{ id: string }>('SELECT id FROM messages WHERE account = ?', [account.n])
    const threads = await db.scan.all<{ id: string }>('SELECT id FROM threads WHERE account = ?', [account.n])
    return {
      messages: new Map(await Promise.all(ids.map(async ({ id }) => [id, this.shown('messages', id)] as const))),
      threads: new Map(await Promise.all(threads.map(async ({ id }) => [id, this.shown('threads', id)] as const))),
      folders: new Map(store.read.folders.list(account).map((folder) => [folder.id, counts(folder)])),
    }
  }

  /** One object as a client sees it; "" when it is deleted. */
  shown(type: 'messages' | 'threads' | 'folders', id: string): string {
    const { store } = this.appliance
    const account = this.account()
    if (type === 'folders') {
      const folder = store.read.folders.byId(account, id)
      return folder === undefined ? '' : counts(folder)
    }
    if (type === 'threads') {
      const thread = store.read.threads.get(account, id)
      if (thread === undefined) return ''
      const { messageCount, unreadCount, folderIds, messageIds, lastMessage } = thread
      return JSON.stringify([messageCount, unreadCount, [...folderIds].sort(), messageIds, lastMessage.id])
    }
    const message = store.read.messages.get(account, id)
    return message === undefined
      ? ''
      : JSON.stringify([message.keywords, [...message.folderIds].sort(), message.threadId])
  }
}

function counts({ totalMessages, unreadMessages, totalThreads, unreadThreads }: Folder): string {
  return JSON.stringify([totalMessages, unreadMessages, totalThreads, unreadThreads])
}
