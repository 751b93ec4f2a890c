// Finds out which messages that are new in a folder are known already: moved, copied, sent from here, or numbered again.

import { CONTENT } from '../ledger/content-state.ts'
import { type Intent, OpenIntents } from '../ledger/intents.ts'
import type { RemoteFolder } from '../ledger/remote-folders.ts'
import type { RemoteMessage } from '../ledger/remote-messages.ts'
import { hexOf, isNamed, messageKey } from '../model/message-key.ts'
import type { RemoteHead } from '../model/server.ts'
import { sentHere } from '../session/sent-copy.ts'
import type { SyncSession } from '../session/sync-session.ts'
import type { ContentEvidence } from './ambiguity.ts'

/** A message at the server with its key. */
export interface KeyedHead {
  head: RemoteHead
  key: Uint8Array
  /** It was here before: it is no news. */
  isOld?: boolean
}

export interface MatchedHead extends KeyedHead {
  /** The base row that it was: gone from another folder, or from this one under another UID. */
  gone: RemoteMessage | null
  /** Sent from here: the intent that announced it. */
  intent: Intent | null
  /** Number of the message here; null: known to be of no message here. */
  message: number | null
}

export interface Matches {
  known: MatchedHead[]
  fresh: KeyedHead[]
  /** Numbers of remote folders that have, as far as is known, a message like a new one: it may have left them. */
  doubtful: number[]
}

/** @param evidence read for these heads */
export function matchHeads(
  session: SyncSession,
  folder: RemoteFolder,
  heads: readonly RemoteHead[],
  evidence: ContentEvidence,
): Matches {
  const { messages, intents } = session.deps
  const keyed = heads.map((head) => ({ head, key: messageKey(head, session.facts.hasExactSizes) }))
  const keys = keyed.map(({ key }) => key)
  const isCollected = session.account.mode === 'collect'
  // Moved before its content was read: it is fetched where it is now.
  const isUnread = ({ state, uid }: RemoteMessage) => state === CONTENT.missing && (uid < 0 || isCollected)
  const candidates = messages.withKeys(session.account.n, keys).filter((row) => !isUnread(row))
  const byKey = Map.groupBy(candidates, ({ key }) => hexOf(key))
  const open = new OpenIntents(intents, session.account.n, folder.n)
  const matches: Matches = { known: [], fresh: [], doubtful: [] }
  const taken = new Set<number>()
  const hasCopy = copiesIn(session, folder)
  // A second copy of a message in one folder is a message of its own.
  const isHere = (message: number | null) => message !== null && (taken.has(message) || hasCopy(message))
  for (const one of keyed) {
    const rows = byKey.get(hexOf(one.key)) ?? []
    const prefers = evidence.isUnsure(one.head) ? (intent: Intent) => evidence.isOf(one.head, intent) : null
    const intent = open.take(one, isHere, prefers)
    const mayBe = (row: RemoteMessage) => !isHere(row.message) && evidence.mayBe(one.head, row)
    const gone = intent === null ? takeGone(rows, mayBe) : null
    const sent =
      intent === null && gone === null && !isCollected ? sentHere(session, folder.role === 'sent', one.head) : null
    const saved = isHere(sent) ? null : sent
    const elsewhere = rows.filter((row) => row.uid > 0 && row.folder !== folder.n)
    if (intent !== null) matches.known.push({ ...one, gone: null, intent, message: intent.message })
    // Of a message without a name a second copy is better than one that is not collected.
    else if (isCollected && (gone !== null || (isNamed(one.head) && elsewhere.length > 0)))
      matches.known.push({ ...one, gone: null, intent: null, message: null })
    else if (gone !== null) matches.known.push({ ...one, gone, intent: null, message: gone.message })
    else if (saved !== null) matches.known.push({ ...one, gone: null, intent: null, message: saved })
    else if (elsewhere.length > 0) {
      matches.doubtful.push(...elsewhere.map((row) => row.folder))
      // The server's own name of a message: it is the same one in a second folder.
      const same = one.head.objectId === null ? undefined : elsewhere.find(({ message }) => message !== null)
      if (same === undefined || isHere(same.message)) matches.fresh.push(one)
      else matches.known.push({ ...one, gone: null, intent: null, message: same.message })
    } else matches.fresh.push(one)
    const message = matches.known.at(-1)?.message
    if (message != null) taken.add(message)
  }
  return { ...matches, doubtful: [...new Set(matches.doubtful)] }
}

/** Whether a folder has a message of ours: under any key, as a message that was stored in two folders has two names at the server. */
function copiesIn({ deps, account }: SyncSession, folder: RemoteFolder): (message: number) => boolean {
  const known = new Map<number, boolean>()
  return (message) => {
    const has =
      known.get(message) ??
      (deps.messages.of(account.n, [message]).get(message) ?? []).some((row) => row.uid > 0 && row.folder === folder.n)
    known.set(message, has)
    return has
  }
}

/** Each is taken once: of messages with one key each finds another row. */
function takeGone(rows: RemoteMessage[], mayBe: (row: RemoteMessage) => boolean): RemoteMessage | null {
  const at = rows.findIndex((row) => row.uid < 0 && mayBe(row))
  return at < 0 ? null : rows.splice(at, 1)[0]!
}
