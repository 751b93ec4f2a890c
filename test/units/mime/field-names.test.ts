// Names of header fields, whether they are known or not, in any case.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fieldNameAt } from '../../../src/mime/field-names.ts'
import { Random } from '../../support/random.ts'

const nameIn = (line: string) => fieldNameAt(Buffer.from(line), 0, line.indexOf(':'))

test('a name is read in lower case, up to white space', () => {
  assert.equal(nameIn('Message-ID: <a@b>'), 'message-id')
  assert.equal(nameIn('SUBJECT : Hello'), 'subject')
  assert.equal(nameIn('X-Nobody-Knows-[It]\t: 1'), 'x-nobody-knows-[it]')
  assert.equal(nameIn(': nothing'), '')
})

test('no other name is taken for a known one', () => {
  const random = new Random(5)
  for (let time = 0; time < 20_000; time++) {
    const name = Array.from({ length: 1 + random.below(6) }, () => random.pick([...'tocbdaefrmTOCBDAEFRM-'])).join('')
    assert.equal(nameIn(`${name}: x`), name.toLowerCase())
  }
})
