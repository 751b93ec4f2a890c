// What becomes of a delivery: the one place that moves it, and everything that follows from the move.

import type { Tx } from '../../db/db.ts'
import type { OutboundParts } from '../parts.ts'
import type { Carrier, Outcome } from '../records.ts'

interface Parts extends OutboundParts {
  queue: {
    postpone(tx: Tx, delivery: number, dueAt: number): Promise<unknown>
    drop(tx: Tx, delivery: number): Promise<unknown>
  }
  suppressions: {
    add(
      tx: Tx,
      suppression: {
        teamId: string
        email: string
        reason: 'bounce' | 'complaint'
        sourceMessageId: string | null
        note: string | null
      },
    ): Promise<unknown>
  }
}

export class Fate {
  constructor(_parts: Parts) {}

  /**
   * Moves a delivery (decisions §6.2) as part of a unit of work, with its timeline, queue row, event, suppression and submission.
   * @param carrier through whom it went; null where nobody was asked
   * @returns false for a move that is not one of the table (final states stay final): nothing was changed then
   */
  apply(_tx: Tx, _deliveryN: number, _outcome: Outcome, _carrier: Carrier | null): Promise<boolean> {
    throw new Error('not built')
  }
}
