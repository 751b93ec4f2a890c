// mime/header-tables: 214 fields with what mail-parser (Rust) makes of them. Where we differ, the case is listed with the reason.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseAddressList } from '../../../src/mime/address.ts'
import { parseDate } from '../../../src/mime/date.ts'
import { decodeHeader } from '../../../src/mime/decode.ts'
import { fieldText, readHeaders } from '../../../src/mime/headers.ts'
import { parseStructured } from '../../../src/mime/parameters.ts'
import { messageIds } from '../../../src/mime/references.ts'
import { fixtureJson, fixturesMissing } from '../../support/fixtures.ts'

const FOLDER = 'mime/header-tables'
const skip = fixturesMissing(FOLDER)

interface Row<T> {
  header: string
  expected: T
}

/** The text of the field as it would stand in a mail. */
function textOf(header: string): string {
  const { fields } = readHeaders(Buffer.from(`x:${header}\r\n\r\n`))
  return fields[0] ? fieldText(fields[0]) : ''
}

/** Runs a table: every case agrees, but those listed, which must differ (or the list is out of date). */
function agree<T>(
  file: string,
  differs: Map<string, string>,
  mine: (text: string, row: Row<T>) => unknown,
  theirs: (row: Row<T>) => unknown,
) {
  test(file, { skip }, () => {
    const rows = fixtureJson<Row<T>[]>(`${FOLDER}/${file}.json`)
    assert.ok(rows.length > 0)
    for (const row of rows) {
      const key = [...differs.keys()].find((start) => row.header.startsWith(start))
      const [ours, oracle] = [mine(textOf(row.header), row), theirs(row)]
      if (key === undefined) assert.deepEqual(ours, oracle, row.header)
      else assert.notDeepEqual(ours, oracle, `${row.header} agrees now: take it off the list`)
    }
  })
}

type Entry = { name: string | null; address: string | null }
type Addresses = { List?: Entry[]; Group?: { addresses: Entry[] }[] }

agree<Addresses>(
  'address',
  new Map([
    ['Pete(A nice', 'a name is given: what comments say beside it is no part of it'],
    ['(Empty list)(start)', 'a comment alone names nobody: the group is empty'],
    ['Mary Smith <@node.test', 'a route (RFC 5322 4.4) is passed over, and no address has spaces'],
    ['"  James Smythe"', 'white space around a name says nothing'],
  ]),
  (text) => parseAddressList(text).map(({ email, name }) => [name, email]),
  ({ expected }) =>
    (expected.List ?? expected.Group!.flatMap((group) => group.addresses)).map(({ name, address }) => [
      name ?? '',
      address ?? '',
    ]),
)

type ContentType = { c_type: string; c_subtype: string | null; attributes: [string, string][] | null } | null

agree<ContentType>(
  'content_type',
  new Map([
    ['text/plain; name=  ', 'an empty value is kept as empty'],
    ['inva/lid; name=" ', 'white space alone is trimmed with the name'],
    ['test/encoded; key4', 'NUL becomes a space, and "*" is a name'],
    ['malicious/attempt', 'only a number and a "*" behind a name cut a parameter up (RFC 2231 3)'],
  ]),
  (text, { expected }) => {
    const { value, parameters } = parseStructured(text)
    const shown = [...parameters].map(([name, raw]) => `${name}=${decodeHeader(raw)}`).sort()
    // Without a subtype neither names a type: part.ts takes text/plain then.
    return expected?.c_subtype ? [value, shown] : [value.includes('/') && !/^\/|\/$/.test(value), []]
  },
  ({ expected }) => {
    const attributes = (expected?.attributes ?? []).filter(([name]) => !name.endsWith('-language'))
    const shown = attributes.map(([name, value]) => `${name}=${value}`).sort()
    return expected?.c_subtype ? [`${expected.c_type}/${expected.c_subtype}`, shown] : [false, []]
  },
)

type Moment = {
  [part in 'year' | 'month' | 'day' | 'hour' | 'minute' | 'second' | 'tz_hour' | 'tz_minute']: number
} & { tz_before_gmt: boolean }

function momentOf(date: Moment | null | undefined): number | null {
  if (!date) return null
  const offset = (date.tz_hour * 60 + date.tz_minute) * (date.tz_before_gmt ? -1 : 1)
  return Date.UTC(date.year, date.month - 1, date.day, date.hour, date.minute, date.second) - offset * 60_000
}

agree<Moment | null>('date', new Map(), parseDate, ({ expected }) => momentOf(expected))

agree<{ date?: Moment } | null>(
  'received',
  new Map([
    ['FROM ca-ex-bridge1', 'the C library form has its year behind the time'],
    ['from [193.220.176.134]', 'PST is eight hours behind'],
    ['from snake.corp', 'two digits are a year of this century (RFC 5322 4.3)'],
    ['from TCE-E-7-182-54', 'the C library form has its year behind the time'],
    ['from [<4124973', 'the C library form has its year behind the time'],
    ['(from vashugins', 'PDT is seven hours behind'],
  ]),
  (text) => parseDate(text.slice(text.lastIndexOf(';') + 1).trim()),
  ({ expected }) => momentOf(expected?.date),
)

agree<string[] | null>(
  'id',
  new Map(),
  (text) => messageIds(text),
  ({ expected }) => expected ?? [],
)

agree<string>(
  'unstructured',
  new Map([['[SUSPECTED SPAM]', 'no space is made up in front of an encoded word that has none']]),
  (text) => decodeHeader(text),
  ({ expected }) => expected,
)

agree<string[]>(
  'list',
  new Map(),
  (text) =>
    decodeHeader(text)
      .split(',')
      .map((word) => word.trim())
      .filter((word) => word !== ''),
  ({ expected }) => expected,
)
