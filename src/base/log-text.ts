// Formats log lines for a terminal: time, level, message, then the other fields.

import { type InspectColor, styleText } from 'node:util'

interface Level {
  name: string
  color: InspectColor
}

const LEVELS: Readonly<Record<number, Level>> = {
  10: { name: 'trace', color: 'gray' },
  20: { name: 'debug', color: 'gray' },
  30: { name: 'info', color: 'green' },
  40: { name: 'warn', color: 'yellow' },
  50: { name: 'error', color: 'red' },
  60: { name: 'fatal', color: 'red' },
}
/** The stack of an error is shown from this level on. */
const ERROR_LEVEL = 50
const LEVEL_WIDTH = 5
const PLAIN = /^[\w.:@/+-]+$/
// Control and bidirectional characters (C0, DEL, C1, bidi, zero width): the log contains foreign text.
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g

/**
 * @param line one line of the log as JSON
 * @param color whether to use colors
 * @returns the formatted line with its line end
 */
export function readableLine(line: string, color: boolean): string {
  let fields: Record<string, unknown>
  try {
    fields = JSON.parse(line) as Record<string, unknown>
  } catch {
    return `${safe(line.trimEnd())}\n`
  }
  const { level, time, msg, ...rest } = fields
  const { name, color: hue } = LEVELS[Number(level)] ?? { name: String(level), color: 'gray' }
  const paint = (style: InspectColor, text: string) => (color ? styleText(style, text) : text)
  const said = Object.entries(rest).flatMap(([key, value]) => pairs(key, value))
  const head = [paint('dim', clockOf(time)), paint(hue, name.padEnd(LEVEL_WIDTH)), safe(String(msg ?? ''))]
  const tail = said.length === 0 ? '' : `  ${paint('dim', said.join(' '))}`
  return `${head.join(' ')}${tail}\n${Number(level) >= ERROR_LEVEL ? stackOf(rest.err) : ''}`
}

/** Local time of day. */
function clockOf(time: unknown): string {
  const at = new Date(String(time))
  return Number.isNaN(at.getTime()) ? safe(String(time)) : at.toTimeString().slice(0, 8)
}

/** `key=value`; members of an object by their path, errors by their message. */
function pairs(key: string, value: unknown): string[] {
  if (value === undefined || value === null) return value === null ? [`${safe(key)}=null`] : []
  if (typeof value !== 'object') return [`${safe(key)}=${written(value)}`]
  if (key === 'err') return [`err=${written((value as { message?: unknown }).message ?? '')}`]
  if (Array.isArray(value)) return [`${safe(key)}=${safe(JSON.stringify(value))}`]
  return Object.entries(value).flatMap(([name, member]) =>
    typeof member === 'object' && member !== null
      ? [`${safe(`${key}.${name}`)}=${safe(JSON.stringify(member))}`]
      : pairs(`${key}.${name}`, member),
  )
}

function written(value: unknown): string {
  const text = String(value)
  return PLAIN.test(text) ? text : safe(JSON.stringify(text))
}

function stackOf(error: unknown): string {
  const stack = (error as { stack?: unknown } | undefined)?.stack
  if (typeof stack !== 'string') return ''
  // The first line is the message, which has been written already.
  return stack
    .split('\n')
    .filter((one) => /^\s+at /.test(one))
    .map((one) => `    ${safe(one.trim())}\n`)
    .join('')
}

function safe(text: string): string {
  return text.replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
