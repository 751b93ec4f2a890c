// Messages that got new dates or sizes from their server, as after a move to another folder or server, are the same as before.

import type { RemoteFolder } from '../ledger/remote-folders.ts'
import type { RemoteMessage } from '../ledger/remote-messages.ts'
import { bareId, hexOf } from '../model/message-key.ts'
import { digestsThere } from '../session/content-digest.ts'
import type { SyncSession } from '../session/sync-session.ts'
import type { ContentEvidence } from './ambiguity.ts'
import type { KeyedHead, MatchedHead, Matches } from './matching.ts'

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

  /**
   * Takes those of the unknown messages of the selected folder that have the Message-ID of one that was in it before, or is gone from another
   * one.
   */
  async recognize(folder: RemoteFolder, matches: Matches, evidence: ContentEvidence): Promise<Matches> {
    const recognized = this.#recognize(folder, matches, evidence)
    const before = new Set(matches.known)
    const isMoved = ({ gone }: MatchedHead) => gone !== null && gone.folder !== folder.n && gone.digest !== null
    const moved = recognized.known.filter((one) => !before.has(one) && isMoved(one))
    // Where sizes differ, bytes do too.
    if (moved.length === 0 || !this.#session.facts.hasExactSizes) return recognized
    // Anybody can send a message with the Message-ID and the size of another one.
    const digests = await this.#digests(folder, moved)
    const others = new Set(moved.filter(({ head, gone }) => digests.get(head.uid) !== hexOf(gone!.digest!)))
    return {
      ...recognized,
      known: recognized.known.filter((one) => !others.has(one)),
      fresh: [...recognized.fresh, ...[...others].map(({ head, key }) => ({ head, key }))],
    }
  }

  async #digests(folder: RemoteFolder, moved: readonly MatchedHead[]): Promise<Map<number, string>> {
    await this.#session.ensure(folder.path)
    return digestsThere(
      this.#session,
      folder.n,
      moved.map(({ head }) => head.uid),
    )
  }

  #recognize(folder: RemoteFolder, matches: Matches, evidence: ContentEvidence): Matches {
    if (folder.doubt === null) this.#former.delete(folder.n)
    if (this.#session.account.mode === 'collect') return matches
    const known = [...matches.known]
    const taken = new Set(known.flatMap(({ gone }) => (gone === null ? [] : [nameOf(gone)])))
    const filed = new Set(known.flatMap(({ message }) => message ?? []))
    const fresh: KeyedHead[] = []
    const moved = this.#elsewhere(matches.fresh)
    const counts = Map.groupBy(matches.fresh, ({ head }) => bareId(head.messageId))
    for (const one of matches.fresh) {
      const id = bareId(one.head.messageId)
      const isOnly = counts.get(id)?.length === 1 && folder.role !== 'drafts'
      // Where its content was compared, it is none of the former ones.
      const candidates = id === null || evidence.isUnsure(one.head) ? [] : this.#candidates(folder, id, moved)
      const isBefore = candidates.every(({ row }) => row.folder === folder.n)
      const former = this.#of(candidates, one, { isOnly, isBefore }).find(
        ({ row }) => !taken.has(nameOf(row)) && !filed.has(row.message ?? 0) && !this.#isHere(folder, row.message),
      )
      const row = former && this.#current(former.row)
      if (row === undefined) {
        fresh.push(one)
        continue
      }
      taken.add(nameOf(row))
      if (row.message !== null) filed.add(row.message)
      // The server has other bytes of it than are known.
      const digest = former!.sizeBytes === one.head.sizeBytes ? row.digest : null
      known.push({ ...one, gone: { ...row, digest }, intent: null, message: row.message })
    }
    return { ...matches, known, fresh }
  }

  /** Numbers of the other folders that have, as far as is known, messages with Message-IDs of new ones: they may have been moved. */
  mayHaveLost(folder: RemoteFolder, fresh: readonly KeyedHead[]): number[] {
    const rows = [...this.#elsewhere(fresh).values()].flat().map(({ row }) => row)
    return [...new Set(rows.filter(({ uid }) => uid > 0).map((row) => row.folder))].filter((n) => n !== folder.n)
  }

  #candidates(folder: RemoteFolder, id: string, moved: ReadonlyMap<string, FormerMessage[]>): FormerMessage[] {
    const before = folder.doubt === null ? [] : (this.#formerOf(folder).get(id) ?? [])
    return [...before, ...(moved.get(id) ?? []).filter(({ row }) => row.uid < 0 && row.folder !== folder.n)]
  }

  /** Whether the folder has a message: a second copy of it there is a message of its own. */
  #isHere(folder: RemoteFolder, message: number | null): boolean {
    if (message === null) return false
    const rows = this.#session.deps.messages.of(this.#session.account.n, [message]).get(message) ?? []
    return rows.some((row) => row.uid > 0 && row.folder === folder.n)
  }

  /** A row as it is now, if it still is of its message. */
  #current({ folder, uid, message }: RemoteMessage): RemoteMessage | undefined {
    const [row] = this.#session.deps.messages.in(folder, [[uid, uid]], 1)
    return row?.message === message ? row : undefined
  }

  /** @param isOnly whether no other new message has its Message-ID @param isBefore whether they were in the same folder */
  #of(
    candidates: readonly FormerMessage[],
    { head }: KeyedHead,
    { isOnly, isBefore }: { isOnly: boolean; isBefore: boolean },
  ): FormerMessage[] {
    const { hasExactSizes } = this.#session.facts
    const equal = candidates.filter(({ sizeBytes }) => sizeBytes === head.sizeBytes)
    if (equal.length > 0 && hasExactSizes) return equal
    // A server that messages were moved to may give them other sizes: then one of several cannot be told from the others.
    return candidates.length === 1 && isOnly && (isBefore || !hasExactSizes) ? [...candidates] : []
  }

  /**
   * By Message-ID: copies of messages here that have those of new ones. Some servers give a message another time of receipt when it is
   * moved. During the import copies of messages are many, and none has moved since.
   */
  #elsewhere(fresh: readonly KeyedHead[]): Map<string, FormerMessage[]> {
    const { account, mail, deps } = this.#session
    const ids = fresh.filter(({ head }) => head.objectId === null).flatMap(({ head }) => bareId(head.messageId) ?? [])
    if (account.import.state !== 'done' || account.mode === 'collect' || ids.length === 0) return new Map()
    const named = deps.store.programs.mail.withInternetIds(mail, [...new Set(ids)])
    const rows = deps.messages.of(
      account.n,
      named.map(({ n }) => n),
    )
    const all = named.flatMap(({ n, id, sizeBytes }) => (rows.get(n) ?? []).map((row) => ({ id, row, sizeBytes })))
    return Map.groupBy(all, ({ id }) => id)
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
      const ids = store.programs.mail.internetIds(numbers)
      const sizes = store.programs.mail.contents(numbers)
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

function nameOf({ folder, uid }: RemoteMessage): string {
  return `${folder} ${uid}`
}
