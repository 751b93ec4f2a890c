// The members of messages a client can set, keywords and folders, one by one and in batches.

import { type TProperties, Type } from 'typebox'
import { Id } from '../../http/schema.ts'
import type { MessageChange } from '../../store/messages/edits.ts'
import { MAILBOX_LIMITS } from '../schemas/limits.ts'
import { record } from '../schemas/record.ts'

const FOLDERS_MAX = 10
/** Most keywords of a message. */
export const KEYWORDS_MAX = 100

// docs/design/mailbox.md §3: converted to lower case; RFC 9051 atoms.
const Keyword = Type.String({ minLength: 1, maxLength: 255, pattern: "^[!#$&'+-Z\\[^-z|}~]+$", examples: ['$seen'] })

export function Keywords(description: string, max: number = MAILBOX_LIMITS.keywords_per_update_max) {
  return Type.Array(Keyword, { maxItems: max, description })
}

export function FolderIds(description: string, min = 0) {
  return Type.Array(Id('folder'), { minItems: min, maxItems: FOLDERS_MAX, uniqueItems: true, description })
}

/** Ids of a batch, each once. */
export function BatchIds(kind: 'message' | 'thread', description: string) {
  return Type.Array(Id(kind), { minItems: 1, maxItems: MAILBOX_LIMITS.batch_ids_max, uniqueItems: true, description })
}

/** What a batch changes in its messages, or in those of its threads. */
export const batchChanges = {
  add_keywords: Type.Optional(Keywords('To be added.')),
  remove_keywords: Type.Optional(Keywords('Keywords to remove.')),
  set_folder_ids: Type.Optional(FolderIds('All folders of the messages.', 1)),
  add_folder_ids: Type.Optional(FolderIds('Folders to add.')),
  remove_folder_ids: Type.Optional(FolderIds('Folders to remove.')),
}

/** The outcome of a batch; its `state` is that of the messages or threads of the mailbox. */
export function BatchOutcome<P extends TProperties>(kind: 'message' | 'thread', more: P = {} as P) {
  const name = kind === 'message' ? 'Message' : 'Thread'
  const NotUpdated = record(`${name}NotUpdated`, `Why a ${kind} was not changed.`, {
    id: Id(kind),
    code: Type.String(),
    message: Type.String(),
  })
  return record(`${name}BatchUpdated`, `The result by ${kind}.`, {
    updated: Type.Array(Id(kind)),
    not_found: Type.Array(Id(kind)),
    not_updated: Type.Array(NotUpdated),
    ...more,
    state: Type.String({ description: `Opaque state of the ${kind}s of the mailbox.` }),
  })
}

/** The folders that are set, or added and removed; undefined when none is named. */
export function folderChange(set?: string[], add?: string[], remove?: string[]): MessageChange['folders'] {
  if (set !== undefined) return { set }
  return (add ?? remove) === undefined ? undefined : { add, remove }
}

/** Keywords in the form they are stored in. */
export function lower(keywords: readonly string[]): string[] {
  return keywords.map((keyword) => keyword.toLowerCase())
}
