// The Sieve scripts of mailboxes; at most one is active and filters incoming mail (docs/design/mailbox.md §14).

import type { Clock } from '../../base/clock.ts'
import { conflict, type Issue, notFound, ProductError } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import { sha256 } from '../../base/secrets.ts'
import type { Db, Reader, Tx } from '../../db/db.ts'
import { type Page, type PageKey, pageOf } from '../../db/page.ts'
import { compileScript } from '../../sieve/compile.ts'
import type { SieveProgram } from '../../sieve/script.ts'
import type { Mailbox } from './mailbox-record.ts'

/** A script without its text. */
export interface SieveScript {
  id: string
  name: string
  isActive: boolean
  sizeBytes: number
  createdAt: number
  updatedAt: number
}

export interface SieveText extends SieveScript {
  content: string
}

/** The active script of a mailbox. */
export interface ActiveScript {
  content: string
  /** Paths of the folders that its `mailboxexists` tests refer to. */
  asksFor: readonly string[]
  /** Texts of the scripts it may include, by name (RFC 6609). */
  includes: Readonly<Record<string, string>>
}

export interface NewScript {
  name: string
  content: string
  activate: boolean
}

/** A new name and text. */
export interface NextScript {
  name: string
  content: string
  /** Whether the credential may send. */
  maySend: boolean
}

/** docs/design/mailbox.md §14. */
export const SCRIPTS_MAX = 10
export const SCRIPT_NAME_MAX = 128
/** Tries of a put whose script others create and delete meanwhile. */
const PUT_TRIES = 3
/** Scripts cached in memory, 64 KiB each at most. */
const CACHE_MAX = 64

const SHOWN = 'n, id, name, size_bytes, is_active, created_at, updated_at'

interface ScriptRow {
  n: number
  id: string
  name: string
  size_bytes: number
  is_active: number
  created_at: number
  updated_at: number
}

interface Deps {
  db: Db
  clock: Clock
  /** Sets the active script of the mailbox by the hash of its text; null for none. */
  setScript(tx: Tx, mailboxId: string, key: string | null): void
}

/** Receives the current script inside the unit of work; throws to refuse. */
type Check = (current: SieveText) => void

