// The selected folder of a session: which messages the client knows of, and as of which modification number.

import { type NumberRange, rangesInclude } from '../../base/number-ranges.ts'
import type { FolderStatus } from '../../store/entries/folders-views.ts'
import type { CurrentView } from './view-cache.ts'
import type { UidView } from './views.ts'

export interface SelectedOptions {
  path: string
  folder: FolderStatus
  isReadOnly: boolean
  current: CurrentView
  /** UIDs that are \Recent in this session. */
  recent: readonly NumberRange[]
  /** Keywords the client knows of. */
  keywords: Iterable<string>
  /** Gives back the shared view. */
  release(): void
}

export class SelectedFolder {
  readonly n: number
  readonly id: string
  readonly uidValidity: number
  /** As of the last announcement. */
  uidNext: number
  readonly path: string
  /** Opened by EXAMINE, or the credential may not change anything. */
  readonly isReadOnly: boolean
  /** The messages as the client numbers them. */
  view: UidView
  /** Changes up to this number were announced. */
  modSeq: number
  recent: readonly NumberRange[]
  /** Keywords that FLAGS has named. */
  readonly keywords: Set<string>
  /** Changes of this session that need no announcement: modification number by UID. */
  readonly own = new Map<number, number>()
  readonly release: () => void

  constructor({ path, folder, isReadOnly, current, recent, keywords, release }: SelectedOptions) {
    this.n = folder.n
    this.id = folder.id
    this.uidValidity = folder.uidValidity
    this.path = path
    this.isReadOnly = isReadOnly
    this.view = current.view
    this.modSeq = current.modSeq
    this.uidNext = current.uidNext
    this.recent = recent
    this.keywords = new Set(keywords)
    this.release = release
  }

  isRecent(uid: number): boolean {
    return rangesInclude(this.recent, uid)
  }

  /** How many messages are recent. */
  get recentCount(): number {
    return this.view.countWithin(this.recent)
  }
}
