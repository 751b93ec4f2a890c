// Dates of RFC 9051 §9: `date` of SEARCH and `date-time` of APPEND.

import { type Cursor, DQUOTE, ImapSyntaxError } from './cursor.ts'

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']
const MONTH_NAMES = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const SECOND = 1000
const MINUTE = 60 * SECOND

/** `date`, quoted or not: the start of that day in UTC, ms. */
export function readDate(cursor: Cursor): number {
  const isQuoted = cursor.skip('"')
  const day = readDigits(cursor, 1, 2)
  cursor.expect('-')
  const date = readMonthAndYear(cursor, day)
  if (isQuoted) cursor.expect('"')
  return date
}

/** `date-time`: `"dd-Mon-yyyy hh:mm:ss +zzzz"`, ms. */
export function readDateTime(cursor: Cursor): number {
  if (cursor.peek() !== DQUOTE) throw new ImapSyntaxError('Expected a date with time.')
  cursor.expect('"')
  const day = cursor.skip(' ') ? readDigits(cursor, 1, 1) : readDigits(cursor, 1, 2)
  cursor.expect('-')
  const date = readMonthAndYear(cursor, day)
  cursor.space()
  const hours = readPart(cursor, 23)
  cursor.expect(':')
  const minutes = readPart(cursor, 59)
  cursor.expect(':')
  const seconds = readPart(cursor, 60)
  cursor.space()
  const zone = readZone(cursor)
  cursor.expect('"')
  return date + (hours * 60 + minutes) * MINUTE + seconds * SECOND - zone
}

function readMonthAndYear(cursor: Cursor, day: number): number {
  const month = MONTHS.indexOf(readMonthName(cursor))
  if (month < 0) throw new ImapSyntaxError('There is no such month.')
  cursor.expect('-')
  const year = readDigits(cursor, 4, 4)
  const date = Date.UTC(year, month, day)
  // Date.UTC takes years below 100 as 19xx and carries days over.
  const back = new Date(date)
  if (back.getUTCDate() !== day || back.getUTCFullYear() !== year) throw new ImapSyntaxError('There is no such date.')
  return date
}

function readMonthName(cursor: Cursor): string {
  let name = ''
  while (name.length < 3) {
    const byte = cursor.peek()
    if (byte < 0x41) throw new ImapSyntaxError('Expected a month.')
    const character = String.fromCharCode(byte)
    cursor.expect(character)
    name += character
  }
  return name.toUpperCase()
}

function readPart(cursor: Cursor, most: number): number {
  const value = readDigits(cursor, 2, 2)
  if (value > most) throw new ImapSyntaxError('There is no such time.')
  return value
}

function readZone(cursor: Cursor): number {
  const sign = cursor.skip('-') ? -1 : 1
  if (sign === 1) cursor.expect('+')
  const [hours, minutes] = [readPart(cursor, 23), readPart(cursor, 59)]
  return sign * (hours * 60 + minutes) * MINUTE
}

function readDigits(cursor: Cursor, least: number, most: number): number {
  let digits = ''
  while (digits.length < most && cursor.isAtDigit) {
    const digit = String.fromCharCode(cursor.peek())
    cursor.expect(digit)
    digits += digit
  }
  if (digits.length < least) throw new ImapSyntaxError('Expected a number.')
  return Number(digits)
}

/** `date-time` in UTC, without the quotes: `17-Jul-1996 02:44:25 +0000`. @param ms since 1970 */
export function formatDateTime(ms: number): string {
  const date = new Date(ms)
  const two = (value: number) => String(value).padStart(2, '0')
  const day = `${two(date.getUTCDate())}-${MONTH_NAMES[date.getUTCMonth()]}-${String(date.getUTCFullYear()).padStart(4, '0')}`
  return `${day} ${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())} +0000`
}
