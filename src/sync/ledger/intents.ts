// Changes that were sent to a server, or are about to be, and cannot be repeated safely: stored before, removed with the answer.

import type { Clock } from '../../base/clock.ts'
import type { Db, Reader, Tx } from '../../db/db.ts'
import { bareId, hexOf } from '../model/message-key.ts'
import type { RemoteHead } from '../model/server.ts'

/**
 * `append`, `copy`: a message that is about to appear in a folder there. `later`: a message whose changes are to be sent at a time.
 */
type IntentKind = 'append' | 'copy' | 'later'

export interface Intent {
  n: number
  kind: IntentKind
  /** Number of the message here. */
  message: number
  /** Number of the remote folder; null for `later`. */
  folder: number | null
  /** What finds the copy there; hexadecimal. */
  key: string | null
  /** Without angle brackets. */
  messageId: string | null
  /** `later`: when, ms. */
  at: number | null
  /** `later`: how often a server has refused it. Of the others: how often it was taken before, and not found. */
  tries?: number
  /** `append`, `copy`: the server has answered that it did it. */
  isAnswered?: boolean
  /** `later`: why the server does not have the change, in one sentence for people. */
  reason?: string
}

/** Changes of messages that a server does not have, by its reason. */
export interface RefusedChanges {
  reason: string
  messages: number
}

/** What a server took so often, and does not show, is not sent again: each attempt may be one more copy. */
const NOT_FOUND_MAX = 3
const NOT_FOUND = 'The server took them and does not show them.'

/** An announced change that was not found is sent again: at once as long as its answer may have been lost. */
export function sentAgain({ message, isAnswered, tries = 0 }: Intent): Omit<Intent, 'n'> {
  if (isAnswered !== true) return { ...sendNow(message), tries }
  const isParked = tries + 1 >= NOT_FOUND_MAX
  return { ...sendNow(message), tries: tries + 1, ...(isParked ? { at: null, reason: NOT_FOUND } : {}) }
}

/** Has a message compared and sent with the next changes. */
export function sendNow(message: number): Omit<Intent, 'n'> {
  return { kind: 'later', message, folder: null, key: null, messageId: null, at: 0 }
}

interface IntentRow extends Pick<Intent, 'n' | 'kind' | 'message' | 'folder'> {
  detail: string
}

const COLUMNS = 'n, kind, message, folder, detail'
/** Both terms as in the index. */
const DUE = "remote = ? AND kind = 'later' AND detail ->> 'at' <= ?"

/** Changes that are sent again in one round; the next one goes on. */
const DUE_MAX = 5000

export class Intents {
  readonly #db: Db
  readonly #clock: Clock

  constructor(db: Db, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  /** `append` and `copy`, in the order in which they were announced. */
  announced(remote: number): Intent[] {
    const sql = `SELECT ${COLUMNS} FROM remote_intents WHERE remote = ? AND kind <> 'later' ORDER BY n`
    return this.#db.read.all<IntentRow>(sql, [remote]).map(present)
  }

  /** A page of those of one folder. @param folder number of a remote folder @param page after which number, and how many */
  announcedIn(remote: number, folder: number, { after, limit }: { after: number; limit: number }): Intent[] {
    const rows = this.#db.read.all<IntentRow>(
      `SELECT ${COLUMNS} FROM remote_intents WHERE remote = ? AND folder = ? AND kind <> 'later' AND n > ? ORDER BY n LIMIT ?`,
      [remote, folder, after, limit],
    )
    return rows.map(present)
  }

