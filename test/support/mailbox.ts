// A store on a temporary file, and messages with any folders, flags, keywords and times.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newId } from '../../src/base/ids.ts'
import { openNotifier } from '../../src/base/notifier.ts'
import { sha256, Vault } from '../../src/base/secrets.ts'
import { Db } from '../../src/db/db.ts'
import { migrate } from '../../src/db/migrate.ts'
import { blobMigrations } from '../../src/db/migrations/migrations.ts'
import { headerKeys } from '../../src/mime/header-keys.ts'
import type { Address, ParsedMessage } from '../../src/mime/message.ts'
import { nextNumbers } from '../../src/store/entries/numbers.ts'
import type { CopyOptions } from '../../src/store/messages/copies.ts'
import { insertMessages } from '../../src/store/messages/insert.ts'
import type { Account, Flags, FolderRole } from '../../src/store/rows/records.ts'
import { openStore, type Store } from '../../src/store/store.ts'
import { ManualClock } from './clock.ts'
import { copyEmptyDatabase } from './empty-database.ts'

export interface TestStore extends AsyncDisposable {
  db: Db
  blobsDb: Db
  store: Store
  clock: ManualClock
}

/** @param kept a folder that is there already and stays; by default a new one, deleted with the store */
export async function openTestStore(kept?: string): Promise<TestStore> {
  const folder = kept ?? (await mkdtemp(join(tmpdir(), 'mailstead-store-')))
  const clock = new ManualClock()
  await copyEmptyDatabase(join(folder, 'mail.db'))
  const db = new Db({ file: join(folder, 'mail.db') })
  const blobsDb = new Db({ file: join(folder, 'blobs.db') })
  await migrate(blobsDb, blobMigrations)
  const notifier = openNotifier(folder)
  const store = openStore({
    db,
    blobsDb,
    clock,
    vault: new Vault(Buffer.alloc(32, 7)),
    notifier,
    closeLinks: () => [],
  })
  return {
    db,
    blobsDb,
    store,
    clock,
    async [Symbol.asyncDispose]() {
      notifier.close()
      await db.close()
      await blobsDb.close()
      if (kept === undefined) await rm(folder, { recursive: true })
    },
  }
}

/** How copies run: without a quota, and messages have no content that could be read. */
export const COPYING: CopyOptions = {
  reader: {
    read: async () => ({ message: mailOf() }),
    readAll: async () => [],
  },
  quotaBytes: () => Number.MAX_SAFE_INTEGER,
}

/** A minimal message with the given properties. */
export function mailOf(given: Partial<ParsedMessage> = {}): ParsedMessage {
  return {
    parsed: true,
    problem: null,
    subject: '',
    from: [],
    sender: null,
    to: [],
    cc: [],
    bcc: [],
    replyTo: [],
    messageId: null,
    inReplyTo: [],
    references: [],
    sentAt: null,
    preview: '',
    searchText: '',
    structure: null,
    keptHeaders: Uint8Array.of(1),
    headerKeys: headerKeys([]),
    textPart: null,
    htmlPart: null,
    attachments: [],
    hasAttachments: false,
    ...given,
  }
}

export const person = (email: string, name = ''): Address => ({ email, name })

/** An empty attachment with that name. */
export function attachmentOf(filename: string): ParsedMessage['attachments'][number] {
  return {
    partId: '2',
    filename,
    contentType: 'application/octet-stream',
    sizeBytes: 0,
    sha256: sha256(''),
    disposition: 'attachment',
    contentId: null,
    inline: false,
  }
}

/** A message to store in a mailbox. */
export interface Put {
  mail: ParsedMessage
  receivedAt: number
  /** Messages with the same name are in one thread. */
  thread: string
  folders: FolderRole[]
  flags?: Partial<Flags>
  keywords?: string[]
  sizeBytes?: number
  blob?: Uint8Array
}

/** One mailbox filled directly; {@link TestMailbox.settle} updates the counts of threads and folders. */
export class TestMailbox {
  readonly account: Account
  readonly #db: Db
  readonly #store: Store
  readonly #folders: Map<FolderRole, { n: number; id: string }>
  readonly #threads = new Map<string, number>()

  private constructor({ db, store }: TestStore, account: Account, folders: Map<FolderRole, { n: number; id: string }>) {
    this.#db = db
    this.#store = store
    this.account = account
    this.#folders = folders
  }

