// Condition on messages for statements of other parts of the store.

import { type Fragment, inFolder } from '../rows/folders.ts'

/** Condition: the message whose public id is in `column` is in the folder. */
export function isMessageInFolder(column: string, folder: number): Fragment {
  const { sql, values } = inFolder('m.n', folder)
  return { sql: `EXISTS (SELECT 1 FROM messages m WHERE m.id = ${column} AND ${sql})`, values }
}
