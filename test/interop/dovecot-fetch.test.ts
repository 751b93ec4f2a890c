// FETCH beside Dovecot: sizes, ENVELOPE, BODYSTRUCTURE and sections of the vectors; every difference is explained here.

import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { formatBodyStructure } from '../../src/imap/fetch/body-structure.ts'
import { EnvelopeFormatter } from '../../src/imap/fetch/envelope.ts'
import { servedFields } from '../../src/imap/fetch/header-fields.ts'
import {
  messageSize,
  type RequestedRange,
  type RequestedSection,
  resolveBinary,
  resolveSection,
} from '../../src/imap/fetch/sections.ts'
import { servedBytes } from '../../src/imap/fetch/served-stream.ts'
import { envelopeFields } from '../../src/mime/envelope.ts'
import type { Part } from '../../src/mime/message.ts'
import { unpackHeaders } from '../../src/mime/message-headers.ts'
import { parseMessage } from '../../src/mime/parse.ts'
import { declaredCharset } from '../../src/mime/structure.ts'
import { type Dovecot, dovecotMissing, type ImapValue, readValues, startDovecot } from '../support/dovecot.ts'
import { fixtureBytes, fixturesMissing } from '../support/fixtures.ts'
import { bytesOf, stringFormat } from '../support/imap-strings.ts'
import { BINARY_DIFFERS, ENVELOPE_DIFFERS, SECTIONS_DIFFER, STRUCTURE_DIFFERS } from './dovecot-differences.ts'
import { VECTOR_NAMES } from './dovecot-vectors.ts'

interface Vector {
  name: string
  bytes: Uint8Array
  root: Part
  keptHeaders: Uint8Array
}

suite('FETCH beside Dovecot', { skip: dovecotMissing() || fixturesMissing('mime') }, () => {
  let dovecot: Dovecot
  let vectors: Vector[]
  let rows: Map<string, ImapValue>[]

  before(async () => {
    vectors = VECTOR_NAMES.map((name) => {
      const bytes = fixtureBytes(`mime/${name}`)
      const { structure, keptHeaders } = parseMessage(bytes)
      return { name, bytes, root: structure!, keptHeaders }
    })
    dovecot = await startDovecot(vectors.map(({ bytes }) => bytes))
    rows = await dovecot.fetch('1:*', 'RFC822.SIZE ENVELOPE BODY BODYSTRUCTURE')
  })
  after(() => dovecot?.[Symbol.dispose]())

  test('RFC822.SIZE is equal', () => {
    assert.ok(vectors.length > 250)
    for (const [at, { name, root }] of vectors.entries()) {
      assert.equal(String(messageSize(root)), rows[at]!.get('RFC822.SIZE'), name)
    }
  })

  test('ENVELOPE is equal but for what is explained', () => {
    const differing = vectors.filter(({ root, keptHeaders }, at) => {
      const fields = envelopeFields(unpackHeaders(keptHeaders).fields, declaredCharset(root))
      // Dovecot sends raw 8-bit text as it is, which only sessions with UTF-8 get of us.
      const ours = plain(readValues(bytesOf(new EnvelopeFormatter(stringFormat(true)).format(fields)))[0]!)
      return JSON.stringify(ours) !== JSON.stringify(plain(rows[at]!.get('ENVELOPE')!))
    })
    assertExplained(differing, ENVELOPE_DIFFERS)
  })

  test('BODYSTRUCTURE and BODY are equal but for what is explained', () => {
    for (const [item, isExtended] of [
      ['BODYSTRUCTURE', true],
      ['BODY', false],
    ] as const) {
      const differing = vectors.filter(({ root }, at) => {
        const ours = readValues(bytesOf(formatBodyStructure(root, isExtended, stringFormat(true))))[0]!
        return JSON.stringify(comparable(ours)) !== JSON.stringify(comparable(rows[at]!.get(item)!))
      })
      const expected = isExtended ? STRUCTURE_DIFFERS : STRUCTURE_DIFFERS.filter(([, , only]) => only === undefined)
      assertExplained(differing, expected)
    }
  })

  test('sections and ranges of all parts are equal but for what is explained', async () => {
    const differing: Vector[] = []
    let count = 0
    for (const [at, vector] of vectors.entries()) {
      const asked = sectionsOf(vector.root)
      const names = asked.map(({ section, range }) => sectionName(section, range))
      const row = (
        await dovecot.fetch(`${at + 1}`, names.map((name) => name.replace('BODY', 'BODY.PEEK')).join(' '))
      )[0]!
      const isDifferent = asked.some(({ section, range }, index) => {
        const key = names[index]!.replace(/<(\d+)\..*/, '<$1>')
        assert.ok(row.has(key), `${vector.name} ${key}`)
        return !isSameSection(served(vector, section, range), plain(row.get(key)!) as string)
      })
      count += asked.length
      if (isDifferent) differing.push(vector)
    }
    assert.ok(count > 5000, `${count} sections`)
    assertExplained(differing, SECTIONS_DIFFER)
  })

  test('BINARY of all parts that are encoded correctly is equal but for what is explained', async () => {
    const differing = new Set<Vector>()
    let count = 0
    const otherParts = new Set(SECTIONS_DIFFER.map(([name]) => name))
    for (const [at, vector] of vectors.entries()) {
      if (otherParts.has(vector.name)) continue
      for (const part of leavesOf(vector.root)) {
        const plan = resolveBinary(vector.root, part.id.split('.').map(Number))
        // Of other bodies Dovecot answers NO [PARSE], or ends the connection.
        if (plan.kind !== 'bytes' || !isEncodedCorrectly(vector.bytes, part)) continue
        const rows = await dovecot.fetch(`${at + 1}`, `BINARY.PEEK[${part.id}]`).catch(rejectedAsInvalid)
        if (rows === null) continue
        const row = rows[0]!
        const ours = Buffer.from(servedBytes(plan, vector.bytes.subarray(plan.start, plan.end))).toString('latin1')
        assert.equal(ours.length, plan.size, vector.name)
        if (ours !== plain(row.get(`BINARY[${part.id}]`)!)) differing.add(vector)
        count++
      }
    }
    assert.ok(count > 200, `${count} parts`)
    assertExplained([...differing], BINARY_DIFFERS)
  })
})

