// Maps rows of `app_passwords` to records (docs/design/mail-programs.md §1.1).

import { SCRAM_KEY_BYTES, type ScramKeys } from '../../base/scram.ts'
import type { ClientProtocol } from '../../config/client-protocols.ts'
import type { Row } from '../../db/db.ts'
import { type CredentialRecord, presentCredential } from '../keys/key-record.ts'

/** An app password without its secret, which only `issue` returns. */
export interface AppPassword extends CredentialRecord {
  mailboxId: string
  protocols: readonly ClientProtocol[]
  /** Whether submission keeps a copy of sent messages in Sent. */
  savesSent: boolean
  /** Address without a port. */
  lastUsedFrom: string | null
  /** What the program says of itself. */
  lastUsedClient: string | null
}

export interface IssuedAppPassword {
  record: AppPassword
  secret: string
}

/** @param now ms; decides whether it has expired */
export function presentAppPassword(row: Row, now: number): AppPassword {
  return {
    ...presentCredential(row, now),
    mailboxId: row.mailbox_id as string,
    permissions: JSON.parse(row.permissions as string) as string[],
    protocols: JSON.parse(row.protocols as string) as ClientProtocol[],
    savesSent: row.saves_sent === 1,
    lastUsedFrom: row.last_used_from as string | null,
    lastUsedClient: row.last_used_client as string | null,
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
