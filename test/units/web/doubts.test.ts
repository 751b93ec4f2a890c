// What the composer asks about before a message leaves.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { suggest } from '../../../web/src/base/suggest.ts'
import { doubtsOf, isOneLetterAway, type SentFields } from '../../../web/src/mail/compose/doubts.ts'

const person = (email: string, name = '') => ({ email, name })
const FIELDS: SentFields = { to: [], cc: [], bcc: [], subject: 'Plan', attachments: [], quote: null }
const contacts = [person('orders@nordtau.example', 'Nordtau Ropes'), person('kenji@survey.example', 'Kenji Mori')]

function kindsOf(fields: Partial<SentFields>, text = ''): string[] {
  const facts = { fields: { ...FIELDS, ...fields }, text, contacts, own: 'ana@harbour.example' }
  return doubtsOf(facts).map(({ kind }) => kind)
}

test('a domain is one letter away by one letter more, less, other, or two changed places', () => {
  for (const near of ['nordtauu.example', 'nordau.example', 'nordtao.example', 'nrodtau.example', 'nordtau.exampl'])
    assert.ok(isOneLetterAway(near, 'nordtau.example'), near)
  for (const far of ['nordtau.example', 'ordtau.exampl', 'rnodtua.example', 'other.example'])
    assert.ok(!isOneLetterAway(far, 'nordtau.example'), far)
})

test('an unknown domain beside a known one is asked about, a known and a far one are not', () => {
  assert.deepEqual(kindsOf({ to: [person('orders@nordtao.example')] }), ['domain'])
  assert.deepEqual(kindsOf({ to: [person('orders@NORDTAU.example')] }), [])
  assert.deepEqual(kindsOf({ to: [person('bo@elsewhere.example')] }), [])
})

test('strangers are asked about in an answer to several people, not in a new message', () => {
  const people = { to: [person('kenji@survey.example')], cc: [person('new@far.example'), person('bo@harbour.example')] }
  assert.deepEqual(kindsOf({ ...people, quote: { mode: 'all' } }), ['strangers'])
  assert.deepEqual(kindsOf(people), [])
})

test('a text that speaks of a file has one, and a subject is not blank', () => {
  assert.deepEqual(kindsOf({ subject: ' ' }, 'See attached.'), ['noSubject', 'noFile'])
  assert.deepEqual(kindsOf({}, 'No file here'), [])
})

test('people are suggested by the beginning of a word of their name or address, without those who are recipients', () => {
  const emails = (text: string, taken: string[] = []) =>
    suggest(contacts, text, new Set(taken)).map(({ email }) => email)
  assert.deepEqual(emails('rop'), ['orders@nordtau.example'])
  assert.deepEqual(emails('kenji m'), ['kenji@survey.example'])
  assert.deepEqual(emails('survey'), ['kenji@survey.example'])
  assert.deepEqual(emails('ken', ['kenji@survey.example']), [])
  assert.deepEqual(emails(' '), [])
})
