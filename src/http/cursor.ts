// Sealed pagination cursors: clients can store them but not forge them (docs/design/http.md §6).

import { createHmac, createSecretKey, hash, type KeyObject, timingSafeEqual } from 'node:crypto'
import { ProductError } from '../base/errors.ts'
import type { Vault } from '../base/secrets.ts'
import type { PageKey } from '../store/rows/records.ts'

const VERSION = 1
const PURPOSE = 'cursor'
const SIGNATURE_LENGTH = 16
// A sort value is at most a subject; longer texts are not valid cursors.
const CURSOR_MAX = 8192

/**
 * What a cursor is bound to: the route with its path, the filters, and the owner of the list.
 * @param filters in the order of their schema, which `convert` gives them
 */
export function cursorScope(operation: string, owner: string, params: unknown, filters: unknown): string {
  return hash('sha256', JSON.stringify([operation, owner, params, filters]), 'hex').slice(0, 8)
}

interface IssuedCursor {
  vault: Vault
  scope: string
  key: PageKey
  cursor: string
}

// Cached pages (store/rows/page-cache.ts) end at the same key each time.
const encoded = new WeakMap<PageKey, IssuedCursor>()

/** The cursors issued last, by their text: clients send most of them back within seconds. */
const issued = new Map<string, IssuedCursor>()
const ISSUED_MAX = 1000
/** Longer cursors are not kept, characters. */
const ISSUED_LENGTH_MAX = 256

/** @param key must not be modified: its cursor is kept with it */
export function encodeCursor(vault: Vault, scope: string, key: PageKey): string {
  const known = encoded.get(key)
  if (known?.vault === vault && known.scope === scope) return known.cursor
  const made = { vault, scope, key, cursor: newCursor(vault, scope, key) }
  encoded.set(key, made)
  if (issued.size >= ISSUED_MAX) issued.clear()
  if (made.cursor.length <= ISSUED_LENGTH_MAX) issued.set(made.cursor, made)
  return made.cursor
}

function newCursor(vault: Vault, scope: string, key: PageKey): string {
  const first = Buffer.from(JSON.stringify({ v: VERSION, k: key, f: scope })).toString('base64url')
  return `${first}.${sign(vault, first)}`
}

/** @throws ProductError invalid_parameter for a cursor this appliance did not issue for this list */
export function decodeCursor(vault: Vault, scope: string, cursor: string): PageKey {
  const known = issued.get(cursor)
  if (known?.vault === vault && known.scope === scope) return known.key
  const match = cursor.length > CURSOR_MAX ? null : /^([\w-]+)\.([\w-]{16})$/.exec(cursor)
  if (match === null || !same(match[2]!, sign(vault, match[1]!))) throw wrong()
  const value = JSON.parse(Buffer.from(match[1]!, 'base64url').toString()) as { v: number; k: PageKey; f: string }
  if (value.v !== VERSION || value.f !== scope) throw wrong()
  return value.k
}

// Deriving a key takes longer than all other work on a cursor; there is one per appliance.
const keys = new WeakMap<Vault, KeyObject>()

function keyOf(vault: Vault): KeyObject {
  const known = keys.get(vault)
  if (known !== undefined) return known
  const key = createSecretKey(vault.mac(PURPOSE, 'signing key'))
  keys.set(vault, key)
  return key
}

function sign(vault: Vault, text: string): string {
  return createHmac('sha256', keyOf(vault)).update(text).digest('base64url').slice(0, SIGNATURE_LENGTH)
}

function same(given: string, right: string): boolean {
  return timingSafeEqual(Buffer.from(given), Buffer.from(right))
}

function wrong(): ProductError {
  return new ProductError('invalid_parameter', 'The cursor does not belong to this list. Start again without it.', {
    param: 'cursor',
  })
}
