// The identity of an open data folder: id, heartbeats that tie its databases together, and the clock it may trust.

import type { Clock } from '../../base/clock.ts'
import { CLOCK_JUMP_MS, ClockGuard, isNear, type WrongSpan } from '../../base/clock-guard.ts'
import { randomName } from '../../base/ids.ts'
import type { Db } from '../../db/db.ts'
import { noteUnclaimed, SWEEP_GRACE_MS } from '../content/blobs.ts'
import { renumberAfterCrash, renumberAfterRestore } from '../rows/renumber.ts'
import type { FolderIdentity, MailState } from './identity.ts'
import {
  type ApplianceRow,
  adoptHeartbeat,
  forgetWrongTimes,
  markOpen,
  noteWrongTime,
  readAppliance,
  readWrongTimes,
  writeHeartbeat,
  writeLastSeen,
  writeOwnerHeartbeat,
} from './record.ts'

interface Deps {
  db: Db
  blobsDb: Db
  clock: Clock
}

export class DataFolderIdentity {
  readonly id: string
  readonly guard: ClockGuard
  /** How mail.db stood to blobs.db at the start. */
  readonly mailState: MailState
  readonly #deps: Deps
  readonly #found: FolderIdentity
  #isOpen = false
  /** In a worker thread: the first thread opens the databases and writes the heartbeats. */
  #isFollower = false
  #mend: (wrong: WrongSpan[]) => Promise<void> = async () => {}

  /** @param found what {@link checkIdentity} found */
  constructor(deps: Deps, found: FolderIdentity) {
    this.#deps = deps
    this.#found = found
    const { id, lastSeenAt, isClockHeld } = found.appliance
    this.id = id
    this.mailState = found.mailState
    this.guard = new ClockGuard(deps.clock, lastSeenAt)
    if (isClockHeld) this.guard.hold()
    else if (!this.guard.isHeld()) this.guard.trust()
  }

  /** Whether {@link open} has succeeded. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  /** For a worker thread, which opens the files while they are in use. @param isOpen whether the first thread's {@link open} has succeeded */
  follow(isOpen: boolean): void {
    this.#isFollower = true
    this.#isOpen = isOpen
  }

  /** Opens the databases if a full disk prevented it at the start. @returns false in a worker thread when the first thread has not done so yet */
  async ensureOpen(): Promise<boolean> {
    if (!this.#isOpen && !this.#isFollower) await this.open()
    return this.#isOpen
  }

  /**
   * Marks the databases as open, for the one appliance that works on them, and notes which content mail.db may be too old to reference.
   * @returns true when the last appliance did not close them: numbers that may have been lost are not assigned again
   */
  async open(): Promise<boolean> {
    const { db, blobsDb, clock } = this.#deps
    const { appliance, owner, mailState } = this.#found
    const isClean = appliance.isClosed && mailState === 'current'
    const lastSeenAt = Math.min(appliance.lastSeenAt, owner.lastSeenAt)
    const since = isClean ? lastSeenAt : lastSeenAt - SWEEP_GRACE_MS
    await blobsDb.write((tx) => noteUnclaimed(tx, since, mailState === 'current' ? null : owner.token))
    await db.write((tx) => {
      if (mailState === 'returned') {
        renumberAfterRestore(tx, clock.now())
        adoptHeartbeat(tx, owner)
      } else if (!isClean) renumberAfterCrash(tx, clock.now())
      markOpen(tx)
    })
    this.#isOpen = true
    return !isClean
  }

  /** @param mend mends what was written with a wrong time, gets the times the clock showed; runs before it is trusted again */
  onClockRight(mend: (wrong: WrongSpan[]) => Promise<void>): void {
    this.#mend = mend
  }

  /**
   * Writes a heartbeat to both databases, blobs.db first. While the clock is not trusted, the expected time is written, so that an
   * appliance that is started again with the right clock trusts it.
   */
  async heartbeat(isClosing = false): Promise<void> {
    const { db, blobsDb } = this.#deps
    // A full disk does not keep an appliance from starting.
    await this.ensureOpen()
    const row = readAppliance(db.read)
    if (row === undefined) return
    await this.#compare(row)
    const [lastSeenAt, isClockHeld] = [Math.round(this.guard.expected()), this.guard.isHeld()]
    // Both from mail.db: after any number of heartbeats that reached blobs.db alone, it still knows the last one of mail.db.
    const record = { generation: row.generation + 1, token: randomName(), previousToken: row.token, lastSeenAt }
    await blobsDb.write((tx) => writeOwnerHeartbeat(tx, record))
    await db.write((tx) => {
      // An operator may have accepted the clock meanwhile: the next heartbeat finds that.
      const known = readAppliance(tx)
      const isAccepted = known !== undefined && known.lastSeenAt !== row.lastSeenAt
      writeHeartbeat(tx, {
        ...{ ...record, isClockHeld, isClosed: isClosing },
        lastSeenAt: isAccepted ? known.lastSeenAt : lastSeenAt,
      })
      if (isClockHeld) noteWrongTime(tx, { now: this.#deps.clock.now(), since: row.lastSeenAt })
      else forgetWrongTimes(tx)
    })
  }

  /** For a process that writes no heartbeats: it checks whether the process that does opened the databases and trusts the clock. */
  refresh(): void {
    if (this.#isOpen && !this.guard.isHeld()) {
      this.guard.trust()
      return
    }
    const row = readAppliance(this.#deps.db.read)
    if (row === undefined) return
    // The first heartbeat follows the opening.
    if (row.generation > this.#found.appliance.generation) this.#isOpen = true
    if (!this.guard.isHeld()) {
      this.guard.trust()
      return
    }
    if (!row.isClockHeld && isNear(this.#deps.clock.now() - row.lastSeenAt)) this.guard.trust()
  }

  /** Accepts the clock; the appliance resumes with its next heartbeat, or when it is started. */
  async acceptClock(): Promise<void> {
    await this.#deps.db.write((tx) => writeLastSeen(tx, this.#deps.clock.now()))
  }

  /** The clock is right when it says what it should, or what an operator accepted. */
  async #compare({ lastSeenAt }: ApplianceRow): Promise<void> {
    const { guard } = this
    const isRight = isNear(guard.aheadMs()) || isNear(this.#deps.clock.now() - lastSeenAt)
    if (!isRight) return
    if (guard.isHeld()) await this.#mend(this.#wrongTimes())
    guard.trust()
  }

  /** Without those of a clock that an operator accepted: what it dated is right. */
  #wrongTimes(): WrongSpan[] {
    const now = this.#deps.clock.now()
    const spans = readWrongTimes(this.#deps.db.read)
    return spans.filter(({ from, until }) => now < from - CLOCK_JUMP_MS || now > until + CLOCK_JUMP_MS)
  }
}
