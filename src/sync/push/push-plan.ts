// What a server has to do for messages that changed here: computed from the messages as they are and the base, not from a queue.

import type { MailPlacement } from '../../store/messages/mail-reads.ts'
import { type FolderMap, IMPORTANT, IMPORTANT_LABEL } from '../ledger/folder-map.ts'
import type { RemoteFolder } from '../ledger/remote-folders.ts'
import type { RemoteMessage } from '../ledger/remote-messages.ts'
import { isNothing, type MarkChange, outgoingFolders, outgoingMarks } from '../model/merge.ts'
import { localFolders, localMarks } from '../session/local-changes.ts'

/** One change of one message there. */
export type PushStep =
  | { kind: 'marks'; row: RemoteMessage; change: MarkChange }
  | { kind: 'labels'; row: RemoteMessage; change: MarkChange }
  | { kind: 'move'; row: RemoteMessage; to: RemoteFolder }
  | { kind: 'copy'; row: RemoteMessage; to: RemoteFolder }
  | { kind: 'append'; message: number; to: RemoteFolder; labels: string[] }
  /** `isErased`: it was deleted here; else it only left the folder. */
  | { kind: 'remove'; row: RemoteMessage; isErased: boolean }

export type StepOf<K extends PushStep['kind']> = Extract<PushStep, { kind: K }>

/**
 * @param placement null when the message is deleted here
 * @param rows its copies there; those that are gone from their folders wait for the end of the round
 * @param takes whether a folder there keeps a mark
 */
export function planPush(
  message: number,
  placement: MailPlacement | null,
  rows: readonly RemoteMessage[],
  { map, takes }: { map: FolderMap; takes: (row: RemoteMessage, mark: string) => boolean },
): PushStep[] {
  const present = rows.filter(({ uid }) => uid > 0)
  // Gone there: the next look decides, and what was changed here is dropped if it is not found again.
  if (present.length < rows.length) return []
  const steps: PushStep[] = []
  if (placement !== null) for (const row of present) steps.push(...markSteps(placement, row, map, takes))
  const moved = map.areLabels
    ? labelledSteps(message, placement, present, map)
    : movedSteps(message, placement, present, map)
  return [...steps, ...moved]
}

function markSteps(
  placement: MailPlacement,
  row: RemoteMessage,
  map: FolderMap,
  takes: (row: RemoteMessage, mark: string) => boolean,
): PushStep[] {
  const [here] = map.foldersOf(row)
  const change = outgoingMarks(row.marks, localMarks(placement, here ?? 0), (mark) => takes(row, mark))
  if (isNothing(change)) return []
  if (!map.areLabels) return [{ kind: 'marks', row, change }]
  const isImportant = (mark: string) => mark === IMPORTANT
  const label = (marks: string[]) => marks.filter(isImportant).map(() => IMPORTANT_LABEL)
  const steps: PushStep[] = []
  const plain = {
    add: change.add.filter((mark) => !isImportant(mark)),
    remove: change.remove.filter((mark) => !isImportant(mark)),
  }
  const labels = { add: label(change.add), remove: label(change.remove) }
  if (!isNothing(plain)) steps.push({ kind: 'marks', row, change: plain })
  if (!isNothing(labels)) steps.push({ kind: 'labels', row, change: labels })
  return steps
}

function movedSteps(
  message: number,
  placement: MailPlacement | null,
  rows: readonly RemoteMessage[],
  map: FolderMap,
): PushStep[] {
  const base = rows.map((row) => ({ row, at: map.foldersOf(row)[0] ?? -1 }))
  const local = placement && localFolders(placement)
  const changes = outgoingFolders(local, base, (folder) => map.remoteOf(folder) !== undefined)
  const remote = (folder: number) => map.remoteOf(folder)!
  const [first, ...others] = changes.appends
  return [
    ...changes.moves.map(({ copy, to }): PushStep => ({ kind: 'move', row: copy.row, to: remote(to) })),
    ...changes.copies.map(({ of, to }): PushStep => ({ kind: 'copy', row: of.row, to: remote(to) })),
    ...(first === undefined ? [] : [first, ...others]).map(
      (to): PushStep => ({ kind: 'append', message, to: remote(to), labels: [] }),
    ),
    ...changes.removals.map(({ row }): PushStep => ({ kind: 'remove', row, isErased: placement === null })),
  ]
}

/** With labels a message is in All Mail, or in Trash or Junk; in All Mail its folders are labels. */
function labelledSteps(
  message: number,
  placement: MailPlacement | null,
  rows: readonly RemoteMessage[],
  map: FolderMap,
): PushStep[] {
  const [row] = rows
  const all = [...map.folders.values()]
  const archive = all.find(({ role }) => role === 'archive')
  if (placement === null) return rows.map((one): PushStep => ({ kind: 'remove', row: one, isErased: true }))
  const local = localFolders(placement)
  const special = local.map((here) => map.remoteOf(here)).find((one) => one?.role === 'trash' || one?.role === 'junk')
  const labels = local.flatMap((here) => map.labelOf(here) ?? [])
  const plain = labels.filter(
    (_, index) => map.remoteOf(local[index]!)?.role !== special?.role || special === undefined,
  )
  const target = special ?? archive
  if (target === undefined) return []
  if (row === undefined) return [{ kind: 'append', message, to: target, labels: special === undefined ? plain : [] }]
  if (row.folder !== target.n) return [{ kind: 'move', row, to: target }]
  if (special !== undefined) return []
  const base = map.foldersOf(row)
  const change = {
    add: local.filter((here) => !base.includes(here)).flatMap((here) => map.labelOf(here) ?? []),
    remove: base.filter((here) => !local.includes(here)).flatMap((here) => map.labelOf(here) ?? []),
  }
  return isNothing(change) ? [] : [{ kind: 'labels', row, change }]
}
