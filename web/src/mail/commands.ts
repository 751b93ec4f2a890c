// What a person does with conversations: named once, for buttons, keys and the palette.

import { toApiError } from '../api/errors.ts'
import { endSnooze, snoozeThread } from '../api/mail.ts'
import type { Folder, Thread } from '../api/types.ts'
import { dayAndTime } from '../base/dates.ts'
import { say } from '../parts/toast.tsx'
import type { ActionOutcome, ThreadAction } from '../sync/actions.ts'
import { mail as words } from '../words/en/mail.ts'
import { clearSelection, cursor, folderName, isSnoozed, type Mail, selection } from './mail-context.ts'
import { listOf } from './places.ts'
import { snoozing } from './snoozing.ts'
import { noteDone } from './undo.ts'
import { isWide } from './widths.ts'

export type Command = 'archive' | 'trash' | 'junk' | 'notJunk' | 'snooze' | 'flag' | 'read' | 'mute'

/** Commands without a button of their own in bars. */
export const isInMenu = (command: Command) => command === 'mute'

/** The conversations that an action is for: those that are ticked, else the open one, else where the keys are. */
export function targetsOf({ place }: Mail): string[] {
  if (selection.peek().size > 0) return [...selection.peek()]
  const one = place.threadId ?? cursor.peek()
  return one === null ? [] : [one]
}

const threadsOf = ({ data }: Mail, ids: readonly string[]): Thread[] =>
  ids.flatMap((id) => data.threads.get(id).peek() ?? [])

export const isFlagged = (thread: Thread) => thread.is_flagged

/** Which commands there are for a place: nothing is offered that changes nothing. */
export function commandsFor({ data, folder }: Mail): Command[] {
  if (!data.mayChange) return []
  const role = folder?.role ?? null
  const moves: Record<string, Command[]> = {
    junk: ['notJunk', 'trash'],
    trash: ['notJunk'],
    archive: ['trash', 'junk'],
    sent: ['trash'],
    drafts: ['trash'],
  }
  const isAside = role !== null && role !== 'inbox' && role !== 'archive'
  const rest: Command[] = isAside ? ['flag', 'read'] : ['snooze', 'flag', 'read', 'mute']
  return [...(moves[role ?? ''] ?? ['archive', 'trash', 'junk']), ...rest]
}

/** Runs a command. @param ids of other conversations than those that are ticked or open */
export function run(mail: Mail, command: Command, ids = targetsOf(mail)): void {
  const folders = mail.data.folders.peek() ?? []
  const withRole = (role: Folder['role']) => folders.find((folder) => folder.role === role)
  const threads = threadsOf(mail, ids)
  if (threads.length === 0 || !commandsFor(mail).includes(command)) return
  if (command === 'flag') {
    const isOn = !threads.every(isFlagged)
    setFlags(mail, threads, { flagged: isOn }, isOn ? words.did.flag : words.did.unflag)
    return
  }
  if (command === 'read') {
    const isSeen = threads.some(({ unread_count: unread }) => unread > 0)
    setFlags(mail, threads, { seen: isSeen }, isSeen ? words.did.read : words.did.unread)
    return
  }
  if (command === 'snooze') {
    snoozing.value = ids
    return
  }
  if (command === 'mute') {
    mute(mail, threads)
    return
  }
  const target = { archive: 'archive', trash: 'trash', junk: 'junk', notJunk: 'inbox' } as const
  const to = withRole(target[command])
  if (to !== undefined) move(mail, threads, to, words.did[command])
}

const MUTED = '$muted'

/** Answers to muted conversations go to the Archive, and so do these; or they come to the Inbox again. */
function mute(mail: Mail, threads: readonly Thread[]): void {
  const isOn = !threads.every(({ is_muted: isMuted }) => isMuted)
  const archive = (mail.data.folders.peek() ?? []).find(({ role }) => role === 'archive')
  const inbox = mail.folder?.role === 'inbox' ? mail.folder : null
  const ids = threads.map(({ id }) => id)
  const moves = isOn && inbox !== null && archive !== undefined
  if (moves) leave(mail, ids)
  else clearSelection()
  perform(mail, isOn ? words.did.mute(ids.length) : words.did.unmute(ids.length), {
    ids,
    change: moves
      ? { add_keywords: [MUTED], in_folder_id: inbox.id, set_folder_ids: [archive.id] }
      : isOn
        ? { add_keywords: [MUTED] }
        : { remove_keywords: [MUTED] },
    apply: (thread) => ({ ...thread, is_muted: isOn }),
    leaves: ({ filter }) => moves && filter.folder_id === inbox.id,
  })
}

/** Sets conversations aside until a time, or returns them at once. @param until RFC 3339; null: now */
export function snooze(mail: Mail, ids: readonly string[], until: string | null): void {
  const isWaiting = mail.folder !== null && isSnoozed(mail.folder)
  const from = mail.folder === null || isWaiting ? undefined : mail.folder.id
  const sentence = until === null ? words.did.unsnooze(ids.length) : words.did.snooze(ids.length, dayAndTime(until))
  const leaving = until === null ? isWaiting : from !== undefined
  if (leaving) leave(mail, ids)
  else clearSelection()
  const acting = perform(mail, sentence, {
    ids,
    change: async (api, id) => {
      if (until !== null) return (await snoozeThread(api, id, until, from)).undo_id
      await returned(endSnooze(api, id))
      return null
    },
    apply: (thread) => ({ ...thread, snoozed_until: until }),
    leaves: ({ filter }) => leaving && filter.folder_id === mail.folder?.id,
  })
  // The folder is made with the first one.
  void acting.then(() => mail.data.readFolders()).catch(() => null)
}

