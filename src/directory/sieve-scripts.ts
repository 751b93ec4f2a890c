// The Sieve scripts of mailboxes; one of them may be run over the mail that comes in (decisions §10.14).

import type { Clock } from '../base/clock.ts'
import { conflict, type Issue, notFound, ProductError } from '../base/errors.ts'
import { newId } from '../base/ids.ts'
import { sha256 } from '../base/secrets.ts'
import type { Db, Reader, Tx } from '../db/db.ts'
import { type Page, type PageKey, pageOf } from '../db/page.ts'
import type { Script } from '../sieve/script.ts'
import { compileScript } from '../sieve/sieve.ts'
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

/** The script that is run over the mail of a mailbox. */
export interface ActiveScript {
  content: string
  /** Folders it asks after, by their paths. */
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
/** Texts in memory, 64 KiB each at most. */
const TEXTS_KEPT = 64

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

interface Parts {
  db: Db
  clock: Clock
  /** Says in the mailbox which text is run over its mail; null for none. */
  setScript(tx: Tx, mailboxId: string, key: string | null): Promise<void>
}

/** Sees to a precondition inside the unit of work that changes a script. */
type Check = (current: SieveText) => void

export class SieveScripts {
  readonly #parts: Parts
  /** By key: what a key names never changes. The ones used last are forgotten last. */
  readonly #texts = new Map<string, ActiveScript>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** By name. */
  async list(mailboxId: string, page: { limit: number; after: PageKey | null }): Promise<Page<SieveScript>> {
    const rows = await this.#parts.db.read.all<ScriptRow>(
      `SELECT ${SHOWN} FROM sieve_scripts WHERE mailbox_id = ? AND name > ? ORDER BY name LIMIT ?`,
      [mailboxId, page.after?.[0] ?? '', page.limit + 1],
    )
    return pageOf(rows, page.limit, (row) => [row.name], present)
  }

  /** @throws ProductError not_found */
  async get(mailboxId: string, id: string): Promise<SieveText> {
    return textOf(await find(this.#parts.db.read, mailboxId, id))
  }

  /** @throws ProductError validation_error with every fault of the text, conflict (the name is taken, or there are too many) */
  create(mailboxId: string, { name: written, content, activate }: NewScript): Promise<SieveText> {
    const { asksFor } = checked(content)
    const name = written.normalize('NFC')
    return this.#parts.db.write(async (tx) => {
      const others = await tx.all<{ name: string }>('SELECT name FROM sieve_scripts WHERE mailbox_id = ?', [mailboxId])
      if (others.length >= SCRIPTS_MAX) throw conflict(`A mailbox has at most ${SCRIPTS_MAX} scripts.`)
      if (others.some((other) => other.name === name)) throw nameTaken()
      const now = this.#parts.clock.now()
      const id = newId('sieveScript')
      await tx.insert('sieve_scripts', {
        ...{ id, mailbox_id: mailboxId, name, content, size_bytes: Buffer.byteLength(content) },
        ...{ asks_for: JSON.stringify(asksFor), is_active: false, created_at: now, updated_at: now },
      })
      if (activate) await this.#choose(tx, mailboxId, id)
      return textOf(await find(tx, mailboxId, id))
    })
  }

