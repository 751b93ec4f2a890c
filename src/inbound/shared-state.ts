// What all receive threads know about clients: the first thread has the original, each receive thread a copy that follows it.

import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { type Offence, type SourceRecord, SourceThrottle } from './source-throttle.ts'
import { SplitRecipients } from './split-recipients.ts'

/** A change that every copy makes. */
export type SharedChange =
  | { kind: 'accepted'; address: string }
  | { kind: 'offended'; address: string; offence: Offence }
  | { kind: 'split'; sender: string }

/** The state as it is copied to a new thread. */
export interface SharedSnapshot {
  records: ReadonlyMap<string, SourceRecord>
  splits: ReadonlyMap<string, number>
}

export class SharedState {
  readonly throttle: SourceThrottle
  readonly splitRecipients: SplitRecipients

  /** @param log null for a copy: the original logs */
  constructor(clock: Clock, log: Log | null, snapshot?: SharedSnapshot) {
    this.throttle = new SourceThrottle({ clock, log, records: snapshot?.records })
    this.splitRecipients = new SplitRecipients(clock, snapshot?.splits)
  }

  get snapshot(): SharedSnapshot {
    return { records: this.throttle.records, splits: this.splitRecipients.since }
  }

  apply(change: SharedChange): void {
    if (change.kind === 'split') this.splitRecipients.note(change.sender)
    else if (change.kind === 'accepted') this.throttle.accepted(change.address)
    else this.throttle.offended(change.address, change.offence)
  }
}
