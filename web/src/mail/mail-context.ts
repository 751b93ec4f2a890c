// What every part of the mail pages knows: the open mailbox, the place in it, the list, and where the keys are.

import { signal } from '@preact/signals'
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { ThreadFilter } from '../api/mail.ts'
import type { Folder, OwnMailbox } from '../api/types.ts'
import { MailboxData } from '../sync/mailbox.ts'
import type { ThreadList } from '../sync/thread-list.ts'
import { mail as words } from '../words/en/mail.ts'
import { isSearch, type Place } from './places.ts'

export interface Mail {
  data: MailboxData
  place: Place
  /** Null for a search, and for a folder that is not there. */
  folder: Folder | null
  /** Null for a folder that is not there. */
  list: ThreadList | null
  go(place: Place, replace?: boolean): void
}

export const MailContext = createContext<Mail | null>(null)

export function useMail(): Mail {
  return useContext(MailContext)!
}

/** The thread in the list that keys act on. */
export const cursor = signal<string | null>(null)

/** Threads that are ticked: actions are for all of them. */
export const selection = signal<ReadonlySet<string>>(new Set())

export function toggleSelected(id: string): void {
  const next = new Set(selection.peek())
  if (!next.delete(id)) next.add(id)
  selection.value = next
}

export function clearSelection(): void {
  if (selection.peek().size > 0) selection.value = new Set()
}

const opened = new Map<string, MailboxData>()

export function dataOf(mailbox: OwnMailbox): MailboxData {
  const known = opened.get(mailbox.id)
  if (known !== undefined) return known
  const data = new MailboxData(mailbox)
  opened.set(mailbox.id, data)
  return data
}

export const openedMailboxes = (): readonly MailboxData[] => [...opened.values()]

/** A folder by its role, or by its path. */
export function folderOf(folders: readonly Folder[], name: string): Folder | null {
  return folders.find(({ role, path }) => role === name || (role === null && path === name)) ?? null
}

export const nameInAddress = ({ role, path }: Folder) => role ?? path

/** The folder in which snoozed conversations wait; the server made it. */
export const isSnoozed = ({ role, path }: Folder) => role === null && path === 'Snoozed'

/** Folders of the server have their names in the language of the pages. */
export function folderName(folder: Folder): string {
  if (isSnoozed(folder)) return words.snoozed
  return folder.role === null ? folder.name : words.roles[folder.role]
}

/** The folder, or the search. */
export function placeName(place: Place, folder: Folder | null): string {
  if (isSearch(place)) return words.results
  return folder === null ? words.noFolder : folderName(folder)
}

/** A last word of two letters or more that is no field, phrase or negation. */
const LAST_WORD = /(?:^|\s)(?!OR$)[\p{L}\p{N}]{2,}$/u

/** The query of what is typed: its last word may be the beginning of one. */
const asTyped = (q: string) => (LAST_WORD.test(q) && (q.split('"').length & 1) === 1 ? `${q}*` : q)

/** What the list of a place has; null when the folder is not there. */
export function filterOf(place: Place, folder: Folder | null): ThreadFilter | null {
  const narrowed = {
    ...(place.shown === 'unread' ? { is_unread: true } : {}),
    ...(place.shown === 'files' ? { has_attachment: true } : {}),
  }
  const flagged = place.shown === 'flagged' ? 'is:flagged' : ''
  if (isSearch(place)) {
    const q = asTyped(place.q)
    return { ...narrowed, q: flagged === '' ? q : `(${q}) ${flagged}` }
  }
  if (folder === null) return null
  return { ...narrowed, folder_id: folder.id, ...(flagged === '' ? {} : { q: flagged }) }
}