/** A conversation that waits no more is where it should be: the request was repeated, or its time had come. */
async function returned(ending: Promise<unknown>): Promise<void> {
  try {
    await ending
  } catch (error) {
    if (toApiError(error).status !== 404) throw error
  }
}

/** Moves conversations out of the folder of the list, or all of their messages where the list is a search. */
export function moveTo(mail: Mail, to: Folder, ids = targetsOf(mail)): void {
  move(mail, threadsOf(mail, ids), to, (threads) => words.did.move(threads, folderName(to)))
}

function move(mail: Mail, threads: readonly Thread[], to: Folder, sentence: (threads: number) => string): void {
  const from = mail.folder ?? (mail.data.folders.peek() ?? []).find(({ role }) => role === 'inbox') ?? null
  if (threads.length === 0 || from === null || from.id === to.id) return
  const ids = threads.map(({ id }) => id)
  const isTrash = to.role === 'trash'
  leave(mail, ids)
  perform(mail, sentence(ids.length), {
    ids,
    change: isTrash ? { trash: true } : { in_folder_id: from.id, set_folder_ids: [to.id] },
    apply: (thread) => ({
      ...thread,
      folder_ids: [to.id, ...(isTrash ? [] : thread.folder_ids.filter((id) => id !== from.id && id !== to.id))],
    }),
    leaves: ({ filter }) => filter.folder_id === from.id || (isTrash && filter.folder_id !== to.id),
  })
}

type Flags = { seen?: boolean; flagged?: boolean }

/** @param sentence says what was done; left out for what happens by itself */
export function setFlags(
  mail: Mail,
  threads: readonly Thread[],
  flags: Flags,
  sentence?: (threads: number) => string,
): void {
  const ids = threads.map(({ id }) => id)
  clearSelection()
  perform(mail, sentence?.(ids.length) ?? null, {
    ids,
    change: { flags },
    apply: (thread) => withFlags(thread, flags),
    leaves: () => false,
  })
}

/** Gives conversations a label, or takes it. */
export function setLabel(mail: Mail, threads: readonly Thread[], keyword: string, isOn: boolean, name: string): void {
  const ids = threads.map(({ id }) => id)
  if (isOn) mail.data.addLabel(keyword)
  clearSelection()
  perform(mail, isOn ? words.labels.given(ids.length, name) : words.labels.taken(ids.length, name), {
    ids,
    change: isOn ? { add_keywords: [keyword] } : { remove_keywords: [keyword] },
    apply: (thread) => ({
      ...thread,
      keywords: [...thread.keywords.filter((one) => one !== keyword), ...(isOn ? [keyword] : [])],
    }),
    leaves: () => false,
  })
}

function withFlags(thread: Thread, flags: Flags): Thread {
  const last = thread.last_message
  const unread = flags.seen === undefined ? thread.unread_count : flags.seen ? 0 : thread.message_count
  return {
    ...thread,
    is_flagged: flags.flagged ?? thread.is_flagged,
    unread_count: unread,
    last_message: { ...last, flags: { ...last.flags, ...flags } },
  }
}

/** Conversations leave the list: the next one is open or has the keys instead. */
function leave(mail: Mail, ids: readonly string[]): void {
  const { list, place } = mail
  const gone = new Set(ids)
  const at = list?.indexOf(ids[0]!) ?? -1
  clearSelection()
  if (list === null || at < 0) return
  const isOpen = place.threadId !== null && gone.has(place.threadId)
  const neighbor = nextKept(list, at, gone)
  if (cursor.peek() === null || gone.has(cursor.peek()!)) cursor.value = neighbor
  if (isOpen) mail.go(neighbor === null || !isWide() ? listOf(place) : { ...place, threadId: neighbor }, true)
}

function nextKept(list: NonNullable<Mail['list']>, at: number, gone: ReadonlySet<string>): string | null {
  const total = list.total.peek() ?? 0
  for (let index = at; index < total; index++) {
    const id = list.idAt(index)
    if (id === undefined) break
    if (!gone.has(id)) return id
  }
  for (let index = at - 1; index >= 0; index--) {
    const id = list.idAt(index)
    if (id !== undefined && !gone.has(id)) return id
  }
  return null
}

function perform({ data }: Mail, sentence: string | null, action: ThreadAction): Promise<ActionOutcome> {
  const acting = data.act(action)
  if (sentence !== null) say(sentence, { label: words.undo, run: noteDone(data, acting) })
  acting.then(
    ({ refused }) => {
      if (refused > 0) say(words.refusedPartly(refused))
    },
    (error: unknown) => {
      const { message } = toApiError(error)
      say(message === '' ? words.refusedUnknown : words.refused(message))
    },
  )
  return acting
}
