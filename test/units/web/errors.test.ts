// Errors of pages: what was thrown, as the pages tell it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError, noAnswer, toApiError } from '../../../web/src/api/errors.ts'
import { changeShown } from '../../../web/src/live/change.ts'

test('a person who closes the dialog of a passkey is not a server that does not answer, nor a browser that refuses', () => {
  const codeOf = (error: unknown) => toApiError(error).code
  assert.equal(codeOf(new DOMException('The operation timed out.', 'NotAllowedError')), 'cancelled')
  assert.equal(codeOf(new DOMException('The operation was aborted.', 'AbortError')), 'cancelled')
  assert.equal(codeOf(noAnswer()), 'no_answer')
  const refused = toApiError(new DOMException('The relying party ID is not valid.', 'SecurityError'))
  assert.deepEqual([refused.code, refused.message], ['failed', 'The relying party ID is not valid.'])
  const known = new ApiError(409, { code: 'conflict', message: 'There is one.' }, 'req_1')
  assert.equal(toApiError(known), known)
  assert.equal(toApiError('text').message, 'text')
})

test('a change outlives what the use of a record changed since it was read, not what another person changed', async () => {
  const otherVersion = new ApiError(409, { code: 'conflict', message: '', param: 'If-Match' }, null)
  const save = async (present: { name: string; used: number }, busy = 0) => {
    const sent: string[] = []
    const tags = ['second', 'third', 'fourth']
    const saved = await changeShown({
      seen: { value: { name: 'Ana', used: 1 }, tag: 'first' },
      shown: ({ name }) => name,
      read: async () => ({ value: present, tag: tags.shift()! }),
      async send(tag) {
        sent.push(tag)
        if (sent.length <= busy) throw otherVersion
        return { value: { ...present, name: 'Eva' }, tag: 'saved' }
      },
    })
    assert.deepEqual(saved, { value: { ...present, name: 'Eva' }, tag: 'saved' })
    return sent
  }
  assert.deepEqual(await save({ name: 'Ana', used: 1 }), ['first'])
  assert.deepEqual(await save({ name: 'Ana', used: 2 }, 2), ['first', 'second', 'third'])
  await assert.rejects(save({ name: 'Ana', used: 2 }, 3), otherVersion, 'not for ever')
  await assert.rejects(save({ name: 'Ben', used: 1 }, 1), otherVersion)
  assert.ok(otherVersion.isOtherVersion)
  assert.ok(!new ApiError(409, { code: 'conflict', message: 'There is one.' }, null).isOtherVersion)
})

test('a value that is taken is an error of its field, like one that is not valid', () => {
  const taken = new ApiError(409, { code: 'conflict', message: 'The address is already in use.', param: 'email' }, null)
  assert.deepEqual(
    [taken.fieldMessage('email'), taken.fieldMessage('quota')],
    ['The address is already in use.', undefined],
  )
  const errors = [{ field: 'quota.day', message: 'Too many.' }]
  const listed = new ApiError(422, { code: 'validation_error', message: 'Not valid.', param: 'email', errors }, null)
  assert.deepEqual([listed.fieldMessage('email'), listed.fieldMessage('quota')], [undefined, 'Too many.'])
})
