// The task of making the document of a message (content/view/), run in the thread that cleans HTML.

import { viewDocument } from '../content/view/document.ts'
import type { ViewDocument, ViewOptions } from '../content/view/view.ts'
import { decodeText } from '../mime/decode.ts'
import type { BodyBytes } from './clean-task.ts'

export interface ViewTask {
  text: BodyBytes | null
  html: BodyBytes | null
  incomplete: boolean
  /** Content-ID without angle brackets, and id, of attachments. */
  files: readonly (readonly [contentId: string, id: string])[]
  options: ViewOptions
}

export function viewOf({ text, html, incomplete, files, options }: ViewTask): ViewDocument {
  const textOf = (body: BodyBytes | null) => body && decodeText(body.bytes, body)
  const source = { text: html === null ? textOf(text) : null, html: textOf(html), incomplete, files: new Map(files) }
  return viewDocument(source, options)
}
