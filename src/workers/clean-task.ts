// Cleaning as it is asked for, from the bytes of the bodies: what can be done on the calling thread.

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
  options: CleanOptions
}

export function sourceOf({ text, html, incomplete, fromDomain }: CleanTask): CleanSource {
  const textOf = (body: BodyBytes | null) => body && decodeText(body.bytes, body)
  return { text: textOf(text), html: textOf(html), incomplete, fromDomain }
}

/** @returns null where the HTML has to be read, which needs much code that this does not load */
export function cleanTextTask(task: CleanTask): CleanContent | null {
  const source = sourceOf({ ...task, html: null })
  if (task.html !== null && (source.text === null || mayBeStub(source.text))) return null
  return contentOf(textLines(source.text ?? ''), source, task.options)
}
