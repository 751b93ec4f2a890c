// Selecting many conversations: all of a list, or all between two rows.

import { toApiError } from '../api/errors.ts'
import { say } from '../parts/toast.tsx'
import { mail as words } from '../words/en/mail.ts'
import { cursor, type Mail, selection, toggleSelected } from './mail-context.ts'

/** Conversations that one action changes: 50 requests, half of what the server keeps to undo. */
export const MOST_SELECTED = 5000

/** Selects the conversations of the list, also those that were not read yet. */
export async function selectAll({ list }: Mail): Promise<void> {
  if (list === null) return
  try {
    selection.value = new Set(await list.firstIds(MOST_SELECTED))
  } catch (error) {
    say(words.refused(toApiError(error).message))
  }
}

/** Selects from the row of the keys to another one. */
export function selectTo({ list }: Mail, threadId: string): void {
  const from = cursor.peek() === null ? -1 : (list?.indexOf(cursor.peek()!) ?? -1)
  const to = list?.indexOf(threadId) ?? -1
  if (list === null || from < 0 || to < 0) {
    toggleSelected(threadId)
    return
  }
  const next = new Set(selection.peek())
  for (let index = Math.min(from, to); index <= Math.max(from, to); index++) {
    const id = list.idAt(index)
    if (id !== undefined) next.add(id)
  }
  selection.value = next
}
