// The delivery log as it is read: a row for every recipient of every mail that was accepted (decisions §6.1).

import type { PageKey } from '../../db/page.ts'
import type { OutboundParts } from '../parts.ts'
import type { Delivery, DeliveryStatus, Page } from '../records.ts'

/** What the log says of one mail to one recipient. */
export interface DeliveryRow extends Omit<Delivery, 'n' | 'email'> {
  /** `eml_…` */
  emailId: string
  mailboxId: string | null
  fromEmail: string
  subject: string
  sizeBytes: number
}

/** One thing that happened to a delivery. */
export interface Step {
  at: number
  type: 'accepted' | 'routed' | 'deferred' | 'sent' | 'bounced' | 'expired' | 'rejected' | 'cancelled' | 'complained'
  /** At most 300 characters. */
  detail: string
  smtpCode: number | null
}

export interface DeliveryRecord extends DeliveryRow {
  timeline: Step[]
}

export interface DeliveryFilter {
  status?: DeliveryStatus
  /** ms, inclusive, on created_at. */
  from?: number
  /** ms, exclusive. */
  to?: number
  providerId?: string
  mailboxId?: string
  /** `eml_…` */
  emailId?: string
  /** Domain of the recipient. */
  domain?: string
  /** Words that must all occur in the addresses, the subject or the id of the mail. */
  search?: string
}

export class DeliveryLog {
  constructor(_parts: Pick<OutboundParts, 'db'>) {}

  /** The rows of a team, newest first. */
  list(
    _teamId: string,
    _filter: DeliveryFilter,
    _page: { limit: number; after: PageKey | null },
  ): Promise<Page<DeliveryRow>> {
    throw new Error('not built')
  }

  get(_teamId: string, _id: string): Promise<DeliveryRecord | undefined> {
    throw new Error('not built')
  }

  /** Erases what ended before `before` (ms). @returns how many rows */
  prune(_before: number): Promise<number> {
    throw new Error('not built')
  }
}
