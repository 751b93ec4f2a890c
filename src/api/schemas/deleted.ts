// The response to a deletion.

import { Type } from 'typebox'
import type { IdKind } from '../../base/ids.ts'
import { Id } from '../../http/schema.ts'
import { record } from './record.ts'

/** `data` of a DELETE. */
export function DeletedOf(kind: IdKind) {
  return record(`Deleted${kind[0]!.toUpperCase()}${kind.slice(1)}`, 'It is gone.', {
    deleted: Type.Literal(true),
    id: Id(kind),
  })
}