export class SieveScripts {
  readonly #deps: Deps
  /** LRU cache by hash of the text. */
  readonly #scripts = new Map<string, ActiveScript>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** By name. */
  list(mailboxId: string, page: { limit: number; after: PageKey | null }): Page<SieveScript> {
    const rows = this.#deps.db.read.all<ScriptRow>(
      `SELECT ${SHOWN} FROM sieve_scripts WHERE mailbox_id = ? AND name > ? ORDER BY name LIMIT ?`,
      [mailboxId, page.after?.[0] ?? '', page.limit + 1],
    )
    return pageOf(rows, page.limit, (row) => [row.name], present)
  }

  /** @throws ProductError not_found */
  get(mailboxId: string, id: string): SieveText {
    return textOf(find(this.#deps.db.read, mailboxId, id))
  }

  /**
   * @param maySend whether the credential may send: a script with `redirect` or `notify` does
   * @throws ProductError validation_error with every error of the script, insufficient_permissions, conflict (the name is taken, or
   *   there are too many)
   */
  create(mailboxId: string, { name: written, content, activate }: NewScript, maySend = false): Promise<SieveText> {
    const { testedFolders: asksFor } = checked(content, maySend)
    const name = written.normalize('NFC')
    return this.#deps.db.write((tx) => {
      const others = tx.all<{ name: string }>('SELECT name FROM sieve_scripts WHERE mailbox_id = ?', [mailboxId])
      if (others.length >= SCRIPTS_MAX)
        throw conflict(`A mailbox can have at most ${SCRIPTS_MAX} scripts. Delete one first.`)
      if (others.some((other) => other.name === name)) throw nameTaken()
      const now = this.#deps.clock.now()
      const id = newId('sieveScript')
      tx.insert('sieve_scripts', {
        ...{ id, mailbox_id: mailboxId, name, content, size_bytes: Buffer.byteLength(content) },
        ...{ asks_for: JSON.stringify(asksFor), is_active: false, created_at: now, updated_at: now },
      })
      if (activate) this.#setActive(tx, mailboxId, id)
      else this.#refreshKey(tx, mailboxId)
      if (!maySend) requireReach(tx, mailboxId, name)
      return textOf(find(tx, mailboxId, id))
    })
  }

  /** Replaces name and text. @throws ProductError not_found, validation_error, insufficient_permissions, conflict (the name is taken) */
  replace(mailboxId: string, id: string, next: NextScript, check: Check): Promise<SieveText> {
    const { testedFolders: asksFor } = checked(next.content, next.maySend)
    const name = next.name.normalize('NFC')
    return this.#deps.db.write((tx) => {
      const row = find(tx, mailboxId, id)
      check(textOf(row))
      const sql = 'SELECT 1 AS found FROM sieve_scripts WHERE mailbox_id = ? AND name = ? AND n <> ?'
      if (tx.get(sql, [mailboxId, name, row.n])) throw nameTaken()
      tx.run(
        'UPDATE sieve_scripts SET name = ?, content = ?, size_bytes = ?, asks_for = ?, updated_at = ? WHERE n = ?',
        [name, next.content, Buffer.byteLength(next.content), JSON.stringify(asksFor), this.#deps.clock.now(), row.n],
      )
      if (!next.maySend) requireReach(tx, mailboxId, name)
      this.#refreshKey(tx, mailboxId)
      return textOf(find(tx, mailboxId, id))
    })
  }

  /** The script with a name; undefined without one. */
  byName(mailboxId: string, name: string): SieveScript | undefined {
    const row = named(this.#deps.db.read, mailboxId, name)
    return row && present(row)
  }

  /**
   * Stores a script under a name, in place of the one that has it.
   * @throws ProductError as `create`
   */
  async put(mailboxId: string, { name, content, maySend }: NextScript): Promise<SieveText> {
    const { db } = this.#deps
    // Another session may create or delete it between the look and the write: then the other way is right.
    for (let tries = 1; ; tries++) {
      const known = named(db.read, mailboxId, name)
      try {
        if (known !== undefined) return await this.replace(mailboxId, known.id, { name, content, maySend }, () => {})
        return await this.create(mailboxId, { name, content, activate: false }, maySend)
      } catch (error) {
        const isRace = error instanceof ProductError && (error.code === 'not_found' || error.param === 'name')
        if (!isRace || tries === PUT_TRIES) throw error
      }
    }
  }

  /** @throws ProductError not_found, insufficient_permissions (see `requireReach`), conflict (the new name is taken) */
  rename(
    mailboxId: string,
    { from, to, maySend }: { from: string; to: string; maySend: boolean },
  ): Promise<SieveScript> {
    return this.#deps.db.write((tx) => {
      const row = named(tx, mailboxId, from)
      if (row === undefined) throw notFound('script')
      const name = to.normalize('NFC')
      const other = named(tx, mailboxId, name)
      if (other !== undefined && other.n !== row.n) throw nameTaken()
      tx.run('UPDATE sieve_scripts SET name = ?, updated_at = ? WHERE n = ?', [name, this.#deps.clock.now(), row.n])
      if (!maySend) requireReach(tx, mailboxId, name)
      this.#refreshKey(tx, mailboxId)
      return present({ ...row, name })
    })
  }

  /** Makes a script the active one. Idempotent. @throws ProductError not_found, insufficient_permissions (see `requireReach`) */
  activate(mailboxId: string, id: string, maySend: boolean, check?: Check): Promise<SieveText> {
    return this.#deps.db.write((tx) => {
      const script = textOf(find(tx, mailboxId, id))
      check?.(script)
      this.#setActive(tx, mailboxId, id)
      if (!maySend) requireReach(tx, mailboxId, script.name)
      return textOf(find(tx, mailboxId, id))
    })
  }

  /** @throws ProductError not_found */
  deactivate(mailboxId: string, id: string, check?: Check): Promise<SieveText> {
    return this.#deps.db.write((tx) => {
      const row = find(tx, mailboxId, id)
      check?.(textOf(row))
      if (row.is_active === 1) {
        tx.run('UPDATE sieve_scripts SET is_active = 0 WHERE n = ?', [row.n])
        this.#deps.setScript(tx, mailboxId, null)
      }
      return textOf({ ...row, is_active: 0 })
    })
  }

  /** @throws ProductError not_found, conflict while it is the active one */
  remove(mailboxId: string, id: string, check: Check): Promise<void> {
    return this.#deps.db.write((tx) => {
      const row = find(tx, mailboxId, id)
      check(textOf(row))
      if (row.is_active === 1) throw conflict('The script is active. Deactivate it first.')
      tx.run('DELETE FROM sieve_scripts WHERE n = ?', [row.n])
      this.#refreshKey(tx, mailboxId)
    })
  }

  /** Deletes all scripts of a purged mailbox. */
  drop(tx: Tx, mailboxId: string): void {
    tx.run('DELETE FROM sieve_scripts WHERE mailbox_id = ?', [mailboxId])
  }

  /** The active script of a mailbox; null without one. Reads the database only on a cache miss. */
  active({ id, scriptKey }: Pick<Mailbox, 'id' | 'scriptKey'>): ActiveScript | null {
    if (scriptKey === null) return null
    const known = this.#scripts.get(scriptKey)
    if (known) return this.#cache(scriptKey, known)
    const found = readActive(this.#deps.db.read, id)
    if (found === null) return null
    // Cached by its own key: another script may be active by now.
    return this.#cache(found.key, found.script)
  }

  #cache(key: string, script: ActiveScript): ActiveScript {
    this.#scripts.delete(key)
    this.#scripts.set(key, script)
    if (this.#scripts.size > CACHE_MAX) this.#scripts.delete(this.#scripts.keys().next().value!)
    return script
  }

  #setActive(tx: Tx, mailboxId: string, id: string): void {
    const row = find(tx, mailboxId, id)
    tx.run('UPDATE sieve_scripts SET is_active = 0 WHERE mailbox_id = ? AND is_active = 1', [mailboxId])
    tx.run('UPDATE sieve_scripts SET is_active = 1 WHERE n = ?', [row.n])
    this.#refreshKey(tx, mailboxId)
  }

  /** Stores the key of what runs: it changes with the active script and with those it includes. */
  #refreshKey(tx: Tx, mailboxId: string): void {
    const found = readActive(tx, mailboxId)
    if (found !== null) this.#deps.setScript(tx, mailboxId, found.key)
  }
}