  /** Those of some messages. */
  of(remote: number, messages: readonly number[]): Intent[] {
    const rows = this.#db.read.all<IntentRow>(
      `SELECT ${COLUMNS} FROM remote_intents WHERE remote = ? AND message IN (SELECT value FROM json_each(?)) ORDER BY n`,
      [remote, JSON.stringify(messages)],
    )
    return rows.map(present)
  }

  /** `later`, those whose time has come, the first {@link DUE_MAX}. @param now ms */
  due(remote: number, now: number): Intent[] {
    const sql = `SELECT ${COLUMNS} FROM remote_intents WHERE ${DUE} ORDER BY n LIMIT ?`
    return this.#db.read.all<IntentRow>(sql, [remote, now, DUE_MAX]).map(present)
  }

  /** Whether there are some of {@link due}. @param now ms */
  hasDue(remote: number, now: number): boolean {
    return this.#db.read.get(`SELECT 1 FROM remote_intents WHERE ${DUE} LIMIT 1`, [remote, now]) !== undefined
  }

  /** Messages with changes that the server does not have, by its reason. */
  refused(reader: Reader, remote: number): RefusedChanges[] {
    return reader.all<RefusedChanges>(
      `SELECT detail ->> 'reason' AS reason, count(DISTINCT message) AS messages FROM remote_intents
       WHERE remote = ? AND kind = 'later' AND detail ->> 'reason' IS NOT NULL GROUP BY 1 ORDER BY 1`,
      [remote],
    )
  }

  /** `later`, those that are not sent again by themselves. */
  parked(remote: number): Intent[] {
    const sql = `SELECT ${COLUMNS} FROM remote_intents WHERE remote = ? AND kind = 'later' AND detail ->> 'at' IS NULL LIMIT ?`
    return this.#db.read.all<IntentRow>(sql, [remote, DUE_MAX]).map(present)
  }

  /** @returns its number */
  add(tx: Tx, remote: number, { kind, message, folder, ...detail }: Omit<Intent, 'n'>): number {
    const createdAt = this.#clock.now()
    return tx.insert('remote_intents', {
      ...{ remote, kind, message, folder, detail: JSON.stringify(detail), created_at: createdAt },
    })
  }

  /** Notes that the server has answered that it did what was announced. */
  answered(tx: Tx, numbers: readonly number[]): void {
    tx.run(
      `UPDATE remote_intents SET detail = json_set(detail, '$.isAnswered', json('true'))
       WHERE n IN (SELECT value FROM json_each(?))`,
      [JSON.stringify(numbers)],
    )
  }

  remove(tx: Tx, numbers: readonly number[]): void {
    tx.run('DELETE FROM remote_intents WHERE n IN (SELECT value FROM json_each(?))', [JSON.stringify(numbers)])
  }

  /** All of an account. */
  removeOf(tx: Tx, remote: number): void {
    tx.run('DELETE FROM remote_intents WHERE remote = ?', [remote])
  }
}

function present({ detail, ...row }: IntentRow): Intent {
  return {
    ...row,
    ...(JSON.parse(detail) as Pick<Intent, 'key' | 'messageId' | 'at' | 'tries' | 'isAnswered' | 'reason'>),
  }
}

/** Intents that are read at a time. */
const PAGE = 1000

/**
 * The intents of a folder, in the order in which they were announced. Messages appear in this order as well: of a long list, as a server
 * without APPENDUID leaves it, a page of heads needs the beginning only.
 */
export class OpenIntents {
  readonly #read: (after: number, limit: number) => Intent[]
  readonly #byKey = new Map<string, Intent[]>()
  readonly #byId = new Map<string, Intent[]>()
  readonly #list: Intent[] = []
  readonly #taken = new Set<Intent>()
  #last = 0
  #isRead = false

  constructor(intents: Pick<Intents, 'announcedIn'>, remote: number, folder: number) {
    this.#read = (after, limit) => intents.announcedIn(remote, folder, { after, limit })
  }

  /**
   * A server may change size and time of what it is given, but not its Message-ID.
   * @param prefers by content: whether it is this one, null where that is not known; null: their keys and Message-IDs decide
   */
  take(
    { head, key }: { head: Pick<RemoteHead, 'messageId'>; key: Uint8Array },
    isHere: (message: number) => boolean,
    prefers: ((intent: Intent) => boolean | null) | null = null,
  ): Intent | null {
    if (prefers !== null) this.all()
    const id = bareId(head.messageId)
    const hex = hexOf(key)
    do {
      const mayBe = (intent: Intent) => prefers === null || prefers(intent) !== false
      const candidates = [...(this.#byKey.get(hex) ?? []), ...(id === null ? [] : (this.#byId.get(id) ?? []))]
      const isOpen = (intent: Intent) => !this.#taken.has(intent) && !isHere(intent.message)
      const open = candidates.filter((intent) => isOpen(intent) && mayBe(intent))
      const preferred = prefers === null ? undefined : this.#list.find((intent) => isOpen(intent) && prefers(intent))
      const first =
        preferred ??
        open.reduce<Intent | null>((least, one) => (least !== null && least.n <= one.n ? least : one), null)
      if (first !== null) {
        this.#taken.add(first)
        return first
      }
    } while (this.#readMore())
    return null
  }

  /** All of them, in the order in which they were announced. */
  all(): Intent[] {
    while (this.#readMore());
    return this.#list
  }

  #readMore(): boolean {
    if (this.#isRead) return false
    const page = this.#read(this.#last, PAGE)
    this.#isRead = page.length < PAGE
    this.#list.push(...page)
    for (const intent of page) {
      add(this.#byKey, intent.key, intent)
      add(this.#byId, intent.messageId, intent)
      this.#last = intent.n
    }
    return page.length > 0
  }
}

function add(map: Map<string, Intent[]>, name: string | null, intent: Intent): void {
  if (name === null) return
  const known = map.get(name)
  if (known === undefined) map.set(name, [intent])
  else known.push(intent)
}
