// Who gets no more mail from a team: a hard bounce, a complaint, or somebody's own decision (decisions §6.3).

import type { Reader, Tx } from '../db/db.ts'
import type { PageKey } from '../db/page.ts'
import type { OutboundParts } from './parts.ts'
import type { Page } from './records.ts'

export type SuppressionReason = 'bounce' | 'complaint' | 'manual'

export interface Suppression {
  /** `sup_…` */
  id: string
  teamId: string
  /** Lower-case. */
  email: string
  reason: SuppressionReason
  note: string | null
  /** `eml_…` of the mail that brought it about. */
  sourceMessageId: string | null
  createdAt: number
}

export interface NewSuppression {
  teamId: string
  email: string
  reason: SuppressionReason
  sourceMessageId: string | null
  note: string | null
}

export interface SuppressionFilter {
  reason?: SuppressionReason
  /** A part of the address. */
  search?: string
  limit: number
  after: PageKey | null
}

export class Suppressions {
  constructor(_parts: Pick<OutboundParts, 'db' | 'clock'>) {}

  /** Those of the addresses the team may not write to, lower-case. Reads by index. */
  of(_reader: Reader, _teamId: string, _emails: readonly string[]): Promise<Set<string>> {
    throw new Error('not built')
  }

  /** Adds one as part of a unit of work; who is there already stays as it is. @returns true when it is new */
  add(_tx: Tx, _suppression: NewSuppression): Promise<boolean> {
    throw new Error('not built')
  }

  /** Adds one by hand. @returns the record, and whether it is new. @throws ProductError validation_error */
  create(_teamId: string, _email: string, _note: string | null): Promise<{ record: Suppression; created: boolean }> {
    throw new Error('not built')
  }

  /** Newest first. */
  list(_teamId: string, _filter: SuppressionFilter): Promise<Page<Suppression>> {
    throw new Error('not built')
  }

  /** Lets the team write there again. @throws ProductError not_found */
  remove(_teamId: string, _id: string): Promise<void> {
    throw new Error('not built')
  }
}
