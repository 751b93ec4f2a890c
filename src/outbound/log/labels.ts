// Tags and metadata of a message as its rows store them.

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
