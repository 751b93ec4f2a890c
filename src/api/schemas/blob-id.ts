// The blob id of stored content.

import { Type } from 'typebox'

/** Format of blob ids. */
export const BLOB_ID_PATTERN = '^blob_[a-z0-9]{24}$'

export function BlobId(description: string) {
  return Type.String({ pattern: BLOB_ID_PATTERN, description })
}
