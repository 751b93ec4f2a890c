// A draft becomes content that can be kept and sent: composed, bounded, hashed, cut in stretches, and read where a copy is wanted.

import { ProductError } from '../../base/errors.ts'
import { sha256 } from '../../base/secrets.ts'
import { chunksOf } from '../chunks.ts'
import { decodeBody } from '../decode.ts'
import type { Chunk, ParsedMail } from '../message.ts'
import { parseMail } from '../parse.ts'
import { compose } from './compose.ts'
import type { Draft, DraftAttachment } from './draft.ts'
import { checkBodies } from './draft-rules.ts'

/** A text; as UTF-8 where it is long, because bytes move between threads without being copied. */
export type Text = string | Uint8Array

/** A file as it comes from where it was. */
export interface RoughAttachment extends DraftAttachment {
  /** Content-Transfer-Encoding its content is still in; null: none. */
  encoding: string | null
  /** Of the content itself, decoded. */
  sizeBytes: number
}

/** A draft whose bodies nobody has looked at yet, and whose files may still be encoded. */
export interface RoughDraft extends Omit<Draft, 'textBody' | 'htmlBody' | 'attachments'> {
  textBody: Text | null
  htmlBody: Text | null
  attachments: readonly RoughAttachment[]
}

export interface Written {
  hash: Uint8Array
  sizeBytes: number
  chunks: Chunk[]
  /** As a reader sees it; null where nobody will. */
  mail: ParsedMail | null
}

/** Bytes of a whole mail (decisions §8.1, §10.2). */
export const RAW_MAX = 41_943_040

/**
 * @param isRead whether the mail is to be shown to somebody
 * @throws ProductError missing_parameter or validation_error for its bodies, payload_too_large
 */
export function write(draft: RoughDraft, isRead: boolean): Written {
  // Nothing is shorter composed than it was: what is too large is not composed at all.
  if (contentBytes(draft) > RAW_MAX) throw tooLarge()
  const bodies = checkBodies({ text: textOf(draft.textBody), html: textOf(draft.htmlBody) })
  const attachments = draft.attachments.map(({ encoding, ...file }) => {
    return encoding === null ? file : { ...file, content: decodeBody(file.content, encoding) }
  })
  const { bytes } = compose({ ...draft, ...bodies, attachments })
  if (bytes.length > RAW_MAX) throw tooLarge()
  const mail = isRead ? parseMail(bytes) : null
  return { hash: sha256(bytes), sizeBytes: bytes.length, chunks: chunksOf(bytes), mail }
}

/** About how many bytes composing will have to look at. */
export function contentBytes({ textBody, htmlBody, attachments }: RoughDraft): number {
  const files = attachments.reduce((sum, { sizeBytes }) => sum + Math.ceil(sizeBytes / 3) * 4, 0)
  return (textBody?.length ?? 0) + (htmlBody?.length ?? 0) + files
}

function textOf(text: Text | null): string | null {
  return text instanceof Uint8Array ? Buffer.from(text.buffer, text.byteOffset, text.length).toString() : text
}

function tooLarge(): ProductError {
  return new ProductError('payload_too_large', `A message has at most ${RAW_MAX} bytes, its attachments encoded.`)
}
