// Tags and metadata of a message in responses, and the filter by tag.

import { Type } from 'typebox'
import type { TagFilter } from '../../outbound/model/message-labels.ts'

/** Members of records of messages that have any. */
export const labelFields = {
  tags: Type.Optional(
    Type.Record(Type.String(), Type.String(), { description: 'Tags of the message; missing without any.' }),
  ),
  metadata: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), { description: 'Metadata of the message; missing without any.' }),
  ),
}

export const TagQuery = Type.String({
  pattern: '^[A-Za-z0-9_.-]{1,64}(?::[^\\x00-\\x1f\\x7f]{1,64})?$',
  description: 'Messages with this tag: `name:value`, or `name` for any value.',
  examples: ['campaign:may'],
})

/** @param text of {@link TagQuery} */
export function readTag(text: string): TagFilter {
  const colon = text.indexOf(':')
  return colon < 0 ? { name: text } : { name: text.slice(0, colon), value: text.slice(colon + 1) }
}
