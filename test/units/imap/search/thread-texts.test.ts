// Threads that are kept: for the same messages only, and within their bound.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KEPT_BYTES, ThreadTexts } from '../../../../src/imap/search/thread-texts.ts'

const uids = (...all: number[]) => Uint32Array.from(all)

test('a text is returned for the same folder, algorithm and UIDs', () => {
  const texts = new ThreadTexts()
  const text = Buffer.from('(1 2)(3)')
  texts.set(1, 'REFERENCES', { uids: uids(1, 2, 3), text })
  assert.equal(texts.get(1, 'REFERENCES', uids(1, 2, 3)), text)
  for (const other of [uids(1, 2), uids(1, 2, 4), uids(1, 2, 3, 4)])
    assert.equal(texts.get(1, 'REFERENCES', other), undefined, other.join())
  assert.equal(texts.get(2, 'REFERENCES', uids(1, 2, 3)), undefined)
  assert.equal(texts.get(1, 'ORDEREDSUBJECT', uids(1, 2, 3)), undefined)
  texts.set(1, 'REFERENCES', { uids: uids(1), text: Buffer.from('(1)') })
  assert.equal(texts.get(1, 'REFERENCES', uids(1, 2, 3)), undefined)
})

test('the one that was not used for the longest time gives way', () => {
  const texts = new ThreadTexts()
  const half = { uids: uids(1), text: new Uint8Array(KEPT_BYTES / 2 - 100) }
  texts.set(1, 'REFERENCES', half)
  texts.set(2, 'REFERENCES', half)
  assert.ok(texts.get(1, 'REFERENCES', uids(1)))
  texts.set(3, 'REFERENCES', half)
  assert.deepEqual(
    [1, 2, 3].map((folder) => texts.get(folder, 'REFERENCES', uids(1)) !== undefined),
    [true, false, true],
  )
  texts.set(4, 'REFERENCES', { uids: uids(1), text: new Uint8Array(KEPT_BYTES) })
  assert.equal(texts.get(4, 'REFERENCES', uids(1)), undefined)
})
