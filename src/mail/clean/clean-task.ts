// Cleaning as it is asked for: from the bytes of the bodies, here or in a thread.

import { decodeText } from '../decode.ts'
import { type CleanContent, type CleanOptions, cleanContent } from './clean.ts'

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

export function cleanTask({ text, html, incomplete, fromDomain, options }: CleanTask): CleanContent {
  const textOf = (body: BodyBytes | null) => body && decodeText(body.bytes, body)
  return cleanContent({ text: textOf(text), html: textOf(html), incomplete, fromDomain }, options)
}
