// The Sieve scripts of mailboxes; at most one is active and filters incoming mail (decisions §10.14).

import type { Clock } from '../base/clock.ts'
import { conflict, type Issue, notFound, ProductError } from '../base/errors.ts'
import { newId } from '../base/ids.ts'
import { sha256 } from '../base/secrets.ts'
import type { Db, Reader, Tx } from '../db/db.ts'
import { type Page, type PageKey, pageOf } from '../db/page.ts'
import { compileScript } from '../sieve/compile.ts'
import type { SieveProgram } from '../sieve/script.ts'
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
}

export interface NewScript {
  name: string
  content: string
  activate: boolean
}

/** Decisions §10.14. */
export const SCRIPTS_MAX = 10
export const SCRIPT_NAME_MAX = 128
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

  /** @throws ProductError validation_error with every error of the script, conflict (the name is taken, or there are too many) */
  create(mailboxId: string, { name: written, content, activate }: NewScript): Promise<SieveText> {
    const { testedFolders: asksFor } = checked(content)
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
      return textOf(find(tx, mailboxId, id))
    })
  }

  /** Replaces name and text. @throws ProductError not_found, validation_error, conflict (the name is taken) */
  replace(mailboxId: string, id: string, next: { name: string; content: string }, check: Check): Promise<SieveText> {
    const { testedFolders: asksFor } = checked(next.content)
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
      if (row.is_active === 1) this.#deps.setScript(tx, mailboxId, keyOf(next.content))
      return textOf(find(tx, mailboxId, id))
    })
  }

  /** Makes a script the active one. Idempotent. @throws ProductError not_found */
  activate(mailboxId: string, id: string, check?: Check): Promise<SieveText> {
    return this.#deps.db.write((tx) => {
      check?.(textOf(find(tx, mailboxId, id)))
      this.#setActive(tx, mailboxId, id)
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
    const row = this.#deps.db.read.get<{ content: string; asks_for: string }>(
      'SELECT content, asks_for FROM sieve_scripts WHERE mailbox_id = ? AND is_active = 1',
      [id],
    )
    if (row === undefined) return null
    const script = { content: row.content, asksFor: JSON.parse(row.asks_for) as string[] }
    // Cached by its own hash: another script may be active by now.
    return this.#cache(keyOf(row.content), script)
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
    this.#deps.setScript(tx, mailboxId, keyOf(row.content))
  }
}

function keyOf(content: string): string {
  return Buffer.from(sha256(content)).toString('base64url')
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

function checked(content: string): SieveProgram {
  const { script, problems } = compileScript(content)
  if (script !== null) return script
  const issues = problems.map((problem): Issue => ({ field: 'content', code: 'invalid_format', ...problem }))
  throw new ProductError('validation_error', 'The script is not valid.', { issues })
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
