// Reads sending accounts without their secrets.

import type { Reader, SqlValue } from '../../db/db.ts'
import { placeholders } from '../../db/sql-text.ts'
import type { RecordOf } from '../../db/table.ts'
import { PROVIDERS, type Provider } from '../model/records.ts'

const STORED = PROVIDERS.and('smtp_password_sealed', 'refresh_token_sealed')

/** @param rest the statement from WHERE on */
export function findProvider(reader: Reader, rest: string, values: readonly SqlValue[]): Provider | undefined {
  const stored = STORED.get(reader, rest, values)
  return stored && providerOf(stored)
}

/** The same for all rows. */
export function listProviders(reader: Reader, rest: string, values: readonly SqlValue[] = []): Provider[] {
  return STORED.all(reader, rest, values).map(providerOf)
}

/** The subset of the ids that are accounts of the team. */
export function ownProviders(reader: Reader, teamId: string, ids: readonly string[]): Set<string> {
  const rows = reader.all<{ id: string }>(
    `SELECT id FROM providers WHERE team_id = ? AND id IN (${placeholders(ids)})`,
    [teamId, ...ids],
  )
  return new Set(rows.map(({ id }) => id))
}

/** Sending accounts in `error`, across all teams; their owners must be notified (docs/design/sending.md §2). */
export function failingProviders(reader: Reader): Provider[] {
  return listProviders(reader, `WHERE status = 'error'`)
}

function providerOf({ smtpPasswordSealed, refreshTokenSealed, ...provider }: RecordOf<typeof STORED>): Provider {
  return { ...provider, hasSmtpPassword: smtpPasswordSealed !== null, hasRefreshToken: refreshTokenSealed !== null }
}
