// Codes and links that programs wait for: how many are found, and how many of those are right.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { cleanContent } from '../../../src/content/clean/clean.ts'
import type { Extracted } from '../../../src/content/codes/extracted.ts'
import { type CodeMail, codeMails } from '../../support/code-mails.ts'

function extracted(mail: { subject: string; text: string | null; html: string | null }): Extracted[] {
  const options = { format: 'text', chars: 0, includeQuoted: false, includeSignature: false, links: 'none' } as const
  return cleanContent({ ...mail, incomplete: false, fromDomain: 'app.example' }, options).extracted
}

/** Values of certain extractions, as the vectors name them. */
function certain(mail: CodeMail): string[] {
  return extracted(mail)
    .filter(({ confidence }) => confidence === 'high')
    .map(({ kind, value }) => `${kind} ${value}`)
}

function measure(name: 'development' | 'frozen', mails: readonly CodeMail[]): { precision: number; recall: number } {
  let [right, wrong, missing] = [0, 0, 0]
  const faults = new Set<string>()
  for (const mail of mails) {
    const found = certain(mail)
    const extra = found.filter((value) => !mail.expected.includes(value))
    const missed = mail.expected.filter((value) => !found.includes(value))
    right += found.length - extra.length
    wrong += extra.length
    missing += missed.length
    for (const value of extra) faults.add(`  wrong: ${value} in "${mail.layout}"`)
    for (const value of missed) faults.add(`  missing: ${value} in "${mail.layout}"`)
  }
  const [precision, recall] = [right / (right + wrong), right / (right + missing)]
  const figures = `precision ${precision.toFixed(4)}, recall ${recall.toFixed(4)}`
  console.log(`${name}: ${mails.length} messages, ${right + wrong} extractions, ${figures}`)
  for (const fault of [...faults].slice(0, 20)) console.log(fault)
  return { precision, recall }
}

describe('the corpus', () => {
  for (const [name, fills, count] of [
    ['development', 3, 150],
    ['frozen', 5, 600],
  ] as const) {
    test(`${name}: at least 99 of 100 extractions are right, and 95 of 100 values are found`, () => {
      const mails = codeMails(name, fills)
      assert.equal(mails.length, count)
      assert.equal(new Set(mails.map(({ language }) => language)).size, 10)
      const { precision, recall } = measure(name, mails)
      assert.ok(precision >= 0.99, `precision ${precision}`)
      assert.ok(recall >= 0.95, `recall ${recall}`)
    })
  }
})

const ofText = (text: string, subject = '') =>
  extracted({ subject, text, html: null }).map(({ value, confidence, isAmbiguous }) => [value, confidence, isAmbiguous])

test('a code that is bound to an origin is certain without any other word', () => {
  assert.deepEqual(ofText('Welcome back.\n\n@app.example #747723'), [['747723', 'high', false]])
})

test('two codes that are equally likely are ambiguous', () => {
  const text = 'Your verification code is 111222. It expires in 10 minutes.\nYour backup security code is 333444.'
  assert.deepEqual(ofText(text), [
    ['111222', 'high', true],
    ['333444', 'high', true],
  ])
})

test('quotations and signatures hold no codes', () => {
  const text =
    'Thanks!\n\nOn 2030-01-02 10:00, Ana wrote:\n> Your verification code is 111222.\n\n-- \nSecurity code 333444'
  assert.deepEqual(ofText(text), [])
})

test('a link says where it leads: over https, with a secret, and perhaps not to the host that its words name', () => {
  const token = 'f3a9c1d27b6e48509a1c2b3d4e5f6071'
  const link = (url: string, words: string) =>
    extracted({ subject: '', text: null, html: `<p><a href="${url}">${words}</a></p>` })
  const [found] = link(`https://evil.example/${token}`, 'Reset password at bank.example')
  assert.deepEqual([found?.kind, found?.host, found?.isOtherHost], ['reset', 'evil.example', true])
  assert.deepEqual(link(`http://app.example/${token}`, 'Reset password'), [])
  assert.deepEqual(link('https://app.example/reset-password-page', 'Reset password'), [])
  assert.deepEqual(link(`https://app.example/${token}`, 'Unsubscribe'), [])
})

test('long lines and many candidates are read up to a bound', () => {
  const many = Array.from({ length: 5000 }, (_, n) => `Your code: ${100_000 + n}`).join('\n')
  assert.ok(
    extracted({ subject: 'x'.repeat(100_000), text: `${'code 1234 '.repeat(100_000)}\n${many}`, html: null }).length <=
      10,
  )
})
