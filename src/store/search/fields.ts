// Fields of the query language (docs/design/mailbox.md §4): translates `name:value` to a term.

import { DAY_MS } from '../../base/durations.ts'
import type { Flags } from '../rows/records.ts'
import type { Leaf, Term, TextPart } from './terms.ts'
import type { AddressField } from './text.ts'
import { tokensOf } from './words.ts'

/** The value of a field as written. */
export interface Value {
  text: string
  quoted: boolean
}

const UNIT_DAYS: Record<string, number> = { d: 1, w: 7, m: 30, y: 365 }
const SIZE_UNIT: Record<string, number> = { '': 1, k: 1024, m: 1024 * 1024 }
// A shorter prefix would match a large part of all words.
const PREFIX_MIN = 2

const FLAG_WORDS: Record<string, { flag: keyof Flags; on: boolean }> = {
  unread: { flag: 'seen', on: false },
  read: { flag: 'seen', on: true },
  flagged: { flag: 'flagged', on: true },
  starred: { flag: 'flagged', on: true },
  answered: { flag: 'answered', on: true },
  draft: { flag: 'draft', on: true },
}

type Read = (value: Value, now: number) => Term | null

const FIELDS = new Map<string, Read>([
  ['from', (value) => address('from', value)],
  ['to', (value) => address('to', value)],
  ['cc', (value) => address('cc', value)],
  ['bcc', (value) => address('bcc', value)],
  ['subject', (value) => words('subject', value)],
  ['body', (value) => words('body', value)],
  ['filename', (value) => words('filename', value)],
  ['in', ({ text }) => folder(text)],
  ['is', ({ text }) => flag(text)],
  ['has', ({ text }) => (text.toLowerCase() === 'attachment' ? { kind: 'attachment', on: true } : null)],
  ['keyword', ({ text }) => keyword(text)],
  ['label', ({ text }) => keyword(text)],
  ['after', ({ text }) => received(readTime(text), null)],
  ['before', ({ text }) => received(null, readTime(text))],
  ['newer_than', ({ text }, now) => received(ago(text, now), null)],
  ['older_than', ({ text }, now) => received(null, ago(text, now))],
  ['larger', ({ text }) => size((bytes) => ({ min: bytes + 1, max: null }), text)],
  ['smaller', ({ text }) => size((bytes) => ({ min: null, max: bytes - 1 }), text)],
  ['msgid', ({ text }) => messageId(text)],
])

/** The term of a field; null if the field is unknown or its value invalid: it is then treated as text. */
export function readField(name: string, value: Value, now: number): Term | null {
  return FIELDS.get(name)?.(value, now) ?? null
}

/** Adjacent words; null without any letter or digit. */
export function words(part: TextPart, { text, quoted }: Value): Leaf | null {
  const tokens = tokensOf(text)
  if (tokens.length === 0) return null
  const prefix = !quoted && text.endsWith('*') && [...tokens.at(-1)!].length >= PREFIX_MIN
  return { kind: 'words', part, tokens, prefix }
}

function address(part: AddressField, value: Value): Leaf | null {
  const text = value.text.trim()
  if (/^@[^\s@*]+$/.test(text)) return { kind: 'domain', part, domain: text.slice(1) }
  if (/^[^\s@]+@[^\s@*]+$/.test(text)) return { kind: 'address', part, email: text }
  return words(part, value)
}

function folder(text: string): Leaf | null {
  const name = text.trim()
  if (name === '') return null
  return name.toLowerCase() === 'anywhere' ? { kind: 'anywhere' } : { kind: 'folder', name }
}

function flag(text: string): Leaf | null {
  const word = text.toLowerCase()
  return Object.hasOwn(FLAG_WORDS, word) ? { kind: 'flag', ...FLAG_WORDS[word]! } : null
}

function keyword(text: string): Leaf | null {
  return text === '' ? null : { kind: 'keyword', keyword: text.toLowerCase() }
}

function received(from: number | null, before: number | null): Leaf | null {
  return from === null && before === null ? null : { kind: 'received', from, before }
}

/** YYYY-MM-DD (midnight UTC) or a timestamp of RFC 3339; without an offset it is UTC. */
function readTime(text: string): number | null {
  const match = /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|[+-]\d{2}:\d{2})?)?$/i.exec(text)
  if (!match) return null
  const [, date, time = '00:00', zone = 'Z'] = match
  const midnight = Date.parse(`${date}T00:00Z`)
  // Date.parse accepts 31 February as a day in March.
  if (Number.isNaN(midnight) || new Date(midnight).toISOString().slice(0, 10) !== date) return null
  const at = Date.parse(`${date}T${time}${zone.toUpperCase()}`)
  return Number.isNaN(at) ? null : at
}

function ago(text: string, now: number): number | null {
  const match = /^(\d{1,5})([dwmy])$/i.exec(text)
  return match && now - Number(match[1]) * UNIT_DAYS[match[2]!.toLowerCase()]! * DAY_MS
}

function size(bounds: (bytes: number) => { min: number | null; max: number | null }, text: string): Leaf | null {
  const match = /^(\d{1,12})([km]?)$/i.exec(text)
  return match && { kind: 'size', ...bounds(Number(match[1]) * SIZE_UNIT[match[2]!.toLowerCase()]!) }
}

function messageId(text: string): Leaf | null {
  const id = text.trim().replace(/^<(.*)>$/, '$1')
  return id === '' ? null : { kind: 'messageId', id }
}
