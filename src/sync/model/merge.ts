// The merge of both sides of an outside account, without input or output: what the server changed since it was last seen (the base) is
// done here, and what differs from the base here is to be done there.

/** Marks of a message: the keywords of the store (`$seen` …), and {@link DELETED}, which is of one folder entry. Each once. */
export type Marks = readonly string[]

/** Stands for `\Deleted`. */
export const DELETED = '\\deleted'

export interface MarkChange {
  add: string[]
  remove: string[]
}

/** What the server changed, as far as it is not so here already. */
export function incomingMarks(base: Marks, server: Marks, local: Marks): MarkChange {
  return {
    add: server.filter((mark) => !base.includes(mark) && !local.includes(mark)),
    remove: base.filter((mark) => !server.includes(mark) && local.includes(mark)),
  }
}

/** What was changed here. @param takes which marks the server keeps; the others stay here */
export function outgoingMarks(base: Marks, local: Marks, takes: (mark: string) => boolean): MarkChange {
  return {
    add: local.filter((mark) => !base.includes(mark) && takes(mark)),
    remove: base.filter((mark) => !local.includes(mark) && takes(mark)),
  }
}

export function isNothing({ add, remove }: MarkChange): boolean {
  return add.length + remove.length === 0
}

/** Folders of a message by number, on one side or in the base. */
export type FolderNumbers = readonly number[]

/**
 * The folders of a message here after the server changed its folders from `before` to `after`. When both sides moved it, the server's
 * folder wins; labels are merged one by one.
 * @returns none when it is gone there: what was changed here is dropped with it
 */
export function incomingFolders(
  { before, after, local }: { before: FolderNumbers; after: FolderNumbers; local: FolderNumbers },
  areLabels: boolean,
): number[] {
  if (after.length === 0) return []
  const removed = before.filter((folder) => !after.includes(folder))
  const isMovedHere = removed.some((folder) => !local.includes(folder))
  if (isMovedHere && !areLabels) return [...new Set(after)]
  const filed = new Set(local.filter((folder) => !removed.includes(folder)))
  for (const folder of after) if (!before.includes(folder)) filed.add(folder)
  return filed.size === 0 ? [...new Set(after)] : [...filed]
}

/** A message at the server: one row of the base. */
export interface BaseCopy {
  /** Number of the folder here that holds it. */
  at: number
}

export interface CopyChanges<C extends BaseCopy> {
  moves: { copy: C; to: number }[]
  copies: { of: C; to: number }[]
  /** Folders it is to be stored in from its content here. */
  appends: number[]
  removals: C[]
}

/**
 * What the server has to do so that its copies of a message are in the folders it is in here.
 * @param local null when the message is deleted here
 * @param isThere whether the server has a folder for one of ours: what is in another one is not taken away there
 */
export function outgoingFolders<C extends BaseCopy>(
  local: FolderNumbers | null,
  base: readonly C[],
  isThere: (folder: number) => boolean,
): CopyChanges<C> {
  const changes: CopyChanges<C> = { moves: [], copies: [], appends: [], removals: [] }
  const filed = local ?? []
  const missing = filed.filter((folder) => isThere(folder) && !base.some(({ at }) => at === folder))
  const left = base.filter(({ at }) => !filed.includes(at))
  const [first] = base
  for (const folder of missing) {
    const copy = left.shift()
    if (copy !== undefined) changes.moves.push({ copy, to: folder })
    else if (first === undefined) changes.appends.push(folder)
    else changes.copies.push({ of: first, to: folder })
  }
  if (filed.every(isThere)) changes.removals.push(...left)
  return changes
}
