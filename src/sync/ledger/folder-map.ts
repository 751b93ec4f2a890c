// Which folders here stand for the folders, and for the labels, of a server.

import { marksOf } from '../model/marks.ts'
import type { Marks } from '../model/merge.ts'
import type { RemoteFolder } from './remote-folders.ts'
import type { RemoteMessage } from './remote-messages.ts'

/** Gmail's labels with a meaning of their own, as roles. */
const SYSTEM_LABELS = new Map([
  ['\\inbox', 'inbox'],
  ['\\sent', 'sent'],
  ['\\draft', 'drafts'],
  ['\\drafts', 'drafts'],
  ['\\junk', 'junk'],
  ['\\spam', 'junk'],
  ['\\trash', 'trash'],
])
const LABEL_OF_ROLE = new Map([
  ['inbox', '\\Inbox'],
  ['sent', '\\Sent'],
  ['drafts', '\\Draft'],
])
const IMPORTANT_LABEL = '\\Important'
/** The mark that stands for Gmail's label of the same name. */
export const IMPORTANT = '$important'

export class FolderMap {
  /** All rows, by number. */
  readonly folders: ReadonlyMap<number, RemoteFolder>
  readonly areLabels: boolean
  readonly #byLabel = new Map<string, number>()
  readonly #byFolder = new Map<number, RemoteFolder>()
  readonly #archive: number | null = null

  constructor(folders: readonly RemoteFolder[], areLabels: boolean) {
    this.folders = new Map(folders.map((folder) => [folder.n, folder]))
    this.areLabels = areLabels
    for (const remote of folders) {
      const { folder, role, path, state } = remote
      if (folder === null) continue
      if (state === 'followed') this.#byFolder.set(folder, remote)
      if (role === 'archive') this.#archive = folder
      this.#byLabel.set(path, folder)
      if (role !== null) for (const [label, of] of SYSTEM_LABELS) if (of === role) this.#byLabel.set(label, folder)
    }
  }

  /** The remote folder of a folder here; undefined: the server has none (yet). */
  remoteOf(folder: number): RemoteFolder | undefined {
    return this.#byFolder.get(folder)
  }

  /** The folders that one copy at the server stands for. */
  foldersOf({ folder, labels }: Pick<RemoteMessage, 'folder' | 'labels'>): number[] {
    const remote = this.folders.get(folder)
    if (remote === undefined || remote.folder === null) return []
    if (!this.areLabels || remote.role !== 'archive') return [remote.folder]
    const filed = (labels ?? []).flatMap((label) => this.#folderOfLabel(label) ?? [])
    return filed.length > 0 || this.#archive === null ? [...new Set(filed)] : [this.#archive]
  }

  /** Labels of a message that no folder stands for. */
  unknownLabels(labels: readonly string[] | null): string[] {
    const isPlain = (label: string) => !label.startsWith('\\')
    return (labels ?? []).filter((label) => isPlain(label) && this.#folderOfLabel(label) === undefined)
  }

  /** The label that stands for a folder here; null: none, as for the archive. */
  labelOf(folder: number): string | null {
    const remote = this.#byFolder.get(folder)
    if (remote === undefined || remote.role === 'archive') return null
    return (remote.role && LABEL_OF_ROLE.get(remote.role)) ?? remote.path
  }

  #folderOfLabel(label: string): number | undefined {
    return this.#byLabel.get(label.startsWith('\\') ? label.toLowerCase() : label)
  }
}

/** The marks of a message by its flags, and by its labels where there are any. */
export function seenMarks(flags: readonly string[], labels: readonly string[] | null): Marks {
  const marks = marksOf(flags)
  const isImportant = labels?.some((label) => label.toLowerCase() === IMPORTANT_LABEL.toLowerCase()) ?? false
  return isImportant ? [...new Set([...marks, IMPORTANT])].sort() : marks
}

export { IMPORTANT_LABEL }
