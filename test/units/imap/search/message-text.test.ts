// SEARCH BODY in content that is read in pieces: what is cut between two of them is found.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MessagePage } from '../../../../src/imap/fetch/message-content.ts'
import { matchContent } from '../../../../src/imap/search/message-text.ts'
import { parseMessage } from '../../../../src/mime/parse.ts'

const PIECE = 256 * 1024

/** Whether BODY of this value is found in a message. */
async function found(header: string, body: Buffer, value: string): Promise<boolean> {
  const bytes = Buffer.concat([Buffer.from(`${header}\r\n\r\n`), body])
  const root = (await parseMessage(bytes)).structure!
  const content = {
    structure: async () => root,
    bytes: async (_: number, start: number, end: number) => bytes.subarray(start, end),
  } as unknown as MessagePage
  const key = { kind: 'text', scope: 'body', value, isFuzzy: false } as const
  return (await matchContent(content, 1, [key])).get(key)!
}

/** Text whose byte at `PIECE` is the middle of what stands `before` bytes behind its begin. */
function across(needle: Buffer, before: number): Buffer {
  const filler = `${'y'.repeat(70)}\r\n`.repeat(PIECE / 72 + 1)
  return Buffer.concat([Buffer.from(filler.slice(0, PIECE - before)), needle, Buffer.from(' end\r\n')])
}

test('a character that is cut between two pieces is found, in named charsets and without one', async () => {
  const type = (charset: string) => `Content-Type: text/plain${charset}\r\nContent-Transfer-Encoding: 8bit`
  const needle = Buffer.from('grün')
  for (let before = 0; before <= needle.length; before++) {
    assert.ok(await found(type('; charset=utf-8'), across(needle, before), 'GRÜN'), `utf-8, ${before}`)
    assert.ok(await found(type(''), across(needle, before), 'grün'), `without a charset, ${before}`)
    const decomposed = Buffer.from('gru\u0308n')
    assert.ok(await found(type('; charset=utf-8'), across(decomposed, before), 'grün'), `decomposed, ${before}`)
  }
  const japanese = Buffer.from('\x93\xfa\x96\x7b\x8c\xea', 'latin1')
  for (let before = 0; before <= japanese.length; before++)
    assert.ok(await found(type('; charset=shift_jis'), across(japanese, before), '日本語'), `shift_jis, ${before}`)
  assert.ok(!(await found(type('; charset=utf-8'), across(needle, 3), 'grunt')))
})
