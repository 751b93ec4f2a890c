// The rules of a mail by itself: recipients, headers that are members, sizes, and the time it leaves.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AHEAD_MAX_MS, AHEAD_MIN_MS } from '../../../../src/outbound/model/limits.ts'
import type { NewMail } from '../../../../src/outbound/model/new-message.ts'
import {
  ATTACHED_BYTES_MAX,
  type CheckedMail,
  checkMail,
  RECIPIENTS_MAX,
} from '../../../../src/outbound/submit/checked-message.ts'
import { failure } from '../../../support/directory.ts'
import { person } from '../../../support/mailbox.ts'
import { newMail } from '../../../support/new-mail.ts'

const NOW = Date.UTC(2030, 0, 2)

function check(more: Partial<NewMail>, rules: Partial<Parameters<typeof checkMail>[1]> = {}): CheckedMail {
  return checkMail(newMail(more), { now: NOW, extra: [], oneTo: true, ...rules })
}

const refused = (more: Partial<NewMail>, code: string, issue?: { field: string; code: string }) =>
  assert.throws(() => check(more), failure(code, issue))

const file = (sizeBytes: number, filename = 'a.zip') => ({
  ...{ filename, type: null, content: new Uint8Array(1), sizeBytes, encoding: null },
  ...{ disposition: 'attachment' as const, contentId: null },
})

describe('recipients', () => {
  test('are each there once, whatever their case, in the order they are named', () => {
    const { recipients, to, cc, bcc } = check({
      to: [person('Ana@Shop.Test')],
      cc: [person('ben@shop.test'), person('ANA@shop.test')],
      bcc: [person('eve@shop.test'), person('Ben@shop.test')],
    })
    assert.deepEqual(recipients, ['Ana@shop.test', 'ben@shop.test', 'eve@shop.test'])
    assert.deepEqual([to.length, cc.length, bcc.length], [1, 2, 2], 'what is shown stays')
  })

  test(`are ${RECIPIENTS_MAX} different ones at most`, () => {
    const crowd = (count: number) => Array.from({ length: count }, (_, i) => person(`u${i}@shop.test`))
    assert.equal(check({ to: [person('u0@shop.test')], cc: crowd(RECIPIENTS_MAX) }).recipients.length, RECIPIENTS_MAX)
    refused({ to: [person('one@more.test')], cc: crowd(RECIPIENTS_MAX) }, 'validation_error', {
      field: 'to',
      code: 'too_big',
    })
  })

  test('are named as they stand on the wire', () => {
    const wrong = { to: [person('x')] }
    assert.throws(() => check(wrong), failure('validation_error', { field: 'to.email', code: 'invalid_format' }))
    const listed = failure('validation_error', { field: 'to.0.email', code: 'invalid_format' })
    assert.throws(() => check(wrong, { oneTo: false }), listed)
  })
})

describe('headers that have members of their own', () => {
  test('become those members', () => {
    const { headers, replyTo, inReplyTo, references } = check({
      headers: {
        'X-A': '1',
        'Reply-To': 'Desk <desk@shop.test>',
        'In-Reply-To': '<a@b.test>',
        References: '<a@b.test>',
      },
    })
    assert.deepEqual(headers, [{ name: 'X-A', value: '1' }])
    assert.deepEqual([replyTo, inReplyTo, references], [[person('desk@shop.test', 'Desk')], 'a@b.test', ['a@b.test']])
  })

  test('are refused beside those members', () => {
    const both = (name: string) => ({ field: `custom_headers.${name}`, code: 'forbidden_value' })
    refused(
      { replyTo: [person('a@b.test')], headers: { 'reply-to': 'c@d.test' } },
      'validation_error',
      both('Reply-To'),
    )
    const answer = { inReplyTo: `msg_${'a'.repeat(24)}` }
    refused({ ...answer, headers: { 'In-Reply-To': '<a@b.test>' } }, 'validation_error', both('In-Reply-To'))
    refused({ ...answer, headers: { References: '<a@b.test>' } }, 'validation_error', both('References'))
  })
})

describe('attachments', () => {
  test('have a size together, decoded, and keep what they were given', () => {
    const encoded = { ...file(ATTACHED_BYTES_MAX - 10), encoding: 'base64' }
    const { attachments } = check({ attachments: [encoded, file(10, 'b.zip ')] })
    assert.deepEqual(
      attachments.map(({ filename, encoding, sizeBytes }) => [filename, encoding, sizeBytes]),
      [
        ['a.zip', 'base64', ATTACHED_BYTES_MAX - 10],
        ['b.zip', null, 10],
      ],
    )
    refused({ attachments: [encoded, file(11, 'b.zip')] }, 'payload_too_large')
  })

  test('may have an extension the operator allows', () => {
    refused({ attachments: [file(1, 'a.cad')] }, 'validation_error', {
      field: 'attachments.0.filename',
      code: 'forbidden_value',
    })
    const [allowed] = checkMail(newMail({ attachments: [file(1, 'a.cad')] }), {
      ...{ now: NOW, extra: ['cad'], oneTo: true },
    }).attachments
    assert.equal(allowed!.filename, 'a.cad')
  })
})

describe('the time it leaves', () => {
  test('is now, the one asked for, and behind that the time to think', () => {
    assert.equal(check({}).sendAt, NOW)
    assert.equal(check({ undoSeconds: 10 }).sendAt, NOW + 10_000)
    assert.equal(check({ sendAt: NOW + AHEAD_MIN_MS, undoSeconds: 10 }).sendAt, NOW + AHEAD_MIN_MS + 10_000)
    assert.equal(check({ sendAt: NOW + AHEAD_MAX_MS }).sendAt, NOW + AHEAD_MAX_MS)
  })

  test('lies neither behind us nor too far ahead', () => {
    refused({ sendAt: NOW + AHEAD_MIN_MS - 1 }, 'validation_error', { field: 'send_at', code: 'too_small' })
    refused({ sendAt: NOW + AHEAD_MAX_MS + 1 }, 'validation_error', { field: 'send_at', code: 'too_big' })
  })
})
