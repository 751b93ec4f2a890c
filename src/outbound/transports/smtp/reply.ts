// Parses the replies of a mail server (RFC 5321 §4.2) incrementally, with size limits.

import { clean } from '../../../mime/one-line.ts'
import type { RemoteReply } from '../../model/records.ts'

/** One reply: its code, its enhanced status code if present, and the text of each line without them. */
export interface ServerReply {
  code: number
  /** RFC 3463, as "5.1.1". */
  enhanced: string | null
  lines: string[]
}

/** Maximum octets per line; RFC 5321 §4.5.3.1.5 says 512, but some servers exceed it. */
export const LINE_MAX = 4096
/** Maximum lines per reply. */
export const LINES_MAX = 256
/** Maximum characters of a reply that are stored. */
export const TEXT_MAX = 300

const LF = 10
const LINE = /^([2-5]\d\d)(?:([ -])(.*))?$/s
/** RFC 2034 §4: at the start of each line, with the same first digit as the reply code. */
const ENHANCED = /^([245]\.\d{1,3}\.\d{1,3})(?: |$)/

/** Splits bytes into replies. Invalid input is final: the bytes after it cannot be matched to a command. */
export class ReplyReader {
  #rest: Buffer = Buffer.alloc(0)
  #code = 0
  #lines: string[] = []

  /** True when all bytes so far form complete replies. */
  get isEmpty(): boolean {
    return this.#rest.length === 0 && this.#lines.length === 0
  }

  /**
   * @param take receives each complete reply
   * @returns the problem with the bytes, as the end of a sentence; null if there is none
   */
  push(bytes: Buffer, take: (reply: ServerReply) => void): string | null {
    const all = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    let start = 0
    for (let end = all.indexOf(LF); end >= 0; end = all.indexOf(LF, start)) {
      if (end - start > LINE_MAX) return 'sent a line that is too long'
      const problem = this.#line(all.toString('utf8', start, end).replace(/\r$/, ''), take)
      if (problem !== null) return problem
      start = end + 1
    }
    this.#rest = all.subarray(start)
    return this.#rest.length > LINE_MAX ? 'sent a line that is too long' : null
  }

  #line(text: string, take: (reply: ServerReply) => void): string | null {
    const match = LINE.exec(text)
    if (match === null) return 'sent something that is not an SMTP reply'
    const code = Number(match[1])
    if (this.#lines.length > 0 && code !== this.#code) return 'sent one reply with two codes'
    this.#code = code
    this.#lines.push(match[3] ?? '')
    if (this.#lines.length > LINES_MAX) return 'sent a reply with too many lines'
    if (match[2] === '-') return null
    take(serverReply(code, this.#lines))
    this.#lines = []
    return null
  }
}

function serverReply(code: number, lines: readonly string[]): ServerReply {
  const enhanced = ENHANCED.exec(lines[0]!)?.[1] ?? null
  if (enhanced === null || Number(enhanced[0]) !== Math.floor(code / 100)) {
    return { code, enhanced: null, lines: [...lines] }
  }
  return { code, enhanced, lines: lines.map((line) => line.replace(ENHANCED, '')) }
}

/** The reply to store: one line, starting with its codes. @param hide removes secrets from a text */
export function toStoredReply({ code, enhanced, lines }: ServerReply, hide: (text: string) => string): RemoteReply {
  const said = [code, enhanced, ...lines].filter((part) => part !== null && part !== '').join(' ')
  return { smtpCode: code, enhancedCode: enhanced, text: clean(hide(said), TEXT_MAX) }
}

/** A reply of our own when no server replied. @param sentence may contain untrusted text, but no secrets */
export function ownReply(sentence: string, enhancedCode: string | null = null): RemoteReply {
  return { smtpCode: null, enhancedCode, text: clean(sentence, TEXT_MAX) }
}

export function isPositive({ code }: ServerReply): boolean {
  return code >= 200 && code < 300
}

export function isPermanent({ code }: ServerReply): boolean {
  return code >= 500
}
