// Tags and metadata that a sender gives to a message: returned in the log, in events and in lists.

import { invalid } from '../../base/errors.ts'
import type { NewMail } from './new-message.ts'

export const TAGS_MAX = 10
/** Characters of the name of a tag, and of its value. */
export const TAG_MAX = 64
/** Bytes of the metadata as JSON. */
export const METADATA_BYTES_MAX = 4096
/** Names have no colon, so that `name:value` can be read. */
const TAG_NAME = /^[A-Za-z0-9_.-]{1,64}$/

/** As stored: JSON texts; null without any. */
export interface MessageLabels {
  tags: string | null
  metadata: string | null
}

export const NO_LABELS: MessageLabels = { tags: null, metadata: null }

/** @throws ProductError validation_error on `tags.<name>` or `metadata` */
export function checkLabels({ tags = {}, metadata }: Pick<NewMail, 'tags' | 'metadata'>): MessageLabels {
  for (const name of Object.keys(tags)) {
    if (TAG_NAME.test(name)) continue
    const message = `The name of a tag has 1 to ${TAG_MAX} letters, digits, "_", "-" and ".".`
    throw invalid(`tags.${name.slice(0, TAG_MAX)}`, 'invalid_format', message)
  }
  const text = metadata === undefined ? null : JSON.stringify(metadata)
  if (text !== null && Buffer.byteLength(text) > METADATA_BYTES_MAX) {
    throw invalid('metadata', 'too_big', `The metadata has at most ${METADATA_BYTES_MAX} bytes as JSON.`)
  }
  return { tags: Object.keys(tags).length === 0 ? null : JSON.stringify(tags), metadata: text }
}

export interface LabelColumns {
  tags?: string | null
  metadata?: string | null
}

/** As the API shows them. Messages without any have no such members. */
export interface Labels {
  tags?: Record<string, string>
  metadata?: Record<string, unknown>
}

export function labelsOf({ tags, metadata }: LabelColumns): Labels {
  return {
    ...(tags ? { tags: JSON.parse(tags) as Record<string, string> } : {}),
    ...(metadata ? { metadata: JSON.parse(metadata) as Record<string, unknown> } : {}),
  }
}

/** A tag as filters name it: `name`, or `name:value`. */
export interface TagFilter {
  name: string
  /** Any when it is missing. */
  value?: string
}

/** The condition that a message has the tag. @param column its `tags` */
export function tagCondition(column: string, { name, value }: TagFilter): { sql: string; values: string[] } {
  // Names have no quotes, so the path cannot be left.
  const path = `$."${name.replaceAll('"', '')}"`
  if (value === undefined) return { sql: `json_type(${column}, ?) IS NOT NULL`, values: [path] }
  return { sql: `json_extract(${column}, ?) = ?`, values: [path, value] }
}
