// Finds the known name most similar to a mistyped one, for messages such as "Did you mean …?".

/** Only this many characters of longer names are compared. */
const NAME_MAX = 64

/**
 * @param most maximum edit distance (insertions, deletions, replacements, swaps of neighbours); unlimited unless given
 * @returns undefined when no name is similar enough
 */
export function nearest(name: string, known: Iterable<string>, most = Number.POSITIVE_INFINITY): string | undefined {
  let found: string | undefined
  let best = most + 1
  for (const each of known) {
    if (Math.abs(each.length - name.length) >= best) continue
    const edits = distance(name.slice(0, NAME_MAX), each.slice(0, NAME_MAX))
    if (edits >= best) continue
    found = each
    best = edits
  }
  return found
}

/** Optimal string alignment: Levenshtein distance with swaps of neighbours. */
function distance(a: string, b: string): number {
  let [before, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? before[j - 2]! + 1 : replaced
      row.push(Math.min(last[j]! + 1, row[j - 1]! + 1, replaced, swapped))
    }
    before = last
    last = row
  }
  return last[b.length]!
}

/** Edits up to which a known name is suggested. */
const SUGGEST_EDITS = 2
/** A shorter name is close to too many others. */
const SUGGEST_FROM = 3

/** Names in the APIs of others for what has another name in Mailstead. */
const ELSEWHERE: ReadonlyMap<string, readonly string[]> = new Map([
  ['body', ['text_body']],
  ['body_text', ['text_body']],
  ['message', ['text_body']],
  ['content', ['text_body']],
  ['plain', ['text_body']],
  ['text_content', ['text_body']],
  ['body_html', ['html_body']],
  ['html_content', ['html_body']],
  ['title', ['subject']],
  ['sender', ['from']],
  ['recipient', ['to']],
  ['recipients', ['to']],
  ['reply_to_message_id', ['in_reply_to_message_id', 'in_reply_to']],
  ['reply_to_id', ['in_reply_to_message_id', 'in_reply_to']],
  ['in_reply_to_id', ['in_reply_to_message_id', 'in_reply_to']],
  ['thread_id', ['in_reply_to_message_id', 'in_reply_to']],
  ['data', ['content']],
  ['name', ['filename']],
  ['mime_type', ['content_type']],
  ['deliver_at', ['send_at']],
  ['scheduled_at', ['send_at']],
  ['text', ['q']],
  ['query', ['q']],
  ['since', ['after']],
  ['until', ['before']],
  ['page', ['cursor']],
  ['offset', ['position', 'cursor']],
  ['per_page', ['limit']],
  ['page_size', ['limit']],
  ['order', ['sort_direction', 'sort']],
  ['seen', ['is_unread', 'flags']],
  ['read', ['is_unread', 'flags']],
  ['is_read', ['is_unread', 'flags']],
  ['starred', ['is_flagged', 'flags']],
])

/** A name of another spelling, such as inReplyTo or In-Reply-To, as names are spelled in the API. */
export function inSnakeCase(name: string): string {
  return name
    .replace(/(?<=[a-z0-9])(?=[A-Z])/g, '_')
    .replaceAll('-', '_')
    .toLowerCase()
}

/** The known name that a mistyped, shortened or foreign one probably means. @returns undefined when none is similar */
export function meantName(name: string, known: readonly string[]): string | undefined {
  if (name.length < SUGGEST_FROM) return undefined
  const own = inSnakeCase(name)
  return (
    known.find((one) => one === own) ??
    nearest(name, known, SUGGEST_EDITS) ??
    known.find((one) => one.startsWith(`${own}_`)) ??
    ELSEWHERE.get(own)?.find((one) => known.includes(one)) ??
    known.find((one) => one.endsWith(`_${own}`) || own.startsWith(`${one}_`))
  )
}
