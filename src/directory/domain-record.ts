// A domain as it is shown, read from its row, and what of it the row keeps of its life.

import type { Row } from '../db/db.ts'
import type { PageKey } from '../db/page.ts'
import { type DkimKey, isSuperseded, keyRecord } from './dkim-key-record.ts'
import { type DnsRecord, type DnsRecords, dnsRecords } from './dns-records.ts'
import type { DomainState, VerificationStatus } from './domain-life.ts'

/** What sending asks of a domain for every mail. */
export interface DomainStanding {
  id: string
  teamId: string
  name: string
  verificationStatus: VerificationStatus
  sesDkimStatus: string
}

export interface Domain extends DomainStanding {
  /** Last successful verification. */
  verifiedAt: number | null
  createdAt: number
  /** With the keys in use, those to come, and those that mail on its way may still need. */
  records: DnsRecords
  /** Records of replaced keys that nobody needs any more. */
  removable: DnsRecord[]
}

/** What receiving needs to know of the domain a recipient is at. */
export interface ReceivingDomain {
  id: string
  teamId: string
  name: string
  /** Since when the team is suspended, null while it is active. */
  teamSuspendedAt: number | null
}

/** What a domain is shown with beside its row. */
export interface DomainView {
  keys: readonly DkimKey[]
  /** The names of this appliance, for the records to set. */
  mailHosts: readonly string[]
  now: number
}

/** Its columns. */
export const STANDING = 'id, team_id, name, verification_status, ses_dkim_status'

export function standingOf(row: Row): DomainStanding {
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
    teamSuspendedAt: row.suspended_at as number | null,
  }
}

export function presentDomain(row: Row, { keys, mailHosts, now }: DomainView): Domain {
  const standing = standingOf(row)
  const { name } = standing
  const records = (wanted: boolean) =>
    keys.filter((key) => isSuperseded(key, now) !== wanted).map((key) => keyRecord(key, name))
  return {
    ...standing,
    verifiedAt: row.verified_at as number | null,
    createdAt: row.created_at as number,
    records: dnsRecords(
      { name, token: row.verification_token as string, dkim: records(true), sesTokens: sesTokensOf(row) },
      mailHosts,
    ),
    removable: records(false),
  }
}

/** What Amazon SES says of a domain. */
export interface SesStanding {
  status: string
  tokens: string[]
}

/**
 * Asks Amazon SES for a domain, and makes it known there when it is proven.
 * @returns null while the team sends nothing through it; undefined when it cannot be asked
 */
export type LookAtSes = (teamId: string, name: string, proven: boolean) => Promise<SesStanding | null | undefined>

/** @param found what a look gave; undefined leaves the row as it is */
export function sesColumns(row: Row, found: SesStanding | null | undefined) {
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
