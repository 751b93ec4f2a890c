// Composes a draft into storable content: validated, composed, hashed, split into chunks, and parsed where a copy is stored.

import { ProductError } from '../../base/errors.ts'
import { freeBytes } from '../../base/free-bytes.ts'
import { sha256 } from '../../base/secrets.ts'
import { bytesOf, chunksOf } from '../chunks.ts'
import { decodeBody } from '../decode.ts'
import type { Chunk, ParsedMessage } from '../message.ts'
import { parseMessage } from '../parse.ts'
import { compose } from './compose.ts'
import type { Draft, DraftAttachment } from './draft.ts'
import { checkBodies } from './draft-rules.ts'
import { prepareRawDraft, type RawDraft, type RawDraftRules } from './raw-draft.ts'

/** A text; as UTF-8 bytes where it is long, because buffers are transferred between threads without copying. */
export type TextContent = string | Uint8Array

/** An attachment whose content may still be encoded. */
export interface EncodedAttachment extends DraftAttachment {
  /** Content-Transfer-Encoding of its content; null: decoded. */
  encoding: string | null
  /** Of the content itself, decoded. */
  sizeBytes: number
}

/** A draft whose bodies are not yet validated, and whose attachments may still be encoded. */
export interface UncheckedDraft extends Omit<Draft, 'textBody' | 'htmlBody' | 'attachments'> {
  textBody: TextContent | null
  htmlBody: TextContent | null
  attachments: readonly EncodedAttachment[]
}

export interface ComposedContent {
  hash: Uint8Array
  sizeBytes: number
  chunks: Chunk[]
  /** The parsed message; null when it was not requested. */
  message: ParsedMessage | null
}

/** Bytes of a composed message (docs/design/sending.md §11, docs/design/mailbox.md §2). */
export const RAW_MAX = 41_943_040

/**
 * @param isRead whether the parsed message is needed
 * @throws ProductError missing_parameter or validation_error for its bodies, payload_too_large
 */
export function composeContent(draft: UncheckedDraft, isRead: boolean): ComposedContent {
  // Composing never shrinks the content: a draft that is too large is refused before.
  if (contentBytes(draft) > RAW_MAX) throw tooLarge()
  const bodies = checkBodies({ text: textOf(draft.textBody), html: textOf(draft.htmlBody) }, draft.isUnsent)
  const attachments = draft.attachments.map(({ encoding, ...file }) => {
    return encoding === null ? file : { ...file, content: decodeBody(file.content, encoding) }
  })
  const { bytes } = compose({ ...draft, ...bodies, attachments })
  if (bytes.length > RAW_MAX) throw tooLarge()
  return contentOf(bytes, isRead)
}

/** @param bytes made for this message alone: those of a large one are freed */
function contentOf(bytes: Uint8Array, isRead: boolean): ComposedContent {
  const message = isRead ? parseMessage(bytes) : null
  const content = { hash: sha256(bytes), sizeBytes: bytes.length, chunks: chunksOf(bytes), message }
  freeBytes([bytes], bytesOf(content))
  return content
}

/** A submitted message: its content, and what was read of it. */
export interface RawContent extends Omit<RawDraft, 'bytes' | 'hasOwnId'> {
  written: ComposedContent
  /** The same for the same message to the same recipients; null for a message without a Message-ID of its own. */
  fingerprint: Uint8Array | null
}

/**
 * @param bytes as submitted
 * @param isRead whether the parsed message is needed
 * @throws ProductError see `prepareRawDraft`; payload_too_large
 */
export function rawContent(bytes: Uint8Array, rules: RawDraftRules, isRead: boolean): RawContent {
  const { bytes: prepared, hasOwnId, ...facts } = prepareRawDraft(bytes, rules)
  // Encoded parts may be longer.
  if (prepared.length > RAW_MAX) throw tooLarge()
  const recipients = rules.recipients.map((email) => email.toLowerCase()).toSorted()
  const fingerprint = hasOwnId ? sha256(`${Buffer.from(sha256(bytes)).toString('hex')} ${recipients.join(' ')}`) : null
  return { ...facts, written: contentOf(prepared, isRead), fingerprint }
}

/** Approximate size of the composed content in bytes. */
export function contentBytes({
  textBody,
  htmlBody,
  attachments,
}: Pick<UncheckedDraft, 'textBody' | 'htmlBody' | 'attachments'>): number {
  const files = attachments.reduce((sum, { sizeBytes }) => sum + Math.ceil(sizeBytes / 3) * 4, 0)
  return (textBody?.length ?? 0) + (htmlBody?.length ?? 0) + files
}

function textOf(text: TextContent | null): string | null {
  return text instanceof Uint8Array ? Buffer.from(text.buffer, text.byteOffset, text.length).toString() : text
}

function tooLarge(): ProductError {
  return new ProductError('payload_too_large', `A message has at most ${RAW_MAX} bytes, its attachments encoded.`)
}
