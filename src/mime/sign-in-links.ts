// Finds the secrets of this appliance's sign-in and invitation links in a message: they are revoked when it reaches a hosted mailbox.

import type { Part } from './message.ts'
import { partText } from './parse.ts'

/** Secrets taken from one message. The original message contains one, in two forms. */
export const LINK_TOKENS_MAX = 20
/** Characters searched in one part, and in all parts. */
const PART_MAX = 1024 * 1024
const TEXT_MAX = 2 * 1024 * 1024
/** Bytes of a file that may be a forwarded message; larger ones are not searched. */
const ATTACHED_MAX = 256 * 1024

// Some mail services rewrite links: they put the original, percent-encoded once or more, into a parameter, or write "_" for "/" and more
// "_" behind it. A token that is not ours matches no link.
const LINK = /(?:session|invites)(?:\/|_|&#0*47;|&#x0*2f;|&sol;|%(?:25)*2f)([a-z0-9_-]{43})/gi

/**
 * The secrets of links in the texts of a message and of messages inside it. Never throws.
 * @param root its structure; null when unknown, then the first raw bytes are searched
 */
export function linkTokens(bytes: Uint8Array, root: Part | null): string[] {
  const found = new Set<string>()
  for (const text of textsOf(bytes, root)) {
    for (const [, token] of text.matchAll(LINK)) {
      found.add(token!)
      if (found.size >= LINK_TOKENS_MAX) return [...found]
    }
  }
  return [...found]
}

function isText({ type }: Part): boolean {
  return type.startsWith('text/') || type.startsWith('multipart/')
}

function* textsOf(bytes: Uint8Array, root: Part | null): Generator<string> {
  if (root === null) {
    yield Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1', 0, PART_MAX)
    return
  }
  yield Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(
    'latin1',
    0,
    Math.min(root.bodyStart, PART_MAX),
  )
  let room = TEXT_MAX
  const pending: Part[] = [root]
  for (let part = pending.pop(); part !== undefined && room > 0; part = pending.pop()) {
    if (part.parts.length > 0) pending.push(...part.parts.toReversed())
    else if (isText(part) || part.bodyEnd - part.bodyStart <= ATTACHED_MAX) {
      const text = partText(bytes, part, Math.min(PART_MAX, room))
      room -= text.length
      // A message that is attached as a file has a coding of its own: its long lines are joined.
      yield isText(part) ? text : text.replace(/=\r?\n/g, '')
    }
  }
}
