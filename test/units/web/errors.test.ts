// Errors of pages: what was thrown, as the pages tell it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError, noAnswer, toApiError } from '../../../web/src/api/errors.ts'

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
