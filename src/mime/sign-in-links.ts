// Finds the secrets of this appliance's sign-in and invitation links in a message: they are revoked when it reaches a hosted mailbox.

import { decodeBody, encodedBytes } from './decode.ts'
import { linkSecrets } from './link-readings.ts'
import type { Part } from './message.ts'
import { partText } from './parse.ts'
import { readStructure } from './structure.ts'
import { decodeStream } from './transfer-stream.ts'

/** Secrets taken from one message. The original message contains one, in two forms. */
export const LINK_TOKENS_MAX = 20
/** Characters of a text that are decoded by its charset; what follows is searched as bytes. */
const TEXT_MAX = 1024 * 1024
/** Characters searched in one message, decoded files included. */
export const SEARCHED_MAX = 8 * 1024 * 1024
/** Bytes of an attached file that are parsed as a message. */
export const ATTACHED_MESSAGE_MAX = 4 * 1024 * 1024
/** Nesting of messages that are attached as files. */
const ATTACHED_DEPTH = 3
/** Characters searched at a time, and how many of them are searched again with the next ones. */
const WINDOW = 256 * 1024
const OVERLAP = 2048

/** Two header fields, perhaps behind the separator line of an mbox file. */
const MESSAGE_START = /^\s{0,100}(?:From .{1,200}\r?\n)?[!-9;-~]{1,76}:.*\r?\n(?:[ \t].*\r?\n)*[!-9;-~]{1,76}:/

/**
 * The secrets of links, and what resembles them, in the header, texts and files of a message and of messages inside it. A
 * secret that is not ours matches no link. Bounded by SEARCHED_MAX; never throws.
 * @param root its structure; null when unknown, then the raw bytes are searched
 */
export function linkTokens(bytes: Uint8Array, root: Part | null): string[] {
  const found = new Set<string>()
  let room = SEARCHED_MAX
  for (const text of textsOf(bytes, root, ATTACHED_DEPTH)) {
    for (const token of linkSecrets(text)) {
      found.add(token)
      if (found.size >= LINK_TOKENS_MAX) return [...found]
    }
    room -= text.length
    if (room <= 0) break
  }
  return [...found]
}

function* textsOf(bytes: Uint8Array, root: Part | null, depth: number): Generator<string> {
  if (root === null) return yield* rawTexts(bytes, null)
  yield latin1(bytes.subarray(0, Math.min(root.bodyStart, TEXT_MAX)))
  const pending: Part[] = [root]
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if (part.parts.length > 0) pending.push(...part.parts.toReversed())
    else yield* leafTexts(bytes, part, depth)
  }
}

function* leafTexts(bytes: Uint8Array, part: Part, depth: number): Generator<string> {
  const body = bytes.subarray(part.bodyStart, part.bodyEnd)
  const isText = part.type.startsWith('text/') || part.type.startsWith('multipart/')
  if (isText) yield partText(bytes, part, TEXT_MAX)
  // Many programs attach a message as an ordinary file; its texts have an encoding of their own.
  if (depth > 0 && (!isText || part.disposition === 'attachment' || part.filename !== null)) {
    const start = decodeBody(body.subarray(0, 4096), part.encoding)
    if (MESSAGE_START.test(latin1(start.subarray(0, 2048)))) {
      const end = encodedBytes(ATTACHED_MESSAGE_MAX, part.encoding)
      const inside = decodeBody(body.subarray(0, end), part.encoding)
      yield* textsOf(inside, readStructure(inside).root, depth - 1)
    }
  }
  if (!isText || body.length > TEXT_MAX) yield* rawTexts(body, part.encoding)
}

/** The decoded bytes in windows that overlap. */
function* rawTexts(body: Uint8Array, encoding: string | null): Generator<string> {
  const decoder = decodeStream(encoding)
  let text = ''
  for (let at = 0; at < body.length; at += WINDOW) {
    const piece = body.subarray(at, at + WINDOW)
    text = text.slice(-OVERLAP) + latin1(decoder === null ? piece : decoder.push(piece))
    yield text
  }
  const rest = decoder?.end()
  if (rest !== undefined && rest.length > 0) yield text.slice(-OVERLAP) + latin1(rest)
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}
