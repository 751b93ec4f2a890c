// Errors have one name inside and one in each protocol: the tables of HTTP and SMTP are complete and follow their rules.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ERRORS } from '../../src/http/errors.ts'
import { refusals, type SmtpRefusal } from '../../src/inbound/refusals.ts'
import { replies, type SmtpReply } from '../../src/smtp/replies.ts'
import { recipientReplies, signInReplies, submissionReplies } from '../../src/submission/replies.ts'
import { sources } from '../support/source.ts'

/** docs/design/contract.md §7 and docs/design/http.md §5: status, code, retryable. */
const TABLE = [
  [400, 'invalid_parameter', false],
  [400, 'missing_parameter', false],
  [401, 'authentication_required', false],
  [403, 'insufficient_permissions', false],
  [404, 'not_found', false],
  [405, 'method_not_allowed', false],
  [406, 'not_acceptable', false],
  [409, 'conflict', false],
  [409, 'idempotency_conflict', false],
  [413, 'payload_too_large', false],
  [415, 'unsupported_media_type', false],
  [416, 'range_not_satisfiable', false],
  [422, 'validation_error', false],
  [429, 'rate_limit_exceeded', true],
  [500, 'internal_error', true],
  [503, 'service_unavailable', true],
]

const submission = [submissionReplies, recipientReplies, signInReplies].flatMap((list) => Object.values(list))
const smtp: SmtpReply[] = [...Object.values(replies), ...Object.values(refusals), ...submission].map((entry) => {
  const made: SmtpReply | SmtpRefusal = typeof entry === 'function' ? entry('9' as never) : entry
  return 'reply' in made ? made.reply : made
})

test('every product error has its status', () => {
  const rows = Object.entries(ERRORS).map(([code, { status, retryable }]) => [status, code, retryable])
  const byText = (a: unknown[], b: unknown[]) => String(a).localeCompare(String(b))
  assert.deepEqual(rows.sort(byText), [...TABLE].sort(byText))
})

test('every product error is thrown somewhere', () => {
  const lists = ['src/base/errors.ts', 'src/http/errors.ts']
  const thrown = new Set(
    sources()
      .filter(({ path }) => !lists.includes(path))
      .flatMap(({ literals }) => literals.map(({ text }) => text)),
  )
  assert.deepEqual(
    Object.keys(ERRORS).filter((code) => !thrown.has(code)),
    [],
  )
})

test('an enhanced code is of the class of its reply (RFC 2034 3)', () => {
  const wrong = smtp.filter(({ code, enhanced }) => enhanced !== '' && enhanced[0] !== String(code)[0])
  assert.deepEqual(wrong, [])
})

test('a reply of SMTP is one line of ASCII that RFC 5321 4.5.3.1.5 allows', () => {
  const wrong = smtp.filter(({ code, enhanced, text }) => {
    return !/^[\x20-\x7e]+$/.test(text) || `${code} ${enhanced} ${text}\r\n`.length > 512
  })
  assert.deepEqual(wrong, [])
})
