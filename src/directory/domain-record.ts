// A domain as it is shown, read from its row, and what of it the row keeps of its life.

import type { Row } from '../db/db.ts'
import { type DnsRecords, dnsRecords } from './dns-records.ts'
import type { DomainState, VerificationStatus } from './domain-life.ts'

export interface Domain {
  id: string
  teamId: string
  name: string
  verificationStatus: VerificationStatus
  sesDkimStatus: string
  /** Last successful verification. */
  verifiedAt: number | null
  createdAt: number
  records: DnsRecords
}

/** What receiving needs to know of the domain a recipient is at. */
export interface ReceivingDomain {
  id: string
  teamId: string
  name: string
  /** Since when the team is suspended, null while it is active. */
  teamSuspendedAt: number | null
}

/** @param mailHosts the names of this appliance, for the records to set */
export function presentDomain(row: Row, mailHosts: readonly string[]): Domain {
  const name = row.name as string
  const parts = {
    name,
    token: row.verification_token as string,
    selector: row.dkim_selector as string,
    dkimPublic: row.dkim_public as string,
  }
  return {
    id: row.id as string,
    teamId: row.team_id as string,
    name,
    verificationStatus: row.verification_status as VerificationStatus,
    sesDkimStatus: row.ses_dkim_status as string,
    verifiedAt: row.verified_at as number | null,
    createdAt: row.created_at as number,
    records: dnsRecords(parts, mailHosts),
  }
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