/** The active script with all it may include, and its key. */
function readActive(reader: Reader, mailboxId: string): { key: string; script: ActiveScript } | null {
  const sql = 'SELECT name, content, asks_for, is_active FROM sieve_scripts WHERE mailbox_id = ?'
  const active = reader.get<ActiveRow>(`${sql} AND is_active = 1`, [mailboxId])
  if (active === undefined) return null
  const { content } = active
  const asksFor = JSON.parse(active.asks_for) as string[]
  if (!mayInclude(content)) return { key: keyOf(content), script: { content, asksFor, includes: {} } }
  // Included scripts include others: all of the mailbox are at hand.
  const all = reader.all<ActiveRow>(`${sql} ORDER BY name`, [mailboxId])
  const includes = Object.fromEntries(all.map((row) => [row.name, row.content]))
  const tested = new Set(all.flatMap((row) => JSON.parse(row.asks_for) as string[]))
  return { key: keyOf(JSON.stringify([content, includes])), script: { content, asksFor: [...tested], includes } }
}

/**
 * What a credential without the permission to send has changed must not send: neither by itself nor by the scripts it includes, or that
 * include it.
 * @param name of the script that was changed
 * @throws ProductError insufficient_permissions
 */
function requireReach(reader: Reader, mailboxId: string, name: string): void {
  const sql = 'SELECT name, content, is_active FROM sieve_scripts WHERE mailbox_id = ?'
  const rows = reader.all<Omit<ActiveRow, 'asks_for'>>(sql, [mailboxId])
  const active = rows.find(({ is_active }) => is_active === 1)
  if (active === undefined) return
  const contents = new Map(rows.map((row) => [row.name, row.content]))
  // A set takes up what is added while it is walked.
  const reached = new Set([active.name])
  let sends = false
  for (const one of reached) {
    const program = compileScript(contents.get(one) ?? '').script
    sends ||= program?.sends === true
    for (const included of program?.includes ?? []) reached.add(included)
  }
  if (sends && reached.has(name)) throw mayNotSend()
}

/** Without compiling it: a script that includes others requires the extension, or asks for it. */
function mayInclude(content: string): boolean {
  return /include/i.test(content)
}

interface ActiveRow {
  name: string
  content: string
  asks_for: string
  is_active: number
}

function keyOf(content: string): string {
  return Buffer.from(sha256(content)).toString('base64url')
}

function named(reader: Reader, mailboxId: string, name: string): ScriptRow | undefined {
  const sql = `SELECT ${SHOWN} FROM sieve_scripts WHERE mailbox_id = ? AND name = ?`
  return reader.get<ScriptRow>(sql, [mailboxId, name.normalize('NFC')])
}

type TextRow = ScriptRow & { content: string }

function find(reader: Reader, mailboxId: string, id: string): TextRow {
  const row = reader.get<TextRow>(`SELECT ${SHOWN}, content FROM sieve_scripts WHERE id = ? AND mailbox_id = ?`, [
    id,
    mailboxId,
  ])
  if (row === undefined) throw notFound('script')
  return row
}

/** @param maySend whether the credential may send: `redirect` and `notify` do */
function checked(content: string, maySend: boolean): SieveProgram {
  const { script, problems } = compileScript(content)
  if (script?.sends === true && !maySend) throw mayNotSend()
  if (script !== null) return script
  const issues = problems.map((problem): Issue => ({ field: 'content', code: 'invalid_format', ...problem }))
  throw new ProductError('validation_error', 'The script is not valid.', { issues })
}

function mayNotSend(): ProductError {
  const message = 'A script with redirect or notify sends messages. Use a credential that has email.send.'
  return new ProductError('insufficient_permissions', message)
}

function nameTaken(): ProductError {
  return conflict('A script with this name already exists. Choose another name.', 'name')
}

function present(row: ScriptRow): SieveScript {
  return {
    id: row.id,
    name: row.name,
    isActive: row.is_active === 1,
    sizeBytes: row.size_bytes,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

function textOf(row: TextRow): SieveText {
  return { ...present(row), content: row.content }
}