/** The names of the differing messages are exactly those that are explained. */
function assertExplained(
  differing: readonly Vector[],
  explained: readonly (readonly [name: string, reason: string, only?: 'extended'])[],
): void {
  assert.deepEqual(differing.map(({ name }) => name).sort(), explained.map(([name]) => name).sort())
}

/** Strings and atoms alike. */
function plain(value: ImapValue): unknown {
  if (value === null || typeof value === 'string') return value
  return Array.isArray(value) ? value.map(plain) : value.text
}

/** A structure in which neither case nor the order of parameters matters. */
function comparable(value: ImapValue): unknown {
  if (value === null) return null
  if (!Array.isArray(value)) return (typeof value === 'string' ? value : value.text).toLowerCase()
  const items = value.map(comparable)
  const isPairs = items.length % 2 === 0 && items.every((item) => typeof item === 'string')
  if (!isPairs) return items
  return Array.from({ length: items.length / 2 }, (_, at) => `${items[at * 2]}=${items[at * 2 + 1]}`).sort()
}

interface AskedSection {
  section: RequestedSection
  range: RequestedRange | null
}

function sectionsOf(root: Part): AskedSection[] {
  const asked: AskedSection[] = []
  const ask = (
    part: number[],
    text: RequestedSection['text'],
    fields: string[] = [],
    range: RequestedRange | null = null,
  ) => asked.push({ section: { part, text, fields }, range })
  for (const text of ['all', 'header', 'text'] as const) ask([], text)
  ask([], 'fields', ['FROM', 'TO', 'CONTENT-TYPE'])
  ask([], 'fields-not', ['RECEIVED', 'SUBJECT'])
  ask([99], 'all')
  ask([], 'all', [], { start: 10, count: 100 })
  ask([], 'text', [], { start: 3, count: 1_000_000 })
  ask([], 'text', [], { start: 99_999_999, count: 10 })
  for (const part of partsOf(root)) {
    if (part.id.endsWith('TEXT')) continue
    const id = part.id.split('.').map(Number)
    for (const text of ['all', 'mime', 'header', 'text'] as const) ask(id, text)
    ask(id, 'all', [], { start: 7, count: 31 })
    ask(id, 'fields', ['SUBJECT', 'CONTENT-TYPE'])
  }
  return asked
}

function partsOf(part: Part): Part[] {
  return [part, ...part.parts.flatMap(partsOf)]
}

function leavesOf(root: Part): Part[] {
  return partsOf(root).filter(
    ({ id, type, parts }) => !id.endsWith('TEXT') && !/^multi/.test(type) && parts.length === 0,
  )
}

function sectionName({ part, text, fields }: RequestedSection, range: RequestedRange | null): string {
  const list = fields.join(' ')
  const specifier = { all: '', header: 'HEADER', text: 'TEXT', mime: 'MIME', fields: '', 'fields-not': '' }[text]
  const last =
    text === 'fields' ? `HEADER.FIELDS (${list})` : text === 'fields-not' ? `HEADER.FIELDS.NOT (${list})` : specifier
  const section = [part.join('.'), last].filter((piece) => piece !== '').join('.')
  return `BODY[${section}]${range === null ? '' : `<${range.start}.${range.count}>`}`
}

function served({ bytes, root }: Vector, section: RequestedSection, range: RequestedRange | null): string | null {
  const plan = resolveSection(root, section, range)
  if (plan.kind !== 'bytes' && plan.kind !== 'fields') return null
  const stored = bytes.subarray(plan.start, plan.end)
  const answer = plan.kind === 'bytes' ? servedBytes(plan, stored) : servedFields(plan, stored)
  if (plan.kind === 'bytes') assert.equal(answer.length, plan.size)
  return Buffer.from(answer).toString('latin1')
}

/**
 * Two differences are of Dovecot's own: for a part that does not exist it sends an empty string, not NIL; and behind the closing
 * boundary of an inner multipart it counts the line break to the body, which belongs to the next boundary (RFC 2046 §5.1.1).
 */
function isSameSection(ours: string | null, theirs: string): boolean {
  return (ours ?? '') === theirs || (ours?.endsWith('--') === true && `${ours}\r\n` === theirs)
}

function isEncodedCorrectly(bytes: Uint8Array, { encoding, bodyStart, bodyEnd }: Part): boolean {
  const body = Buffer.from(bytes.subarray(bodyStart, bodyEnd)).toString('latin1')
  if (encoding === 'base64')
    return /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(body.replace(/\s/g, ''))
  if (encoding === 'quoted-printable') return /^(?:[\t\r\n -<>-~]|=[0-9A-F]{2}|=\r?\n)*$/.test(body)
  return true
}

/** Dovecot refuses to decode a part: null. @throws anything else */
function rejectedAsInvalid(error: Error): null {
  if (error.message.includes('NO [PARSE]')) return null
  throw error
}
