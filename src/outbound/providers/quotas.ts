// Quotas of sending accounts: recipients per second, minute, hour and day, stored per fixed UTC window (docs/design/sending.md §3).

import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../base/durations.ts'
import type { Reader, Tx } from '../../db/db.ts'
import type { OutboundDeps } from '../model/deps.ts'
import type { Provider, ProviderQuotas, QuotaRange } from '../model/records.ts'

const WINDOWS = [
  ['perSecond', 'second', 1000],
  ['perMinute', 'minute', MINUTE_MS],
  ['perHour', 'hour', HOUR_MS],
  ['perDay', 'day', DAY_MS],
] as const satisfies readonly (readonly [keyof ProviderQuotas, string, number])[]

/** One window of an account that has a quota. */
export interface QuotaWindow {
  window: 'second' | 'minute' | 'hour' | 'day'
  /** Recipients handed over in it. */
  used: number
  /** The cap of this window. */
  most: number
  /** When it ends and counting begins again, ms. */
  endsAt: number
}

/** Must be called when an account is deleted, because SQLite may reuse its key. */
export function forgetCounts(tx: Tx, provider: number): void {
  tx.run('DELETE FROM quota_counts WHERE provider = ?', [provider])
}

export class QuotaCounts {
  readonly #deps: Pick<OutboundDeps, 'vault' | 'clock'>

  constructor(deps: Pick<OutboundDeps, 'vault' | 'clock'>) {
    this.#deps = deps
  }

  /** True for an account without quotas: nothing is counted for it. */
  isFree(provider: Provider): boolean {
    return WINDOWS.every(([member]) => provider.quotas[member] === null)
  }

  /**
   * Reserves quota for a hand-over in every window, or in none.
   * @returns null when reserved, else when (ms) the last of the full windows ends
   */
  take(tx: Tx, provider: Provider, recipients: number): number | null {
    const now = this.#deps.clock.now()
    const room: { window: string; start: number; count: number }[] = []
    let opensAt: number | null = null
    for (const [member, window, lengthMs] of WINDOWS) {
      const range = provider.quotas[member]
      if (range === null) continue
      const start = now - (now % lengthMs)
      const count = this.#count(tx, provider.n, window, start)
      const cap = this.capOf(provider.id, range, window, start)
      // A message with more recipients than the cap uses an empty window alone: otherwise it would wait forever.
      if (count > 0 && count + recipients > cap) opensAt = Math.max(opensAt ?? 0, start + lengthMs)
      room.push({ window, start, count: count + recipients })
    }
    if (opensAt !== null) return opensAt
    for (const { window, start, count } of room) {
      tx.run(
        `INSERT INTO quota_counts (provider, window, start, count) VALUES (?, ?, ?, ?)
         ON CONFLICT (provider, window) DO UPDATE SET start = excluded.start, count = excluded.count`,
        [provider.n, window, start, count],
      )
    }
    return null
  }

  /** The windows of an account that have a quota, with what is used of each now; the shortest first. */
  windows(reader: Reader, provider: Provider): QuotaWindow[] {
    const now = this.#deps.clock.now()
    return WINDOWS.flatMap(([member, window, lengthMs]) => {
      const range = provider.quotas[member]
      if (range === null) return []
      const start = now - (now % lengthMs)
      const used = this.#count(reader, provider.n, window, start)
      return [{ window, used, most: this.capOf(provider.id, range, window, start), endsAt: start + lengthMs }]
    })
  }

  /** The cap of one window: drawn uniformly from the range by a MAC, so that every call returns the same cap. */
  capOf(providerId: string, { min, max }: QuotaRange, window: string, start: number): number {
    if (min === max) return min
    const drawn = this.#deps.vault.mac('quota', `${providerId} ${window} ${start}`).readUIntBE(0, 6)
    return min + Math.floor((drawn / 2 ** 48) * (max - min + 1))
  }

  #count(reader: Reader, provider: number, window: string, start: number): number {
    const row = reader.get<{ start: number; count: number }>(
      'SELECT start, count FROM quota_counts WHERE provider = ? AND window = ?',
      [provider, window],
    )
    return row?.start === start ? row.count : 0
  }
}
