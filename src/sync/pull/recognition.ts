// After the UIDs of a folder changed: messages that got new dates from their server, as after a move to another one, are the same as before.

import type { RemoteFolder } from '../ledger/remote-folders.ts'
import type { RemoteMessage } from '../ledger/remote-messages.ts'
import { bareId } from '../model/message-key.ts'
import type { SyncSession } from '../session/sync-session.ts'
import type { ContentEvidence } from './ambiguity.ts'
import type { KeyedHead, Matches } from './matching.ts'

/** Rows of a folder that are read at a time. */
const ROWS_PER_PAGE = 1000

/** A message here whose place in the folder is not known. */
interface FormerMessage {
  row: RemoteMessage
  sizeBytes: number
}

export class Recognition {
  readonly #session: SyncSession
  /** By folder: its former messages, by Message-ID. */
  readonly #former = new Map<number, Map<string, FormerMessage[]>>()

  constructor(session: SyncSession) {
    this.#session = session
  }

  /** Takes those of the unknown messages of a folder that have the Message-ID and the size of one that was in it before. */
  recognize(folder: RemoteFolder, matches: Matches, evidence: ContentEvidence): Matches {
    if (folder.doubt === null || this.#session.account.mode === 'collect') {
      this.#former.delete(folder.n)
      return matches
    }
    const { messages } = this.#session.deps
    const known = [...matches.known]
    const taken = new Set(known.flatMap(({ gone }) => (gone?.folder === folder.n ? [gone.uid] : [])))
    const fresh: KeyedHead[] = []
    for (const one of matches.fresh) {
      // Where its content was compared, it is none of the former ones.
      const candidates = evidence.isUnsure(one.head) ? [] : this.#of(folder, one)
      const former = candidates.find(({ row }) => !taken.has(row.uid))
      const row = former && messages.in(folder.n, [[former.row.uid, former.row.uid]], 1)[0]
      if (row === undefined || row.message !== former?.row.message) {
        fresh.push(one)
        continue
      }
      taken.add(row.uid)
      known.push({ ...one, gone: row, intent: null, message: row.message })
    }
    return { ...matches, known, fresh }
  }

  #of(folder: RemoteFolder, { head }: KeyedHead): FormerMessage[] {
    const id = bareId(head.messageId)
    if (id === null) return []
    const { hasExactSizes } = this.#session.facts
    const all = this.#formerOf(folder).get(id) ?? []
    if (hasExactSizes) return all.filter(({ sizeBytes }) => sizeBytes === head.sizeBytes)
    // Without sizes, one of several cannot be told from the others.
    return all.length === 1 ? all : []
  }

  #formerOf({ n }: RemoteFolder): Map<string, FormerMessage[]> {
    const known = this.#former.get(n)
    if (known !== undefined) return known
    const { messages, store } = this.#session.deps
    const former = new Map<string, FormerMessage[]>()
    const rows = messages.gone(n, Number.MAX_SAFE_INTEGER).filter(({ message }) => message !== null)
    for (let at = 0; at < rows.length; at += ROWS_PER_PAGE) {
      const page = rows.slice(at, at + ROWS_PER_PAGE)
      const numbers = page.map(({ message }) => message!)
      const ids = store.mail.internetIds(numbers)
      const sizes = store.mail.contents(numbers)
      for (const row of page) {
        const id = bareId(ids.get(row.message!) ?? null)
        const content = sizes.get(row.message!)
        if (id === null || content === undefined) continue
        const list = former.get(id) ?? []
        list.push({ row, sizeBytes: content.sizeBytes })
        former.set(id, list)
      }
    }
    this.#former.set(n, former)
    return former
  }
}
