// The messages that a search found, as columns: a folder may have hundreds of thousands.

interface HitColumns {
  uids: Uint32Array
  modSeqs: Float64Array
}

export class SearchHits {
  /** In the order of the answer. */
  readonly uids: Uint32Array
  /** Modification number of each. */
  readonly modSeqs: Float64Array

  constructor({ uids, modSeqs }: HitColumns) {
    this.uids = uids
    this.modSeqs = modSeqs
  }

  static readonly NONE = new SearchHits({ uids: new Uint32Array(0), modSeqs: new Float64Array(0) })

  /** @param pages in ascending order */
  static ofPages(pages: readonly HitColumns[]): SearchHits {
    const count = pages.reduce((sum, { uids }) => sum + uids.length, 0)
    const [uids, modSeqs] = [new Uint32Array(count), new Float64Array(count)]
    let at = 0
    for (const page of pages) {
      uids.set(page.uids, at)
      modSeqs.set(page.modSeqs, at)
      at += page.uids.length
    }
    return new SearchHits({ uids, modSeqs })
  }

  /** Hits whose modification numbers are not needed. */
  static ofUids(uids: Uint32Array): SearchHits {
    return new SearchHits({ uids, modSeqs: new Float64Array(uids.length) })
  }

  /** Those at some positions. */
  at(positions: readonly number[]): SearchHits {
    const uids = Uint32Array.from(positions, (at) => this.uids[at]!)
    return new SearchHits({ uids, modSeqs: Float64Array.from(positions, (at) => this.modSeqs[at]!) })
  }

  get length(): number {
    return this.uids.length
  }

  /** Both by ascending UID. */
  mergedWith(other: SearchHits): SearchHits {
    if (other.length === 0) return this
    const [uids, modSeqs] = [new Uint32Array(this.length + other.length), new Float64Array(this.length + other.length)]
    for (let at = 0, [left, right] = [0, 0]; at < uids.length; at++) {
      const isLeft = right >= other.length || (left < this.length && this.uids[left]! < other.uids[right]!)
      const [from, index] = isLeft ? [this as SearchHits, left++] : [other, right++]
      uids[at] = from.uids[index]!
      modSeqs[at] = from.modSeqs[index]!
    }
    return new SearchHits({ uids, modSeqs })
  }

  /** The highest modification number. */
  get highestModSeq(): number {
    return this.modSeqs.reduce((highest, modSeq) => Math.max(highest, modSeq), 0)
  }
}
