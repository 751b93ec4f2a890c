// Header lines above the limit are folded where their syntax allows it, and say the same.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseAddressList } from '../../../src/mime/address.ts'
import { LINE_MAX } from '../../../src/mime/compose/fields.ts'
import { longLineEdits, withFoldedHeader } from '../../../src/mime/compose/long-lines.ts'
import { headerText, readHeaders } from '../../../src/mime/headers.ts'
import { readStructure } from '../../../src/mime/structure.ts'

const people = Array.from({ length: 60 }, (_, n) => `"Person, number ${n}" <person.${n}@customer.example>`)
const message = (...fields: string[]) => Buffer.from([...fields, '', 'Hello', ''].join('\r\n'))
const lengths = (bytes: Uint8Array) =>
  Buffer.from(bytes)
    .toString('latin1')
    .split('\r\n')
    .map((line) => line.length)
const fieldOf = (bytes: Uint8Array, name: string) => headerText(readHeaders(bytes).fields, name)

for (const [what, between] of [
  ['with spaces', ', '],
  ['without spaces', ','],
] as const) {
  test(`a list of 60 addresses ${what} is folded, and names the same people`, () => {
    const bytes = message('Subject: Hello', `To: ${people.join(between)}`, 'X-Short: one')
    const folded = withFoldedHeader(bytes)
    assert.ok(Math.max(...lengths(folded)) <= 120, String(Math.max(...lengths(folded))))
    assert.deepEqual(parseAddressList(fieldOf(folded, 'to')!), parseAddressList(fieldOf(bytes, 'to')!))
    assert.equal(parseAddressList(fieldOf(folded, 'to')!).length, people.length)
    assert.match(Buffer.from(folded).toString(), /^Subject: Hello\r\nTo: "Person,.*\r\n/)
    // Folded lines stay as they are.
    assert.deepEqual(withFoldedHeader(folded), folded)
  })
}

test('text is folded at its spaces only, and no line is blank', () => {
  const text = `${'word '.repeat(150)}  ${'x'.repeat(900)}${' '.repeat(90)}end   of it`
  const bytes = message(`Subject: ${text}`, `X-Long: ${'y'.repeat(2000)}`)
  const folded = withFoldedHeader(bytes)
  const lines = Buffer.from(folded).toString().split('\r\n\r\n')[0]!.split('\r\n')
  assert.ok(lines.every((line) => line.trim() !== ''))
  const unfolded = Buffer.from(folded)
    .toString()
    .replace(/\r\n(?=[ \t])/g, '')
  assert.equal(unfolded, bytes.toString(), 'without the added line breaks it is the same')
  // A word that has no place to be folded stays.
  assert.equal(lines.filter((line) => line.length > LINE_MAX).length, 1)
})

test('headers of parts are folded, but not those of what is signed', () => {
  const long = `X-Long: ${'word '.repeat(300)}end`
  const parts = (type: string) =>
    Buffer.from(
      [
        `Content-Type: ${type}; boundary=b`,
        'MIME-Version: 1.0',
        '',
        '--b',
        'Content-Type: text/plain',
        long,
        '',
        'one',
        '--b--',
        '',
      ].join('\r\n'),
    )
  const editsOf = (bytes: Buffer) => longLineEdits(bytes, readStructure(bytes).root).length
  assert.deepEqual([editsOf(parts('multipart/mixed')), editsOf(parts('multipart/signed'))], [1, 0])
})
