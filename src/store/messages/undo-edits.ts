// What a message was before a change and is afterwards: enough to undo the change.

import type { Reader } from '../../db/db.ts'
import { type Labeling, saidOf } from './spam-labels.ts'

/** A message before and after a change: keywords with those of the flags, and ids of folders. */
export interface UndoEdit {
  id: string
  before: { keywords: string[]; folders: string[] }
  after: { keywords: string[]; folders: string[] }
  /** What had been said of the message before the change said something; null when it says nothing. */
  said: Labeling['says'] | null
}

/**
 * The edits with what had been said of their messages; called before anything is learned of the change.
 * @param edits by number of the message @param taught numbers of the messages of which the change says something
 */
export function withSaid(
  reader: Reader,
  account: number,
  edits: ReadonlyMap<number, UndoEdit>,
  taught: readonly number[],
): UndoEdit[] {
  const said = saidOf(reader, account, taught)
  return [...edits].map(([message, edit]) => ({ ...edit, said: said.get(message) ?? null }))
}
