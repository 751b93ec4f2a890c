// Sanitises the file name a sender gave an attachment, for display and download.

import { decodeHeader } from './decode.ts'

/** Longest file name, in characters (UTF-16), as most file systems allow. */
export const FILE_NAME_MAX = 255

/** Control and bidirectional marks: they make "fdp.exe" read as "exe.pdf". */
const UNSEEN = /[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g

/** The last segment of the path the sender wrote, encoded words decoded; null when nothing remains. */
export function fileName(raw: string): string | null {
  if (raw === '') return null
  const text = decodeHeader(raw).replace(UNSEEN, '').trim()
  const name = text.slice(Math.max(text.lastIndexOf('/'), text.lastIndexOf('\\')) + 1)
  if (/^\.*$/.test(name)) return null
  return name.length <= FILE_NAME_MAX ? name : shortened(name)
}

/** Cuts in the middle, so that the extension stays. */
function shortened(name: string): string {
  const dot = name.lastIndexOf('.')
  const extension = dot > 0 && name.length - dot <= 20 ? name.slice(dot) : ''
  return (
    name
      .slice(0, FILE_NAME_MAX - extension.length)
      .toWellFormed()
      .replace(/\ufffd$/, '') + extension
  )
}
