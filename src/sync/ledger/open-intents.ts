// Messages that are about to appear in a folder, by what finds them there: each is taken once.

import { bareId, hexOf } from '../model/message-key.ts'
import type { RemoteHead } from '../model/server.ts'
import type { Intent, Intents } from './intents.ts'

/** Intents that are read at a time. */
const PAGE = 1000

/**
 * The intents of a folder, in the order in which they were announced. Messages appear in this order as well: of a long list, as a server
 * without APPENDUID leaves it, a page of heads needs the beginning only.
 */
export class OpenIntents {
  readonly #read: (after: number, limit: number) => Intent[]
  readonly #byKey = new Map<string, Intent[]>()
  readonly #byId = new Map<string, Intent[]>()
  readonly #list: Intent[] = []
  readonly #taken = new Set<Intent>()
  #last = 0
  #isRead = false

  constructor(intents: Pick<Intents, 'announcedIn'>, remote: number, folder: number) {
    this.#read = (after, limit) => intents.announcedIn(remote, folder, { after, limit })
  }

  /**
   * A server may change size and time of what it is given, but not its Message-ID.
   * @param prefers by content: whether it is this one, null where that is not known; null: their keys and Message-IDs decide
   */
  take(
    { head, key }: { head: Pick<RemoteHead, 'messageId'>; key: Uint8Array },
    isHere: (message: number) => boolean,
    prefers: ((intent: Intent) => boolean | null) | null = null,
  ): Intent | null {
    if (prefers !== null) this.all()
    const id = bareId(head.messageId)
    const hex = hexOf(key)
    do {
      const mayBe = (intent: Intent) => prefers === null || prefers(intent) !== false
      const candidates = [...(this.#byKey.get(hex) ?? []), ...(id === null ? [] : (this.#byId.get(id) ?? []))]
      const isOpen = (intent: Intent) => !this.#taken.has(intent) && !isHere(intent.message)
      const open = candidates.filter((intent) => isOpen(intent) && mayBe(intent))
      const preferred = prefers === null ? undefined : this.#list.find((intent) => isOpen(intent) && prefers(intent))
      const first =
        preferred ??
        open.reduce<Intent | null>((least, one) => (least !== null && least.n <= one.n ? least : one), null)
      if (first !== null) {
        this.#taken.add(first)
        return first
      }
    } while (this.#readMore())
    return null
  }

  /** All of them, in the order in which they were announced. */
  all(): Intent[] {
    while (this.#readMore());
    return this.#list
  }

  #readMore(): boolean {
    if (this.#isRead) return false
    const page = this.#read(this.#last, PAGE)
    this.#isRead = page.length < PAGE
    this.#list.push(...page)
    for (const intent of page) {
      add(this.#byKey, intent.key, intent)
      add(this.#byId, intent.messageId, intent)
      this.#last = intent.n
    }
    return page.length > 0
  }
}

function add(map: Map<string, Intent[]>, name: string | null, intent: Intent): void {
  if (name === null) return
  const known = map.get(name)
  if (known === undefined) map.set(name, [intent])
  else known.push(intent)
}