  /** Replaces name and text. @throws ProductError not_found, validation_error, conflict (the name is taken) */
  replace(mailboxId: string, id: string, next: { name: string; content: string }, check: Check): Promise<SieveText> {
    const { asksFor } = checked(next.content)
    const name = next.name.normalize('NFC')
    return this.#parts.db.write(async (tx) => {
      const row = await find(tx, mailboxId, id)
      check(textOf(row))
      const sql = 'SELECT 1 AS found FROM sieve_scripts WHERE mailbox_id = ? AND name = ? AND n <> ?'
      if (await tx.get(sql, [mailboxId, name, row.n])) throw nameTaken()
      await tx.run(
        'UPDATE sieve_scripts SET name = ?, content = ?, size_bytes = ?, asks_for = ?, updated_at = ? WHERE n = ?',
        [name, next.content, Buffer.byteLength(next.content), JSON.stringify(asksFor), this.#parts.clock.now(), row.n],
      )
      if (row.is_active === 1) await this.#parts.setScript(tx, mailboxId, keyOf(next.content))
      return textOf(await find(tx, mailboxId, id))
    })
  }

  /** From now on this one is run, and no other. Doing it twice is no error. @throws ProductError not_found */
  activate(mailboxId: string, id: string, check?: Check): Promise<SieveText> {
    return this.#parts.db.write(async (tx) => {
      check?.(textOf(await find(tx, mailboxId, id)))
      await this.#choose(tx, mailboxId, id)
      return textOf(await find(tx, mailboxId, id))
    })
  }

  /** @throws ProductError not_found */
  deactivate(mailboxId: string, id: string, check?: Check): Promise<SieveText> {
    return this.#parts.db.write(async (tx) => {
      const row = await find(tx, mailboxId, id)
      check?.(textOf(row))
      if (row.is_active === 1) {
        await tx.run('UPDATE sieve_scripts SET is_active = 0 WHERE n = ?', [row.n])
        await this.#parts.setScript(tx, mailboxId, null)
      }
      return textOf({ ...row, is_active: 0 })
    })
  }

  /** @throws ProductError not_found, conflict while it is the active one */
  remove(mailboxId: string, id: string, check: Check): Promise<void> {
    return this.#parts.db.write(async (tx) => {
      const row = await find(tx, mailboxId, id)
      check(textOf(row))
      if (row.is_active === 1) throw conflict('The script is active: deactivate it first.')
      await tx.run('DELETE FROM sieve_scripts WHERE n = ?', [row.n])
    })
  }

  /** Forgets all scripts of a mailbox, as part of its end. */
  async drop(tx: Tx, mailboxId: string): Promise<void> {
    await tx.run('DELETE FROM sieve_scripts WHERE mailbox_id = ?', [mailboxId])
  }

  /** The script of a mailbox, null without one. Nothing is read where there is none, or where it was used before. */
  async active({ id, scriptKey }: Pick<Mailbox, 'id' | 'scriptKey'>): Promise<ActiveScript | null> {
    if (scriptKey === null) return null
    const known = this.#texts.get(scriptKey)
    if (known) return this.#keep(scriptKey, known)
    const row = await this.#parts.db.read.get<{ content: string; asks_for: string }>(
      'SELECT content, asks_for FROM sieve_scripts WHERE mailbox_id = ? AND is_active = 1',
      [id],
    )
    if (row === undefined) return null
    const script = { content: row.content, asksFor: JSON.parse(row.asks_for) as string[] }
    // It may be another one by now.
    return this.#keep(keyOf(row.content), script)
  }

  #keep(key: string, script: ActiveScript): ActiveScript {
    this.#texts.delete(key)
    this.#texts.set(key, script)
    if (this.#texts.size > TEXTS_KEPT) this.#texts.delete(this.#texts.keys().next().value!)
    return script
  }

  async #choose(tx: Tx, mailboxId: string, id: string): Promise<void> {
    const row = await find(tx, mailboxId, id)
    await tx.run('UPDATE sieve_scripts SET is_active = 0 WHERE mailbox_id = ? AND is_active = 1', [mailboxId])
    await tx.run('UPDATE sieve_scripts SET is_active = 1 WHERE n = ?', [row.n])
    await this.#parts.setScript(tx, mailboxId, keyOf(row.content))
  }
}

function keyOf(content: string): string {
  return Buffer.from(sha256(content)).toString('base64url')
}

type TextRow = ScriptRow & { content: string }

async function find(reader: Reader, mailboxId: string, id: string): Promise<TextRow> {
  const row = await reader.get<TextRow>(`SELECT ${SHOWN}, content FROM sieve_scripts WHERE id = ? AND mailbox_id = ?`, [
    id,
    mailboxId,
  ])
  if (row === undefined) throw notFound('script')
  return row
}

function checked(content: string): Script {
  const { script, problems } = compileScript(content)
  if (script !== null) return script
  const issues = problems.map((problem): Issue => ({ field: 'content', code: 'invalid_format', ...problem }))
  throw new ProductError('validation_error', 'The script is not valid.', { issues })
}

function nameTaken(): ProductError {
  return conflict('There is a script of this name.', 'name')
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
