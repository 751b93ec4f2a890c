// Changes of this tab that can be undone, also after a reload: the server keeps the earlier state of messages for a day.

import { toApiError } from '../api/errors.ts'
import { say } from '../parts/toast.tsx'
import type { ActionOutcome } from '../sync/actions.ts'
import type { MailboxData } from '../sync/mailbox.ts'
import { mail as words } from '../words/en/mail.ts'

const KEY = 'mailstead.undo'
const MOST_KEPT = 50
const DAY_MS = 24 * 60 * 60 * 1000

interface Done {
  mailboxId: string
  /** When it was done, ms since 1970. */
  at: number
  /** Null while the server has not answered. */
  undoIds: readonly string[] | null
}

/** Oldest first. */
const done: Done[] = read()
const underWay = new WeakMap<Done, Promise<ActionOutcome>>()

function read(): Done[] {
  try {
    const entries = JSON.parse(sessionStorage.getItem(KEY) ?? '[]') as Done[]
    return entries.filter(({ at }) => at > Date.now() - DAY_MS)
  } catch {
    return []
  }
}

function keep(): void {
  done.splice(0, done.length - MOST_KEPT)
  try {
    sessionStorage.setItem(KEY, JSON.stringify(done.filter(({ undoIds }) => undoIds !== null)))
  } catch {
    // Storage is off: it can be undone until the page is left.
  }
}

function forget(entry: Done): void {
  const at = done.indexOf(entry)
  if (at >= 0) done.splice(at, 1)
  keep()
}

/** Notes what is being done. @returns undoes it */
export function noteDone(data: MailboxData, acting: Promise<ActionOutcome>): () => void {
  const entry: Done = { mailboxId: data.mailbox.id, at: Date.now(), undoIds: null }
  done.push(entry)
  underWay.set(entry, acting)
  acting.then(
    ({ undoIds }) => {
      entry.undoIds = undoIds
      if (undoIds.length === 0) forget(entry)
      else keep()
    },
    () => forget(entry),
  )
  return () => void undo(data, entry)
}

/** Undoes what was done last in this mailbox. */
export function undoLast(data: MailboxData): void {
  const entry = done.findLast(({ mailboxId }) => mailboxId === data.mailbox.id)
  if (entry === undefined) say(words.nothingToUndo)
  else void undo(data, entry)
}

async function undo(data: MailboxData, entry: Done): Promise<void> {
  if (!done.includes(entry)) return
  done.splice(done.indexOf(entry), 1)
  try {
    const undoIds = entry.undoIds ?? (await underWay.get(entry)!).undoIds
    const unrestored = await data.undo(undoIds)
    say(unrestored === 0 ? words.undone : words.undonePartly(unrestored))
  } catch (error) {
    const { status, message } = toApiError(error)
    // It stays to be tried again where the server did not answer.
    if (status === 0 || status >= 500) done.push(entry)
    say(status === 404 ? words.undoFailed : words.refused(message))
  } finally {
    keep()
  }
}
