// address/: single addresses, valid and not, against the strict mailbox of RFC 5321.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseMailbox } from '../../../src/mime/address.ts'
import { fixtureBytes, fixtureJson, fixtures, fixturesMissing } from '../../support/fixtures.ts'

const skip = fixturesMissing('address')

/** Categories of isemail that RFC 5321 Mailbox allows; the others are RFC 5322 forms, obsolete ones, or none. */
const ALLOWED = ['ISEMAIL_VALID_CATEGORY', 'ISEMAIL_DNSWARN', 'ISEMAIL_RFC5321']

test('isemail.json', { skip }, () => {
  const rows = fixtureJson<{ id: string; address: string; category: string }[]>('address/isemail.json')
  assert.ok(rows.length > 80)
  for (const { id, address, category } of rows) {
    assert.equal(parseMailbox(address) !== null, ALLOWED.includes(category), `${id}: ${JSON.stringify(address)}`)
  }
})

/** Valid there, none for us: a Mailbox is the address alone. */
const NOT_STRICT = new Map([
  ['Steve Jobs <steve@apple.com>', 'a display name is a matter of headers'],
  ['"<john@smith.com>" <john@smith.com>', 'a display name is a matter of headers'],
  ['(this is a comment)test@example.com', 'a comment is a matter of headers (RFC 5322 3.2.2)'],
  ['test@example.com (this is a comment)', 'a comment is a matter of headers (RFC 5322 3.2.2)'],
])

/** Cases of the list: comments and the lines that are nothing but one are left out. */
function flanker(file: string): string[] {
  const path = `address/flanker-mailbox_${file}.txt`
  if (!fixtures(path)) return []
  const lines = fixtureBytes(path).toString().split('\n')
  return lines.map((line) => line.replace(/\s{2,}#.*$/, '')).filter((line) => line.trim() !== '')
}

test('flanker-mailbox_valid.txt', { skip }, () => {
  for (const address of flanker('valid')) {
    assert.equal(parseMailbox(address) !== null, !NOT_STRICT.has(address), address)
  }
})

test('flanker-mailbox_invalid.txt', { skip }, () => {
  for (const address of flanker('invalid')) assert.equal(parseMailbox(address), null, address)
})
