// Extracts the text of a report without the returned message.

import { htmlToText } from '../html/visible-text.ts'
import type { Part } from '../mime/message.ts'
import { partText } from '../mime/parse.ts'
import { REPORT_TEXT_MAX } from './reported.ts'

export interface NoticeText {
  /** The text of the report, LF line ends. */
  said: string
  /** The part of the returned message that follows in the same text. */
  returned: string
}

/** A line that introduces the returned message; "The original message was received at" does not. */
const RETURNED_LINE = new RegExp(
  [
    "^[\\s>]*-{2,}\\s*(?:original|unsent|returned|message header|the header|text of|this is a copy|below|enclosed|included|mensaje original|message d'origine|your message|.{0,40}\\boriginal message)\\b",
    '^\\s*(?:original message(?: follows|:)|message headers? follow|included is a copy|below (?:this line )?is a copy|the following is a copy|the header of the original)',
    '^content-type:\\s*(?:message/rfc822|text/rfc822-headers)',
    '^received:\\s*(?:from|by|\\()',
    '^return-path:\\s*<',
  ].join('|'),
  'i',
)

/** The text parts of a report, concatenated, without those of a returned message. Bounded by REPORT_TEXT_MAX. */
export function noticeText(bytes: Uint8Array, root: Part): NoticeText {
  const plain = textOf(bytes, root, 'text/plain')
  return split(plain.trim() === '' ? htmlToText(textOf(bytes, root, 'text/html')) : plain)
}

function textOf(bytes: Uint8Array, root: Part, type: string): string {
  const texts: string[] = []
  let room = REPORT_TEXT_MAX
  const take = (part: Part): void => {
    // A multipart whose boundary is missing is read as text.
    const isText = part.type === type || (part.type.startsWith('multipart/') && part.parts.length === 0)
    if (isText && room > 0) {
      const text = partText(bytes, part, room)
      room -= text.length
      texts.push(text)
    }
    if (part.type.startsWith('multipart/')) for (const child of part.parts) take(child)
  }
  take(root)
  return texts.join('\n')
}

function split(text: string): NoticeText {
  let at = 0
  for (const line of text.split('\n')) {
    if (RETURNED_LINE.test(line.slice(0, 200))) return { said: text.slice(0, at), returned: text.slice(at) }
    at += line.length + 1
  }
  return { said: text, returned: '' }
}
