// FETCH answers of what entries have: flags, dates and sizes, which programs ask for of whole folders. A page is one text.

import type { FolderEntry } from '../../store/entries/folders-views.ts'
import { formatDateTime } from '../grammar/dates.ts'
import type { FetchItem, PlainItem } from '../grammar/fetch-items.ts'
import type { ImapSession } from '../session/session.ts'
import { announceKeywords, formatFlags } from './flag-texts.ts'
import { fetchName } from './message-sets.ts'
import { isRecentHere } from './updates.ts'

const NO_LABELS: readonly string[] = []

/** How an item is written; `labels` are the keywords of the message. */
type FormatItem = (session: ImapSession, entry: FolderEntry, labels: readonly string[]) => string

const FORMATS: Partial<Record<PlainItem, FormatItem>> = {
  UID: (_, { uid }) => `UID ${uid}`,
  FLAGS: (session, entry, labels) => `FLAGS ${entryFlags(session, entry, labels)}`,
  INTERNALDATE: (_, { receivedAt }) => `INTERNALDATE "${formatDateTime(receivedAt)}"`,
  SAVEDATE: (_, { filedAt }) => (filedAt === null ? 'SAVEDATE NIL' : `SAVEDATE "${formatDateTime(filedAt)}"`),
  MODSEQ: (_, { modSeq }) => `MODSEQ (${modSeq})`,
  'RFC822.SIZE': (_, { sizeBytes }) => `RFC822.SIZE ${sizeBytes}`,
}

/** The flags of a message in the selected folder, in parentheses. */
export function entryFlags(session: ImapSession, entry: FolderEntry, labels: readonly string[]): string {
  return formatFlags(entry, labels, isRecentHere(session, session.folder, entry.uid))
}

/** How an item that the entry alone answers is written; undefined for others. */
export function entryFormat(name: PlainItem): FormatItem | undefined {
  return FORMATS[name]
}

/** How all items of a FETCH are written; null when one needs more than entries. */
export function entryFormats(items: readonly FetchItem[]): FormatItem[] | null {
  const formats = items.flatMap((item) => (item.kind === 'plain' && FORMATS[item.name]) || [])
  return formats.length === items.length ? formats : null
}

/** Writes a page. @param labels keywords by number of the message @returns how many messages the session knows */
export function sayEntries(
  session: ImapSession,
  entries: readonly FolderEntry[],
  formats: readonly FormatItem[],
  labels: ReadonlyMap<number, readonly string[]>,
): number {
  const { view } = session.folder
  let [text, written] = ['', 0]
  for (const entry of entries) {
    const sequence = view.sequenceOf(entry.uid)
    if (sequence === 0) continue
    const own = labels.size === 0 ? NO_LABELS : (labels.get(entry.message) ?? NO_LABELS)
    if (own.length > 0) announceKeywords(session, own)
    text += `${fetchName(session, sequence, entry.uid)} (`
    for (let at = 0; at < formats.length; at++) text += `${at === 0 ? '' : ' '}${formats[at]!(session, entry, own)}`
    text += ')\r\n'
    written++
  }
  session.say(text)
  return written
}
