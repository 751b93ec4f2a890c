// Reads sending accounts without their secrets.

import type { Reader, SqlValue } from '../../db/db.ts'
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

function providerOf({ smtpPasswordSealed, refreshTokenSealed, ...provider }: RecordOf<typeof STORED>): Provider {
  return { ...provider, hasSmtpPassword: smtpPasswordSealed !== null, hasRefreshToken: refreshTokenSealed !== null }
}
