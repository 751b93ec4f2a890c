// The task of cleaning a message, and the part of it that is cheap enough for the calling thread (plain text).

import {
  type CleanContent,
  type CleanOptions,
  type CleanSource,
  contentOf,
  mayBeStub,
  textLines,
} from '../content/clean/content.ts'
import { decodeText } from '../mime/decode.ts'

/** A body as it is stored. */
export interface BodyBytes {
  bytes: Uint8Array
  encoding: string
  charset: string | null
}

export interface CleanTask {
  text: BodyBytes | null
  html: BodyBytes | null
  incomplete: boolean
  fromDomain: string
  /** See `CleanSource`. */
  subject?: string
  options: CleanOptions
  /** The content, cleaned as Markdown, is returned as simple HTML. */
  isHtml?: boolean
}

export function sourceOf({ text, html, incomplete, fromDomain, subject }: CleanTask): CleanSource {
  const textOf = (body: BodyBytes | null) => body && decodeText(body.bytes, body)
  return { text: textOf(text), html: textOf(html), incomplete, fromDomain, subject }
}

/** @returns null where the HTML is needed: its cleaner is large and only loaded in the worker thread */
export function cleanTextTask(task: CleanTask): CleanContent | null {
  const source = sourceOf({ ...task, html: null })
  if (task.html !== null && (source.text === null || mayBeStub(source.text))) return null
  return contentOf(textLines(source.text ?? ''), source, task.options)
}
