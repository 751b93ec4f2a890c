// Announced messages that appear in a folder: a long list of them is read as far as a page of heads needs it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Intent, OpenIntents } from '../../../src/sync/ledger/intents.ts'

const announced = Array.from({ length: 5000 }, (_, at): Intent => {
  const n = at + 1
  return { n, kind: 'append', message: n, folder: 1, key: null, messageId: `${n}@here.test`, at: null }
})
const headOf = (messageId: string) => ({ key: new Uint8Array(16), head: { messageId } })

test('messages that appear in the order in which they were announced need the beginning of the list', () => {
  let read = 0
  const announcedIn = (_remote: number, _folder: number, { after, limit }: { after: number; limit: number }) => {
    const page = announced.slice(after, after + limit)
    read += page.length
    return page
  }
  const open = new OpenIntents({ announcedIn }, 1, 1)
  const take = (id: string) => open.take(headOf(`<${id}@here.test>`), () => false)?.n
  for (let n = 1; n <= 500; n++) assert.equal(take(String(n)), n)
  assert.equal(read, 1000)
  assert.deepEqual([take('4000'), take('else'), take('1')], [4000, undefined, undefined], 'wherever it is, and once')
  assert.equal(read, announced.length)
})
