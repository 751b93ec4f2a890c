// Whatever is composed is read back as it was meant, and keeps the bounds of every carrier: drafts drawn at random.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { unencodedForm, withCrlf } from '../../../../src/mime/compose/body.ts'
import { compose } from '../../../../src/mime/compose/compose.ts'
import type { Draft } from '../../../../src/mime/compose/draft.ts'
import { fileName } from '../../../../src/mime/file-name.ts'
import { parseMessage, partText } from '../../../../src/mime/parse.ts'
import { findPart } from '../../../../src/mime/structure.ts'
import { asRead, draft, randomDraft, randomLine } from '../../../support/drafts.ts'
import { soundMail } from '../../../support/mail.ts'
import { Random } from '../../../support/random.ts'

const DRAFTS = 400
const TEXT_MAX = 1_000_000

/** RFC 5322 2.1.1 and 2.3, RFC 5321 4.5.3.1.6. */
function assertForm(bytes: Buffer): void {
  const text = bytes.toString('latin1')
  // An attached message takes no encoding (RFC 2046 5.2.1): it alone may hold more, and then the mail says so.
  const isEightBit = /^Content-Transfer-Encoding: 8bit\r$/m.test(text.slice(0, text.indexOf('\r\n\r\n') + 1))
  const hasMessage = /^Content-Type: message\/rfc822\r$/m.test(text)
  if (!isEightBit) assert.doesNotMatch(text, hasMessage ? /[^\x01-\x7f]/ : /[^\t\r\n -~]/, 'only ASCII')
  assert.doesNotMatch(text, /\0/)
  assert.doesNotMatch(text, /\r(?!\n)|(?<!\r)\n/, 'no bare CR or LF')
  assert.ok(text.endsWith('\r\n'))
  for (const line of text.split('\r\n')) assert.ok(line.length <= 998, `${line.length} characters in a line`)
  const header = text.slice(0, text.indexOf('\r\n\r\n'))
  for (const line of header.split('\r\n')) {
    assert.match(
      line,
      /^(?:[!-9;-~]+:(?: .*\S)?|[\t ].*\S.*)$/,
      'a line is a field or continues one, and is never blank',
    )
    for (const word of line.match(/=\?utf-8\?[QB]\?[^?]*\?=/g) ?? []) assert.ok(word.length <= 75, word)
  }
}

/** White space in a header is one space to a reader. */
const folded = (text: string) => text.replace(/[\x00-\x20\x7f]+/g, ' ').trim()

function assertSame(wanted: Draft, bytes: Buffer): void {
  const mail = soundMail(bytes)
  assert.equal(mail.problem, null)
  assert.equal(mail.subject, folded(wanted.subject))
  const lists = [
    [mail.from, [wanted.from]],
    [mail.to, wanted.to],
    [mail.cc, wanted.cc],
    [mail.replyTo, wanted.replyTo],
  ] as const
  for (const [found, meant] of lists) {
    assert.deepEqual(
      found,
      meant.map(({ email, name }) => ({ email, name: folded(name) })),
    )
  }
  assert.deepEqual(mail.bcc, [])
  assert.ok(!bytes.includes('secret.test'), 'nobody hidden is named')
  assert.equal(mail.messageId, wanted.messageId)
  assert.deepEqual(mail.inReplyTo, wanted.inReplyTo === null ? [] : [wanted.inReplyTo])
  assert.deepEqual(mail.references, wanted.references)
  assert.equal(mail.sentAt, wanted.date)
  assertTexts(wanted, bytes)
  const hash = (content: Uint8Array) => createHash('sha256').update(content).digest('hex')
  assert.deepEqual(
    mail.attachments
      .map(({ filename, sha256, disposition, contentId }) => [
        filename,
        Buffer.from(sha256).toString('hex'),
        disposition,
        contentId,
      ])
      .sort(),
    wanted.attachments
      .map(({ filename, type, content, disposition, contentId }) => [
        nameAsRead(filename),
        hash(asSent(filename, type, content)),
        disposition,
        contentId,
      ])
      .sort(),
  )
}

/** A message whose lines end in LF is one whose lines end in CRLF. */
function asSent(filename: string, type: string | null, content: Uint8Array): Uint8Array {
  const isNamed = type === null ? /\.eml$/i.test(filename) : type === 'message/rfc822'
  const isMessage = isNamed && /^[!-9;-~]+[ \t]*:/.test(Buffer.from(content).toString('latin1'))
  const lines = withCrlf(content)
  return isMessage && unencodedForm(lines) !== null ? lines : content
}

/** What is unseen in a file name is left out by whoever reads it. */
const nameAsRead = (name: string) => fileName(name)

function assertTexts(wanted: Draft, bytes: Buffer): void {
  const { structure, textPart, htmlPart } = parseMessage(bytes)
  const textOf = (id: string | null) => (id === null ? null : partText(bytes, findPart(structure!, id)!, TEXT_MAX))
  const same = (found: string | null, meant: string | null) => {
    // Alone in the mail, a last line without an end gets one.
    const alone = structure!.parts.length === 0 && found !== null && !asRead(meant ?? '').endsWith('\n')
    assert.equal(alone ? found!.replace(/\n$/, '') : found, meant === null ? null : asRead(meant))
  }
  same(textOf(htmlPart), wanted.htmlBody)
  // A blank text beside the HTML is no body to our reader.
  if (wanted.textBody !== null && (wanted.htmlBody === null || wanted.textBody.trim() !== ''))
    same(textOf(textPart), wanted.textBody)
}

test('random drafts are read back as they were meant', () => {
  for (let seed = 1; seed <= DRAFTS; seed++) {
    const wanted = randomDraft(new Random(seed))
    try {
      const { bytes } = compose(wanted)
      assertForm(bytes)
      assertSame(wanted, bytes)
      assert.ok(compose(structuredClone(wanted)).bytes.equals(bytes), 'the same draft gives the same bytes')
    } catch (error) {
      throw new Error(`the draft of seed ${seed}: ${(error as Error).message}`, { cause: error })
    }
  }
})

test('the largest of everything', () => {
  const random = new Random(7)
  const many = Array.from({ length: 50 }, (_, index) => ({ email: `r${index}@x.test`, name: randomLine(random, 255) }))
  for (const subject of [
    '🦊'.repeat(499),
    'x'.repeat(998),
    'é'.repeat(998),
    `${'ab '.repeat(332)}ab`,
    '?'.repeat(998),
  ]) {
    const wanted = draft({
      subject,
      to: many,
      attachments: Array.from({ length: 10 }, (_, index) => ({
        filename: `${'ü'.repeat(240)}${index}.pdf`,
        type: null,
        content: Buffer.alloc(10_000, index),
        disposition: 'attachment' as const,
        contentId: null,
      })),
    })
    const { bytes } = compose(wanted)
    assertForm(bytes)
    assertSame(wanted, bytes)
  }
})
