// Where a list goes on, as a text a client can hold but not make (decisions §1.6).

import { createHash, timingSafeEqual } from 'node:crypto'
import { canonicalJson } from '../../base/canonical-json.ts'
import { ProductError } from '../../base/errors.ts'
import type { Vault } from '../../base/secrets.ts'
import type { PageKey } from '../../store/records.ts'

const VERSION = 1
const PURPOSE = 'cursor'
const SIGNATURE_LENGTH = 16
// A sort value is at most a subject; longer texts are not cursors of ours.
const CURSOR_MAX = 8192

/** What a cursor is bound to: the route with its path, the filters, and whose list it is. */
export function cursorScope(operation: string, owner: string, params: unknown, filters: unknown): string {
  return createHash('sha256')
    .update(canonicalJson([operation, owner, params, filters]))
    .digest('hex')
    .slice(0, 8)
}

export function encodeCursor(vault: Vault, scope: string, key: PageKey): string {
  const first = Buffer.from(JSON.stringify({ v: VERSION, k: key, f: scope })).toString('base64url')
  return `${first}.${sign(vault, first)}`
}

/** @throws ProductError invalid_parameter for anything this house did not make for this very list */
export function decodeCursor(vault: Vault, scope: string, cursor: string): PageKey {
  const match = cursor.length > CURSOR_MAX ? null : /^([\w-]+)\.([\w-]{16})$/.exec(cursor)
  if (match === null || !same(match[2]!, sign(vault, match[1]!))) throw wrong()
  const value = JSON.parse(Buffer.from(match[1]!, 'base64url').toString()) as { v: number; k: PageKey; f: string }
  if (value.v !== VERSION || value.f !== scope) throw wrong()
  return value.k
}

function sign(vault: Vault, text: string): string {
  return vault.mac(PURPOSE, text).toString('base64url').slice(0, SIGNATURE_LENGTH)
}

function same(given: string, right: string): boolean {
  return timingSafeEqual(Buffer.from(given), Buffer.from(right))
}

function wrong(): ProductError {
  return new ProductError('invalid_parameter', 'The cursor does not belong to this list; start again without it.', {
    param: 'cursor',
  })
}
