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
import { contentSizes } from '../../store/content/blobs.ts'
import { ContentReader } from '../../store/content/blobs-reader.ts'
import { uploadContents } from '../../store/content/uploads.ts'
import { draftContents } from '../../store/mailbox/drafts.ts'
import { messageContents } from '../../store/messages/recount.ts'
import { removedContents } from '../../store/messages/removed.ts'
import { type Damage, damageOf } from '../damage.ts'
import type { StepProgress } from '../progress.ts'
import type { Manifest } from './manifest.ts'

/** What the databases say they hold. */
export type BackupContents = Pick<Manifest, 'forms' | 'counts' | 'appliance_id'>

export interface InspectedDatabases {
  contents: BackupContents
  /** Contents that rows of mail.db name and that are not in blobs.db as they were stored. */
  damage: Damage
}

const ROWS_AT_ONCE = 500

/** Where content is named, by the table: a file of an earlier form has fewer of them. */
const NAMED_IN = new Map([
  ['messages', messageContents],
  ['removed_messages', removedContents],
  ['emails', mailContents],
  ['kept_contents', keptContents],
  ['uploads', uploadContents],
  ['drafts', draftContents],
])

/**
 * Reads both databases of `folder` wholly, and compares each content with its SHA-256. Damaged contents are named and cost nothing but
 * themselves.
 * @throws ProductError service_unavailable when the pages of a database are damaged
 */
export async function inspectDatabases(folder: string, progress: StepProgress): Promise<InspectedDatabases> {
  const mail = new DatabaseFile(join(folder, 'mail.db'))
  const blobs = new DatabaseFile(join(folder, 'blobs.db'))
  try {
    progress.begin('Checking the pages of mail.db')
    requireIntact(mail, 'mail.db')
    progress.begin('Checking the pages of blobs.db')
    requireIntact(blobs, 'blobs.db')
    const { named, damaged, counts } = await checkContents(mail, blobs, progress)
    const id = applianceOf(mail, blobs)
    return {
      contents: {
        ...(id === undefined ? {} : { appliance_id: id }),
        forms: { mail: formOf(mail.read), blobs: formOf(blobs.read) },
        counts: { messages: named.get('messages') ?? 0, ...counts },
      },
      damage: damageOf(mail.read, damaged),
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
function pageDamage(check: () => string | undefined): string | undefined {
  try {
    return check()
  } catch (error) {
    return (error as Error).message
  }
}

function requireIntact(file: DatabaseFile, name: string): void {
  const damage = pageDamage(() => file.damage())
  if (damage !== undefined) throw damaged(`${name} is damaged: ${damage.split('\n')[0]}.`)
}

/** What {@link checkContents} found. */
export interface CheckedContents {
  /** How many rows name content, by table. */
  named: Map<string, number>
  /** SHA-256 of contents that are named and not, not wholly or not unchanged in blobs.db. */
  damaged: Uint8Array[]
  counts: { contents: number; content_bytes: number }
}

export async function checkContents(
  mail: DatabaseFile,
  blobs: DatabaseFile,
  progress: StepProgress,
): Promise<CheckedContents> {
  const { whole, counts } = await wholeContents(blobs.read, progress)
  const damaged = new Map<string, Uint8Array>()
  const named = new Map<string, number>()
  const tables = mail.tables()
  for (const [table, rowsOf] of NAMED_IN) {
    if (!tables.has(table)) continue
    progress.begin(`Looking up the contents of ${table}`, 'contents')
    let count = 0
    for (let after = 0; ; ) {
      const rows = rowsOf(mail.read, after, ROWS_AT_ONCE)
      if (rows.length === 0) break
      after = rows.at(-1)!.n
      count += rows.length
      progress.add(rows.length)
      for (const { hash } of rows) if (!whole.has(hex(hash))) damaged.set(hex(hash), hash)
    }
    named.set(table, count)
  }
  return { named, damaged: [...damaged.values()], counts }
}

/** Reads all contents. @returns those that are as they were stored, in hexadecimal */
async function wholeContents(
  blobs: Reader,
  progress: StepProgress,
): Promise<{ whole: Set<string>; counts: CheckedContents['counts'] }> {
  const reader = new ContentReader(blobs)
  const whole = new Set<string>()
  const counts = { contents: 0, content_bytes: 0 }
  progress.begin('Checking contents', 'contents')
  for (let after: Uint8Array = new Uint8Array(0); ; ) {
    const rows = contentSizes(blobs, after, ROWS_AT_ONCE)
    if (rows.length === 0) return { whole, counts }
    after = rows.at(-1)!.hash
    for (const row of rows) {
      if (row.storedBytes === row.sizeBytes && (await reader.isIntact(row))) whole.add(hex(row.hash))
      counts.contents++
      counts.content_bytes += row.sizeBytes
    }
    progress.add(rows.length)
  }
}

function hex(hash: Uint8Array): string {
  return Buffer.from(hash).toString('hex')
}

function damaged(sentence: string): ProductError {
  return new ProductError('service_unavailable', sentence)
}
