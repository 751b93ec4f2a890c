// The public name of stored content, as it is shown and asked for.

import { Type } from 'typebox'

/** What names of content look like. */
export const BLOB_ID_PATTERN = '^blob_[a-z0-9]{24}$'

export function BlobId(description: string) {
  return Type.String({ pattern: BLOB_ID_PATTERN, description })
}
