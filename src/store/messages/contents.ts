// The content a mailbox holds: whole mails and the files in them, found by who knows what to look for.

import type { Reader } from '../../db/db.ts'
import type { Part } from '../../mail/mail.ts'
import { findPart } from '../../mail/structure.ts'
import type { Blobs } from '../blobs.ts'
import type { Account } from '../records.ts'
import { type KeptStructure, keptStructure } from './detail.ts'
import { numberRange } from './numbers.ts'

/** Of more content in a mailbox the newest is looked through. */
export const CONTENTS_LOOKED_AT = 50_000
// Whoever looks compares a page at once: not more than others can wait for.
const PAGE = 200

/** A mail, or a file in one. */
export interface Held {
  messageId: string
  /** Null for the whole mail. */
  partId: string | null
  /** SHA-256 of the content. */
  hash: Uint8Array
  /** Decoded. */
  sizeBytes: number
}

/** The bytes of something held, as they are stored. */
export interface HeldBytes {
  bytes: Uint8Array
  /** Content-Transfer-Encoding they are in; null: none. */
  encoding: string | null
}

interface HeldRow {
  n: number
  message_id: string
  part_id: string | null
  hash: Uint8Array
  size_bytes: number
}

/** The first content that is meant, the newest mail first; a file is found where it is kept, not where it is shown. */
export async function findHeld(
  scan: Reader,
  account: Account,
  isMeant: (hash: Uint8Array) => boolean,
): Promise<Held | undefined> {
  const { low, high } = numberRange(account.n)
  let looked = 0
  for (let top = high; looked < CONTENTS_LOOKED_AT; ) {
    const rows = await page(scan, low, top)
    if (rows.length === 0) return undefined
    const row = rows.find(({ hash }) => isMeant(hash))
    if (row) {
      return { messageId: row.message_id, partId: row.part_id, hash: row.hash, sizeBytes: row.size_bytes }
    }
    looked += rows.length
    top = rows.at(-1)!.n - 1
  }
  return undefined
}

/** The mails of a stretch and every file in them. */
async function page(scan: Reader, low: number, top: number): Promise<HeldRow[]> {
  const mails = await scan.all<HeldRow>(
    `SELECT n, id AS message_id, NULL AS part_id, blob AS hash, size_bytes FROM messages
     WHERE n BETWEEN ? AND ? ORDER BY n DESC LIMIT ?`,
    [low, top, PAGE],
  )
  if (mails.length === 0) return []
  const files = await scan.all<HeldRow>(
    `SELECT a.message AS n, m.id AS message_id, a.part_id, a.sha256 AS hash, a.size_bytes
     FROM attachments a JOIN messages m ON m.n = a.message WHERE a.message BETWEEN ? AND ?`,
    [mails.at(-1)!.n, top],
  )
  return [...files, ...mails]
}

/** Reads something held; undefined when it is gone meanwhile. */
export async function readHeld(
  reader: Reader,
  blobs: Blobs,
  account: Account,
  held: Held,
): Promise<HeldBytes | undefined> {
  const kept = await keptStructure(reader, account, held.messageId)
  if (!kept) return undefined
  if (held.partId === null) return { bytes: await blobs.bytes(kept.blob, 0, kept.sizeBytes), encoding: null }
  const part = partOf(kept, held.partId)
  if (!part) return undefined
  return { bytes: await blobs.bytes(kept.blob, part.bodyStart, part.bodyEnd), encoding: part.encoding }
}

function partOf({ root }: KeptStructure, id: string): Part | undefined {
  return (root && findPart(root, id)) ?? undefined
}
