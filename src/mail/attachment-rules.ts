// What may be attached: file names, their extensions, types and content (decisions §8.3, §10.7).

import type { DraftAttachment } from './draft.ts'

/** An attachment as it was given, its content in base64 or already as bytes. */
export interface GivenAttachment {
  filename: string
  content: string | Uint8Array
  type?: string | null
  disposition?: 'attachment' | 'inline' | null
  contentId?: string | null
}

/**
 * The attachments of a message, their total size not yet looked at.
 * @param extra extensions the operator allows beside ours (ATTACHMENT_EXTRA_EXTENSIONS)
 * @throws ProductError validation_error on `<field>.<index>.filename`, `.content`, `.type` or `.content_id`
 */
export function checkAttachments(
  _field: string,
  _given: readonly GivenAttachment[],
  _extra: readonly string[],
): DraftAttachment[] {
  throw new Error('not built')
}

/**
 * A file name that may be sent.
 * @returns the name without the dots and spaces at its end
 * @throws ProductError validation_error on `field`
 */
export function checkFileName(_field: string, _filename: string, _extra: readonly string[]): string {
  throw new Error('not built')
}
