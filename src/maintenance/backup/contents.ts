// Checks the databases of a folder that is not in use: whether everything that rows refer to is there.

import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { ProductError } from '../../base/errors.ts'
import { DatabaseFile } from '../../db/database-file.ts'
import { formOf } from '../../db/migrate.ts'
import type { Reader } from '../../db/sql.ts'
import { keptContents } from '../../outbound/log/kept-contents.ts'
import { mailContents } from '../../outbound/log/named-contents.ts'
import { readApplianceId, readOwnerId } from '../../store/appliance/record.ts'
import { contentSizes, countStored, isIntact, type NamedContent } from '../../store/blobs.ts'
import { draftContents } from '../../store/drafts.ts'
import { messageContents } from '../../store/messages/check-rows.ts'
import { uploadContents } from '../../store/uploads.ts'
import type { StepProgress } from '../progress.ts'
import type { Manifest } from './manifest.ts'

/** What was found. */
export type BackupContents = Pick<Manifest, 'forms' | 'counts' | 'appliance_id'>

const ROWS_AT_ONCE = 500

/** Where content is named, by the table: a file of an earlier form has fewer of them. */
const NAMED_IN = new Map([
  ['messages', messageContents],
  ['emails', mailContents],
  ['kept_contents', keptContents],
  ['uploads', uploadContents],
  ['drafts', draftContents],
])

/**
 * Reads both databases of `folder` wholly.
 * @throws ProductError service_unavailable when one is damaged, or when content that is named is not there
 */
export function inspectDatabases(folder: string, progress: StepProgress): BackupContents {
  const mail = new DatabaseFile(join(folder, 'mail.db'))
  const blobs = new DatabaseFile(join(folder, 'blobs.db'))
  try {
    progress.begin('Checking the pages of mail.db')
    requireIntact(mail, 'mail.db')
    progress.begin('Checking the pages of blobs.db')
    requireIntact(blobs, 'blobs.db')
    progress.begin('Checking contents', 'contents')
    const counts = countContents(blobs.read, progress)
    const tables = mail.tables()
    let messages = 0
    for (const [table, named] of NAMED_IN) {
      if (!tables.has(table)) continue
      progress.begin(`Looking up the contents of ${table}`, 'contents')
      const rows = requireStored(mail.read, blobs.read, named, progress)
      if (table === 'messages') messages = rows
    }
    const id = applianceOf(mail, blobs)
    return {
      ...(id === undefined ? {} : { appliance_id: id }),
      forms: { mail: formOf(mail.read), blobs: formOf(blobs.read) },
      counts: { messages, ...counts },
    }
  } finally {
    mail.close()
    blobs.close()
  }
}

/** Whether what was found is what a manifest says. */
export function isSame(found: BackupContents, said: BackupContents): boolean {
  const of = ({ forms, counts, appliance_id }: BackupContents) => ({ forms, counts, appliance_id })
  return isDeepStrictEqual(of(found), of(said))
}

/**
 * The id both databases have; undefined for those of a version that gave none.
 * @throws ProductError service_unavailable when they are of different appliances
 */
function applianceOf(mail: DatabaseFile, blobs: DatabaseFile): string | undefined {
  const own = mail.tables().has('appliance') ? readApplianceId(mail.read) : undefined
  const owner = blobs.tables().has('content_owner') ? readOwnerId(blobs.read) : undefined
  if (own !== owner) throw damaged('mail.db and blobs.db belong to different appliances.')
  return own
}

/** The damage found, or why the file cannot be read at all. */
function damageOf(check: () => string | undefined): string | undefined {
  try {
    return check()
  } catch (error) {
    return (error as Error).message
  }
}

function requireIntact(file: DatabaseFile, name: string): void {
  const damage = damageOf(() => file.damage())
  if (damage !== undefined) throw damaged(`${name} is damaged: ${damage.split('\n')[0]}.`)
}

function countContents(blobs: Reader, progress: StepProgress): { contents: number; content_bytes: number } {
  const counts = { contents: 0, content_bytes: 0 }
  let after: Uint8Array = new Uint8Array(0)
  for (;;) {
    const rows = contentSizes(blobs, after, ROWS_AT_ONCE)
    if (rows.length === 0) return counts
    after = rows.at(-1)!.hash
    for (const { hash, sizeBytes, storedBytes: heldBytes } of rows) {
      if (heldBytes !== sizeBytes) {
        throw damaged(`blobs.db has ${heldBytes} of the ${sizeBytes} bytes of content ${hex(hash)}.`)
      }
      counts.contents++
      counts.content_bytes += sizeBytes
    }
    progress.add(rows.length)
  }
}

/** @returns how many rows name content */
function requireStored(
  mail: Reader,
  blobs: Reader,
  named: (reader: Reader, after: number, limit: number) => NamedContent[],
  progress: StepProgress,
): number {
  let count = 0
  for (let after = 0; ; ) {
    const rows = named(mail, after, ROWS_AT_ONCE)
    if (rows.length === 0) return count
    after = rows.at(-1)!.n
    count += rows.length
    progress.add(rows.length)
    const hashes = [...new Map(rows.map(({ hash }) => [hex(hash), hash])).values()]
    const missing = hashes.length - countStored(blobs, hashes)
    if (missing > 0) throw damaged(`${missing} contents that mail.db names are not in blobs.db.`)
  }
}

/** Contents that are named and not, not wholly or not unchanged in blobs.db, in hexadecimal; and how many rows name content. */
export async function missingContents(
  mail: DatabaseFile,
  blobs: DatabaseFile,
  progress: StepProgress,
): Promise<{ named: number; missing: string[] }> {
  const whole = new Set<string>()
  progress.begin('Checking contents', 'contents')
  for (let after: Uint8Array = new Uint8Array(0); ; ) {
    const rows = contentSizes(blobs.read, after, ROWS_AT_ONCE)
    if (rows.length === 0) break
    after = rows.at(-1)!.hash
    for (const row of rows) {
      if (row.storedBytes === row.sizeBytes && (await isIntact(blobs.read, row))) whole.add(hex(row.hash))
    }
    progress.add(rows.length)
  }
  const missing = new Set<string>()
  const tables = mail.tables()
  let count = 0
  for (const [table, named] of NAMED_IN) {
    if (!tables.has(table)) continue
    progress.begin(`Looking up the contents of ${table}`, 'contents')
    for (let after = 0; ; ) {
      const rows = named(mail.read, after, ROWS_AT_ONCE)
      if (rows.length === 0) break
      after = rows.at(-1)!.n
      count += rows.length
      progress.add(rows.length)
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