  static async open(appliance: TestStore): Promise<TestMailbox> {
    const { db, store } = appliance
    const mailboxId = newId('mailbox')
    await db.write((tx) => store.edit.openAccount(tx, mailboxId, 'ana@shop.test'))
    const account = store.accounts.byMailbox(mailboxId)!
    const keys = store.read.folders.keys(account)
    return new TestMailbox(appliance, account, new Map(keys.map((key) => [key.role!, key])))
  }

  folder(role: FolderRole): { n: number; id: string } {
    return this.#folders.get(role)!
  }

  /** @returns the public id of the message */
  async put(put: Put): Promise<string> {
    const [id] = await this.putAll([put])
    return id!
  }

  async putAll(puts: readonly Put[]): Promise<string[]> {
    const ids = await this.#db.write((tx) => {
      const made: string[] = []
      for (const put of puts) {
        const id = newId('message')
        made.push(id)
        const thread = this.#threads.get(put.thread) ?? this.#openThread(tx, put)
        this.#threads.set(put.thread, thread)
        const flags = { seen: false, flagged: false, draft: false, answered: false, ...put.flags }
        const listed = put.folders.some((role) => role !== 'junk' && role !== 'trash')
        const n = nextNumbers(tx, [{ account: this.account.n, receivedAt: put.receivedAt }])[0]!
        insertMessages(tx, [
          {
            id,
            n,
            account: this.account.n,
            thread,
            blob: put.blob ?? sha256(id),
            nameOf: this.#store.read.blobNames.of(this.account.mailboxId),
            sizeBytes: put.sizeBytes ?? 100,
            parsed: put.mail,
            envelope: { mailFrom: 'from@test.example', rcptTo: 'to@test.example' },
            authentication: { spf: 'none', dkim: 'none', dmarc: 'none', arc: 'none', fromAligned: false, reasons: [] },
            spam: { score: 0, isSpam: false, reasons: [] },
            keywords: put.keywords ?? [],
            flags,
            listed,
            receivedAt: put.receivedAt,
            createdAt: put.receivedAt,
          },
        ])
        for (const role of put.folders) {
          const folder = this.folder(role).n
          tx.run(
            `INSERT INTO message_folders (folder, uid, message, received_at)
             VALUES (?, (SELECT coalesce(max(uid), 0) + 1 FROM message_folders WHERE folder = ?), ?, ?)`,
            [folder, folder, n, put.receivedAt],
          )
        }
      }
      return made
    })
    await this.settle()
    return ids
  }

  /** Recounts threads from their messages (docs/design/mailbox.md §5). */
  async settle(): Promise<void> {
    const account = this.account.n
    await this.#db.write((tx) => {
      this.#store.accounts.advance(tx, account, ['messages', 'threads'], { bytes: 0, messages: 0 })
      const inside = 'SELECT %s FROM messages m WHERE m.thread = threads.n AND m.listed = threads.listed'
      tx.run(
        'UPDATE threads SET listed = (SELECT max(m.listed) FROM messages m WHERE m.thread = threads.n) WHERE account = ?',
        [account],
      )
      tx.run(
        `UPDATE threads SET message_count = (${inside.replace('%s', 'count(*)')}),
           unread_count = (${inside.replace('%s', 'sum(1 - m.seen)')}),
           has_attachments = (${inside.replace('%s', 'max(m.has_attachments)')}),
           last_received_at = (${inside.replace('%s', 'max(m.received_at)')}),
           last_message = (${inside.replace('%s', 'm.n')} ORDER BY m.received_at DESC, m.n DESC LIMIT 1)
         WHERE account = ?`,
        [account],
      )
      tx.run('DELETE FROM thread_folders WHERE thread IN (SELECT n FROM threads WHERE account = ?)', [account])
      tx.run(
        `INSERT INTO thread_folders (thread, folder, messages, unread, last_received_at)
         SELECT m.thread, f.folder, count(*), sum(1 - m.seen), (SELECT last_received_at FROM threads WHERE n = m.thread)
         FROM message_folders f JOIN messages m ON m.n = f.message WHERE m.account = ? GROUP BY m.thread, f.folder`,
        [account],
      )
    })
  }

  #openThread(tx: Parameters<Parameters<Db['write']>[0]>[0], put: Put): number {
    return tx.insert('threads', {
      id: newId('thread'),
      account: this.account.n,
      subject: put.mail.subject,
      subject_key: '',
      listed: 1,
      message_count: 0,
      unread_count: 0,
      has_attachments: 0,
      last_message: 0,
      last_received_at: 0,
      participants: '[]',
      created_at: put.receivedAt,
    })
  }
}
