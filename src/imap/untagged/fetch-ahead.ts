// Messages that a program asks for one by one, as mbsync does: those of the commands that wait are read together with the first.

import { versionOf } from '../../db/row-cache.ts'
import type { FolderEntry } from '../../store/entries/folders-views.ts'
import { type ContentNeeds, MessagePage } from '../fetch/message-content.ts'
import type { ImapSession } from '../session/session.ts'
import type { SelectedFolder } from '../views/selected.ts'
import { labelsOf } from './updates.ts'

/** Messages read together: few at first, and twice as many when all of them were asked for. */
const LEAST = 4
const MOST = 32
/** About as long is a command that fetches one message. */
const COMMAND_BYTES = 32

/** A message with the page that it was read with. */
export interface PagedEntry {
  entry: FolderEntry
  content: MessagePage
}

interface AheadPage {
  /** Read before any further commit of the database. */
  version: number
  /** What was announced when it was read: flags that were announced later are newer. */
  modSeq: number
  needs: ContentNeeds
  entries: ReadonlyMap<number, FolderEntry>
  content: MessagePage
  lastUid: number
}

const aheads = new WeakMap<SelectedFolder, FetchAhead>()

/** Of the selected folder of a session. */
export function aheadOf({ folder }: ImapSession): FetchAhead {
  const known = aheads.get(folder)
  if (known !== undefined) return known
  const ahead = new FetchAhead()
  aheads.set(folder, ahead)
  return ahead
}

/** What was read of the selected folder for commands behind the one that ran. It is used as long as nothing is committed. */
class FetchAhead {
  #page: AheadPage | null = null
  /** The UID behind the last one that was asked for alone. */
  #next = 0
  #size = LEAST

  /** @returns null for a message that is to be read alone: no further command waits, or its UID is not the next one */
  take(session: ImapSession, uid: number, needs: ContentNeeds): PagedEntry | null {
    const { view } = session.folder
    const isNext = uid === this.#next
    const sequence = view.sequenceOf(uid)
    this.#next = sequence > 0 && sequence < view.count ? view.uidAt(sequence + 1) : 0
    const page = this.#current(session, uid, needs) ?? (isNext ? this.#read(session, sequence, needs) : null)
    const entry = page?.entries.get(uid)
    if (page === null || entry === undefined) return null
    if (uid === page.lastUid) this.#size = Math.min(2 * this.#size, MOST)
    // What was read further is not kept in memory for a client that asks for no more.
    if (uid === page.lastUid || session.reader.buffered === 0) this.#page = null
    return { entry, content: page.content }
  }

  /** Drops what was read. */
  forget(): void {
    this.#page = null
  }

  /** The page that was read, when it has the message as it is now. */
  #current({ app, folder }: ImapSession, uid: number, needs: ContentNeeds): AheadPage | null {
    const page = this.#page
    if (page === null) return null
    // The version may be that of the beginning of this turn of the event loop, and an announcement in it may know a later commit.
    const isCurrent = page.version === versionOf(app.db) && page.modSeq === folder.modSeq
    if (isCurrent && page.entries.has(uid) && isEqual(page.needs, needs)) return page
    this.#page = null
    this.#size = LEAST
    return null
  }

  #read(session: ImapSession, sequence: number, needs: ContentNeeds): AheadPage | null {
    const { app, folder, reader } = session
    const count = Math.min(this.#size, 1 + Math.floor(reader.buffered / COMMAND_BYTES))
    if (sequence === 0 || count < 2) return null
    const first = folder.view.uidAt(sequence)
    const last = folder.view.uidAt(Math.min(sequence + count - 1, folder.view.count))
    const version = versionOf(app.db)
    const entries = app.store.programs.views.entries(folder.n, [{ first, last }], count)
    const labels = needs.labels ? labelsOf(session, entries) : new Map<number, string[]>()
    const content = new MessagePage(session, entries, needs, labels)
    const byUid = new Map(entries.map((entry) => [entry.uid, entry]))
    const lastUid = entries.at(-1)?.uid ?? 0
    this.#page = { version, modSeq: folder.modSeq, needs, entries: byUid, content, lastUid }
    return this.#page
  }
}

function isEqual(one: ContentNeeds, other: ContentNeeds): boolean {
  const { rows, labels, headers, structure } = one
  return rows === other.rows && labels === other.labels && headers === other.headers && structure === other.structure
}
