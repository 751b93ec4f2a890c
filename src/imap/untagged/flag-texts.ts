// FLAGS, PERMANENTFLAGS and the flags of one message, as they are sent.

import type { FolderEntry } from '../../store/entries/folders-views.ts'
import { ENTRY_FLAGS, FLAG_KEYWORDS } from '../../store/entries/keywords.ts'
import type { ImapSession } from '../session/session.ts'
import { formatKeyword, isShownKeyword, SYSTEM_FLAG_NAMES } from '../views/keywords.ts'

const SYSTEM: readonly (readonly [bit: number, name: string])[] = [
  [ENTRY_FLAGS.answered, '\\Answered'],
  [ENTRY_FLAGS.flagged, '\\Flagged'],
  [ENTRY_FLAGS.deleted, '\\Deleted'],
  [ENTRY_FLAGS.seen, '\\Seen'],
  [ENTRY_FLAGS.draft, '\\Draft'],
]
const FLAG_NAMES = new Set<string>(Object.values(FLAG_KEYWORDS))
/** Keywords named by PERMANENTFLAGS. */
export const KEYWORDS_NAMED = 100
/** Each further keyword is announced with all others: with more of them the client learns of it with its message. */
export const KEYWORDS_ANNOUNCED = 500

/** Keywords that are no flags of their own, in lower case, those that can be shown. */
export function plainKeywords(keywords: readonly string[]): string[] {
  return keywords.filter((keyword) => !FLAG_NAMES.has(keyword) && isShownKeyword(keyword))
}

const SYSTEM_BITS = SYSTEM.reduce((bits, [bit]) => bits | bit, 0)
/** System flags in parentheses, without and with \Recent, by their bits: there are few of them and very many messages. */
const SYSTEM_TEXTS = [false, true].map((isRecent) =>
  Array.from({ length: SYSTEM_BITS + 1 }, (_, bits) => `(${systemFlags(bits, isRecent).join(' ')})`),
)

function systemFlags(bits: number, isRecent: boolean): string[] {
  const names = SYSTEM.flatMap(([bit, name]) => ((bits & bit) === 0 ? [] : [name]))
  return isRecent ? [...names, '\\Recent'] : names
}

/** The flags of an entry, in parentheses. @param labels keywords of the message */
export function formatFlags(
  { flags }: Pick<FolderEntry, 'flags'>,
  labels: readonly string[],
  isRecent: boolean,
): string {
  if (labels.length === 0) return SYSTEM_TEXTS[isRecent ? 1 : 0]![flags & SYSTEM_BITS]!
  return `(${[...systemFlags(flags, isRecent), ...plainKeywords(labels).map(formatKeyword)].join(' ')})`
}

/** `* FLAGS` and `* OK [PERMANENTFLAGS]` of the selected folder. */
export function flagLines({ folder }: ImapSession): string {
  const names = [...SYSTEM_FLAG_NAMES, ...[...folder.keywords].map(formatKeyword)].join(' ')
  const permanent = folder.isReadOnly ? '' : `${names} \\*`
  const text = folder.isReadOnly ? 'Read-only' : 'Keywords can be created'
  return `* FLAGS (${names})\r\n* OK [PERMANENTFLAGS (${permanent})] ${text}.\r\n`
}

/** Announces keywords that the client does not know of, before they are sent with a message. */
export function announceKeywords(session: ImapSession, labels: readonly string[]): void {
  const { keywords } = session.folder
  const fresh = plainKeywords(labels).filter((keyword) => !keywords.has(keyword))
  if (fresh.length === 0 || keywords.size >= KEYWORDS_ANNOUNCED) return
  for (const keyword of fresh) keywords.add(keyword)
  session.say(flagLines(session))
}
