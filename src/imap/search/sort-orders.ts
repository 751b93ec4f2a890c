// The order of folders by the criteria of SORT, kept from one SORT to the next: programs that page through a folder ask for it each time.

import type { SortCriterion } from './sort.ts'

/** UIDs of all orders together; each takes four bytes. */
export const ORDERED_UIDS_MAX = 8_000_000
/** With more new messages than this the folder is ordered again. */
export const INSERTED_MAX = 2000

/** The UIDs of a folder in order. Some may have left the folder. */
export interface FolderOrder {
  uids: Uint32Array
  /** UIDs up to this one are inserted. */
  through: number
}

/** How an order is made where none is known. */
export interface OrderMaker {
  /** Orders all messages of the folder. */
  order(): Promise<Uint32Array>
  /** Places UIDs in an order, and leaves out those that are gone as far as it looks at them. */
  insert(order: Uint32Array, fresh: readonly number[]): Promise<Uint32Array>
}

/** What decides the order of a message never changes under its UID: an order stays right, and new messages are inserted in it. */
export class SortOrders {
  /** By folder and criteria; the last one that was used is the last one in the map. */
  readonly #known = new Map<string, FolderOrder>()
  readonly #making = new Map<string, Promise<FolderOrder>>()

  get size(): number {
    return this.#known.size
  }

  /**
   * The order of a folder.
   * @param view `lastUid` of what the session sees of it, how many messages that is, and the UIDs above another one
   */
  async of(
    folder: number,
    criteria: readonly SortCriterion[],
    view: { lastUid: number; count: number; above(uid: number): readonly number[] },
    maker: OrderMaker,
  ): Promise<Uint32Array> {
    const key = JSON.stringify([folder, criteria])
    // Sessions that ask at the same time share the work.
    for (let other = this.#making.get(key); other !== undefined; other = this.#making.get(key))
      await other.catch(() => {})
    const known = this.#known.get(key)
    if (known !== undefined && known.through >= view.lastUid) return this.#used(key, known).uids
    const making = this.#make(known, view, maker)
    this.#making.set(key, making)
    try {
      return this.#used(key, await making).uids
    } finally {
      this.#making.delete(key)
    }
  }

  async #make(
    known: FolderOrder | undefined,
    view: { lastUid: number; count: number; above(uid: number): readonly number[] },
    { order, insert }: OrderMaker,
  ): Promise<FolderOrder> {
    const fresh = known === undefined ? [] : view.above(known.through)
    const isInserted =
      known !== undefined && fresh.length <= INSERTED_MAX && known.uids.length < 2 * view.count + INSERTED_MAX
    const uids = isInserted ? await insert(known.uids, fresh) : await order()
    return { uids, through: view.lastUid }
  }

  #used(key: string, order: FolderOrder): FolderOrder {
    this.#known.delete(key)
    this.#known.set(key, order)
    let total = this.#known.values().reduce((sum, { uids }) => sum + uids.length, 0)
    for (const [oldest, { uids }] of this.#known) {
      if (total <= ORDERED_UIDS_MAX) break
      this.#known.delete(oldest)
      total -= uids.length
    }
    return order
  }
}
