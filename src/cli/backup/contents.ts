// The two databases of a folder nobody works on, looked through from end to end: is all there that should be.

import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { ProductError } from '../../base/errors.ts'
import { DatabaseFile } from '../../db/database-file.ts'
import { formOf } from '../../db/migrate.ts'
import type { Reader } from '../../db/sql.ts'
import { mailContents } from '../../outbound/log/named-contents.ts'
import { readAppliance, readOwner } from '../../store/appliance/record.ts'
import { countKept, keptContents, type NamedContent } from '../../store/blobs.ts'
import { messageContents } from '../../store/messages/named-contents.ts'
import { uploadContents } from '../../store/uploads.ts'
import type { Manifest } from './manifest.ts'

/** What was found. */
export type Contents = Pick<Manifest, 'forms' | 'counts' | 'appliance_id'>

const ROWS_AT_ONCE = 500

/** Where content is named, by the table: a file of an earlier form has fewer of them. */
const NAMED_IN = new Map([
  ['messages', messageContents],
  ['emails', mailContents],
  ['uploads', uploadContents],
])

/**
 * Reads both databases of `folder` wholly.
 * @throws ProductError service_unavailable when one is damaged, or when content that is named is not there
 */
export async function inspectDatabases(folder: string): Promise<Contents> {
  const mail = new DatabaseFile(join(folder, 'mail.db'))
  const blobs = new DatabaseFile(join(folder, 'blobs.db'))
  try {
    await requireIntact(mail, 'mail.db')
    await requireIntact(blobs, 'blobs.db')
    const counts = await countContents(blobs.read)
    const tables = await mail.tables()
    let messages = 0
    for (const [table, named] of NAMED_IN) {
      if (!tables.has(table)) continue
      const rows = await requireStored(mail.read, blobs.read, named)
      if (table === 'messages') messages = rows
    }
    const id = await applianceOf(mail, blobs)
    return {
      ...(id === undefined ? {} : { appliance_id: id }),
      forms: { mail: await formOf(mail.read), blobs: await formOf(blobs.read) },
      counts: { messages, ...counts },
    }
  } finally {
    await mail.close()
    await blobs.close()
  }
}

/** Whether what was found is what a manifest says. */
export function isSame(found: Contents, said: Contents): boolean {
  const of = ({ forms, counts, appliance_id }: Contents) => ({ forms, counts, appliance_id })
  return isDeepStrictEqual(of(found), of(said))
}

/**
 * The id both databases have; undefined for those of a version that gave none.
 * @throws ProductError service_unavailable when they are of different appliances
 */
async function applianceOf(mail: DatabaseFile, blobs: DatabaseFile): Promise<string | undefined> {
  const own = (await mail.tables()).has('appliance') ? await readAppliance(mail.read) : undefined
  const owner = (await blobs.tables()).has('content_owner') ? await readOwner(blobs.read) : undefined
  if (own?.id !== owner?.id) throw damaged('mail.db and blobs.db belong to different appliances.')
  return own?.id
}

async function requireIntact(file: DatabaseFile, name: string): Promise<void> {
  const damage = await file.damage().catch((error: Error) => error.message)
  if (damage !== undefined) throw damaged(`${name} is damaged: ${damage.split('\n')[0]}.`)
}

async function countContents(blobs: Reader): Promise<{ contents: number; content_bytes: number }> {
  const counts = { contents: 0, content_bytes: 0 }
  let after: Uint8Array = new Uint8Array(0)
  for (;;) {
    const rows = await keptContents(blobs, after, ROWS_AT_ONCE)
    if (rows.length === 0) return counts
    after = rows.at(-1)!.hash
    for (const { hash, sizeBytes, heldBytes } of rows) {
      if (heldBytes !== sizeBytes) {
        throw damaged(`blobs.db has ${heldBytes} of the ${sizeBytes} bytes of content ${hex(hash)}.`)
      }
      counts.contents++
      counts.content_bytes += sizeBytes
    }
  }
}

/** @returns how many rows name content */
async function requireStored(
  mail: Reader,
  blobs: Reader,
  named: (reader: Reader, after: number, limit: number) => Promise<NamedContent[]>,
): Promise<number> {
  let count = 0
  for (let after = 0; ; ) {
    const rows = await named(mail, after, ROWS_AT_ONCE)
    if (rows.length === 0) return count
    after = rows.at(-1)!.n
    count += rows.length
    const hashes = [...new Map(rows.map(({ hash }) => [hex(hash), hash])).values()]
    const missing = hashes.length - (await countKept(blobs, hashes))
    if (missing > 0) throw damaged(`${missing} contents that mail.db names are not in blobs.db.`)
  }
}

/** Contents that are named and not, or not wholly, in blobs.db, in hexadecimal; and how many rows name content. */
export async function missingContents(
  mail: DatabaseFile,
  blobs: DatabaseFile,
): Promise<{ named: number; missing: string[] }> {
  const whole = new Set<string>()
  for (let after: Uint8Array = new Uint8Array(0); ; ) {
    const rows = await keptContents(blobs.read, after, ROWS_AT_ONCE)
    if (rows.length === 0) break
    after = rows.at(-1)!.hash
    for (const { hash, sizeBytes, heldBytes } of rows) if (heldBytes === sizeBytes) whole.add(hex(hash))
  }
  const missing = new Set<string>()
  let count = 0
  for (const named of NAMED_IN.values()) {
    for (let after = 0; ; ) {
      const rows = await named(mail.read, after, ROWS_AT_ONCE)
      if (rows.length === 0) break
      after = rows.at(-1)!.n
      count += rows.length
      for (const { hash } of rows) if (!whole.has(hex(hash))) missing.add(hex(hash))
    }
  }
  return { named: count, missing: [...missing] }
}

function hex(hash: Uint8Array): string {
  return Buffer.from(hash).toString('hex')
}

function damaged(sentence: string): ProductError {
  return new ProductError('service_unavailable', sentence)
}
