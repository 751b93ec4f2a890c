// Maps rows of `domains` to records and verification states.

import type { Config } from '../../config/config.ts'
import type { Row } from '../../db/db.ts'
import type { PageKey } from '../../db/page.ts'
import type { StsMode } from '../../tls-policy/sts.ts'
import { isReserved } from '../names/domain-name.ts'
import type { CheckChange, DatedCheck } from './check-changes.ts'
import { type DkimKey, isSuperseded, keyRecord } from './dkim-keys.ts'
import { type DnsRecord, type DnsRecords, dnsRecords } from './dns-records.ts'
import type { DomainCheck } from './domain-checks.ts'
import type { DomainState, VerificationStatus } from './domain-lifecycle.ts'

/** The verification status of a domain; read for every message sent. */
export interface DomainStatus {
  id: string
  teamId: string
  name: string
  verificationStatus: VerificationStatus
  sesDkimStatus: string
}

export interface Domain extends DomainStatus {
  /** Last successful verification. */
  verifiedAt: number | null
  createdAt: number
  /** When DNS was last checked; null before the first check. */
  checkedAt: number | null
  /** Whether every record was found then; null before the first check, and for a reserved name with nothing in DNS. */
  areChecksOk: boolean | null
  /** What its MTA-STS policy asks for. */
  mtaStsMode: StsMode
  /** Includes keys in use, new keys, and retired keys that messages in transit may need. */
  records: DnsRecords
  /** Records of replaced keys that are no longer needed. */
  removable: DnsRecord[]
}

/** The domain of a recipient, for receiving. */
export interface ReceivingDomain {
  id: string
  teamId: string
  name: string
  /** Characters that begin a sub-address. */
  separators: string
  /** Since when the team is suspended, null while it is active. */
  teamSuspendedAt: number | null
}

/** Additional input of `presentDomain`. */
export interface DomainView {
  keys: readonly DkimKey[]
  /** For the records to set. */
  config: Config
  now: number
}

/** The columns of `DomainStatus`. */
export const STATUS_COLUMNS = 'id, team_id, name, verification_status, ses_dkim_status'

export function domainStatusOf(row: Row): DomainStatus {
  return {
    id: row.id as string,
    teamId: row.team_id as string,
    name: row.name as string,
    verificationStatus: row.verification_status as VerificationStatus,
    sesDkimStatus: row.ses_dkim_status as string,
  }
}

export function receivingOf(row: Row): ReceivingDomain {
  return {
    id: row.id as string,
    teamId: row.team_id as string,
    name: row.name as string,
    separators: row.separators as string,
    teamSuspendedAt: row.suspended_at as number | null,
  }
}

/** The findings of the last check, empty before the first. */
export function checksOf(row: Row): DatedCheck[] {
  const stored = JSON.parse((row.checks as string | null) ?? '[]') as (DatedCheck & Partial<DatedCheck>)[]
  // Checks of earlier versions have no time, and no servers.
  return stored.map(({ since = null, asked = [], definite = true, ...check }) => ({ ...check, since, asked, definite }))
}

/** What the last checks found otherwise than those before them, newest first. */
export function changesOf(row: Row): CheckChange[] {
  return JSON.parse((row.check_changes as string | null) ?? '[]') as CheckChange[]
}

export function presentDomain(row: Row, { keys, config, now }: DomainView): Domain {
  const status = domainStatusOf(row)
  const { name } = status
  const mtaStsMode = row.mta_sts_mode as StsMode
  const records = (needed: boolean) =>
    keys.filter((key) => isSuperseded(key, now) !== needed).map((key) => keyRecord(key, name))
  return {
    ...status,
    verifiedAt: row.verified_at as number | null,
    createdAt: row.created_at as number,
    checkedAt: (row.checked_at as number | null | undefined) ?? null,
    areChecksOk: typeof row.checks !== 'string' ? null : areOk(checksOf(row), name),
    mtaStsMode,
    records: dnsRecords(
      { name, token: row.verification_token as string, dkim: records(true), sesTokens: sesTokensOf(row), mtaStsMode },
      config,
    ),
    removable: records(false),
  }
}

/** Null for a reserved name with nothing in DNS: its records cannot be published. */
function areOk(checks: readonly DomainCheck[], name: string): boolean | null {
  if (checks.every(({ ok }) => ok)) return true
  return isReserved(name) && checks.every(({ found }) => found.length === 0) ? null : false
}

/** The state of a domain at Amazon SES, as the check of a domain finds it. */
export interface SesStatus {
  status: string
  tokens: string[]
}

/** null while the team does not send through SES; undefined when SES could not be reached. */
export type SesFinding = SesStatus | null | undefined

/** @param found the result of a check; undefined leaves the row unchanged */
export function sesColumns(row: Row, found: SesFinding) {
  if (found === undefined) return { ses_dkim_status: row.ses_dkim_status, ses_tokens: row.ses_tokens }
  if (found === null) return { ses_dkim_status: 'not_started', ses_tokens: null }
  return { ses_dkim_status: found.status, ses_tokens: found.tokens.join(' ') }
}

function sesTokensOf(row: Row): string[] | null {
  return row.ses_tokens === null ? null : (row.ses_tokens as string).split(' ').filter(Boolean)
}

export function stateOf(row: Row): DomainState {
  return {
    status: row.verification_status as VerificationStatus,
    createdAt: row.created_at as number,
    verifiedAt: row.verified_at as number | null,
    missingDays: row.missing_days as number,
    nextCheckAt: row.next_check_at as number | null,
  }
}

export function stateColumns(state: DomainState) {
  return {
    verification_status: state.status,
    verified_at: state.verifiedAt,
    missing_days: state.missingDays,
    next_check_at: state.nextCheckAt,
  }
}

/** Which domains of a team a list shows. */
export interface DomainFilter {
  status?: VerificationStatus
  /** A part of the name. */
  search?: string
  limit: number
  after: PageKey | null
}
