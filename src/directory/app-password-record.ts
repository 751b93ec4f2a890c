// Maps rows of `app_passwords` to records (decisions-imap §2.1).

import { SCRAM_KEY_BYTES, type ScramKeys } from '../base/scram.ts'
import type { ClientProtocol } from '../config/client-protocols.ts'
import type { Row } from '../db/db.ts'
import { type KeyStatus, statusOf } from './key-record.ts'

/** An app password without its secret, which only `issue` returns. */
export interface AppPassword {
  id: string
  teamId: string
  mailboxId: string
  name: string
  permissions: readonly string[]
  protocols: readonly ClientProtocol[]
  /** Whether submission keeps a copy of sent messages in Sent. */
  savesSent: boolean
  last4: string
  status: KeyStatus
  createdBy: string
  createdAt: number
  expiresAt: number | null
  /** Start of the minute of the last use. */
  lastUsedAt: number | null
  /** Address without a port. */
  lastUsedFrom: string | null
  /** What the program says of itself. */
  lastUsedClient: string | null
  revokedAt: number | null
}

export interface IssuedAppPassword {
  record: AppPassword
  secret: string
}

/** @param now ms; decides whether it has expired */
export function presentAppPassword(row: Row, now: number): AppPassword {
  return {
    id: row.id as string,
    teamId: row.team_id as string,
    mailboxId: row.mailbox_id as string,
    name: row.name as string,
    permissions: JSON.parse(row.permissions as string) as string[],
    protocols: JSON.parse(row.protocols as string) as ClientProtocol[],
    savesSent: row.saves_sent === 1,
    last4: row.last4 as string,
    status: statusOf(row, now),
    createdBy: row.created_by as string,
    createdAt: row.created_at as number,
    expiresAt: row.expires_at as number | null,
    lastUsedAt: row.last_used_at as number | null,
    lastUsedFrom: row.last_used_from as string | null,
    lastUsedClient: row.last_used_client as string | null,
    revokedAt: row.revoked_at as number | null,
  }
}

/** The column `scram`: the keys of each spelling one after the other. */
export function packScramKeys(spellings: readonly ScramKeys[]): Buffer {
  return Buffer.concat(spellings.flatMap(({ storedKey, serverKey }) => [storedKey, serverKey]))
}

export function unpackScramKeys(column: Uint8Array): ScramKeys[] {
  const keyAt = (index: number) => column.subarray(index * SCRAM_KEY_BYTES, (index + 1) * SCRAM_KEY_BYTES)
  const count = Math.floor(column.length / (2 * SCRAM_KEY_BYTES))
  return Array.from({ length: count }, (_, index) => ({
    storedKey: keyAt(2 * index),
    serverKey: keyAt(2 * index + 1),
  }))
}
