// A unit of work: what runs inside a transaction, and who waits for it.

import type { Tx } from './sql.ts'
import type { DeferredWork } from './tx.ts'

export interface UnitOfWork {
  work(tx: Tx): unknown
  /** Whether `work` yields between its steps. */
  isStepwise: boolean
  /** It follows another one, and has no caller. */
  isUpkeep: boolean
  /** It may use the reserve of the disk; false once it has. */
  mayUseReserve: boolean
  resolve(value: unknown): void
  reject(error: unknown): void
}

/** A unit of work that is committed and not yet durable. */
export interface CommittedUnit {
  unit: UnitOfWork
  value: unknown
  deferred: DeferredWork
  /** Settles when its transaction has been flushed. */
  flushed: PromiseWithResolvers<void>
}
