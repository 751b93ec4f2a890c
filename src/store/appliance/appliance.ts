// The appliance as it knows itself: its id, its signs of life, and the clock it may trust.

import type { Clock } from '../../base/clock.ts'
import { ClockGuard, isNear } from '../../base/clock-guard.ts'
import type { Db } from '../../db/db.ts'
import { renumberAfterCrash } from '../renumber.ts'
import { type ApplianceRow, markOpen, readAppliance, writeBeat, writeLastSeen, writeOwnerBeat } from './record.ts'

interface Deps {
  db: Db
  blobsDb: Db
  clock: Clock
}

export class DataFolderIdentity {
  readonly id: string
  readonly guard: ClockGuard
  /** Between these times (ms) mail.db was not in use: what became of content that was stored then it cannot know. */
  readonly unknown: { after: number; before: number }
  readonly #deps: Deps
  #isOpen = false
  #mend: () => Promise<void> = async () => {}

  /** @param row what {@link checkIdentity} found */
  constructor(deps: Deps, row: ApplianceRow) {
    this.#deps = deps
    this.id = row.id
    this.unknown = { after: row.lastSeenAt, before: deps.clock.now() }
    this.guard = new ClockGuard(deps.clock, row.lastSeenAt)
    if (row.isClockHeld) this.guard.hold()
    else if (!this.guard.isHeld()) this.guard.trust()
  }

  /**
   * Marks the files as open; for the one appliance that works on them.
   * @returns true when the one before it did not close them: numbers it gave and did not flush are not given again
   */
  async open(): Promise<boolean> {
    const wasClosed = await this.#deps.db.write(async (tx) => {
      const row = await readAppliance(tx)
      if (row?.isClosed !== true) await renumberAfterCrash(tx)
      await markOpen(tx)
      return row?.isClosed === true
    })
    this.#isOpen = true
    return !wasClosed
  }

  /** @param mend mends what was written with a wrong time; runs before the clock is trusted again */
  onClockRight(mend: () => Promise<void>): void {
    this.#mend = mend
  }

  /**
   * Writes a sign of life to both databases. While the clock is in doubt, the time that should be is written, so that an appliance
   * that is started again with the right clock trusts it.
   */
  async beat(isClosing = false): Promise<void> {
    const { db, blobsDb } = this.#deps
    // A full disk does not keep an appliance from starting.
    if (!this.#isOpen) await this.open()
    const row = await readAppliance(db.read)
    if (row === undefined) return
    await this.#compare(row)
    const [beat, lastSeenAt, isClockHeld] = [row.beat + 1, Math.round(this.guard.expected()), this.guard.isHeld()]
    await blobsDb.write((tx) => writeOwnerBeat(tx, beat, lastSeenAt))
    await db.write(async (tx) => {
      // An operator may have accepted the clock meanwhile: the next sign of life finds that.
      const known = await readAppliance(tx)
      const isAccepted = known !== undefined && known.lastSeenAt !== row.lastSeenAt
      await writeBeat(tx, {
        ...{ beat, isClockHeld, isClosed: isClosing },
        lastSeenAt: isAccepted ? known.lastSeenAt : lastSeenAt,
      })
    })
  }

  /** For a process that writes no signs of life: in doubt it looks whether the one that does trusts the clock. */
  async refresh(): Promise<void> {
    if (!this.guard.isHeld()) return this.guard.trust()
    const row = await readAppliance(this.#deps.db.read)
    if (row === undefined) return
    if (!row.isClockHeld && isNear(this.#deps.clock.now() - row.lastSeenAt)) this.guard.trust()
  }

  /** Takes the clock as right; the appliance goes on with its next sign of life, or when it is started. */
  async acceptClock(): Promise<void> {
    await this.#deps.db.write((tx) => writeLastSeen(tx, this.#deps.clock.now()))
  }

  /** The clock is right when it says what it should, or what an operator accepted. */
  async #compare({ lastSeenAt }: ApplianceRow): Promise<void> {
    const { guard } = this
    const isRight = isNear(guard.aheadMs()) || isNear(this.#deps.clock.now() - lastSeenAt)
    if (!isRight) return
    if (guard.isHeld()) await this.#mend()
    guard.trust()
  }
}
