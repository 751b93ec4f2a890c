// Transfer encodings undone piece by piece: whatever the pieces, the same bytes as of the whole.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeBody } from '../../../src/mime/decode.ts'
import { decodeStream } from '../../../src/mime/transfer-stream.ts'
import { Random } from '../../support/random.ts'

const WHOLES: Record<string, string[]> = {
  base64: [
    '',
    'SGVsbG8=',
    'SGVs\r\nbG8=\r\n',
    'SGVsbG8=SGVsbG8=',
    'SG-Vs_bG8',
    'A',
    'AB',
    'ABC',
    '=AB=C',
    '  S G V s  ',
    '\r\n\r\n',
  ],
  'quoted-printable': [
    ...[
      '',
      'plain',
      'a=3Db',
      'soft =\r\nbreak',
      'soft= \t\r\nbreak',
      'end =',
      'end =3',
      'a =zz b',
      'trail  \r\nnext\t \r\n',
    ],
    ...['trail  ', 'no\nbreak \nhere', 'cr\r \r\nx', '=\r\n=\r\n', '==3D=', 'Gr=C3=BC=C3=9Fe\r\n'],
  ],
}

function streamed(encoding: string, pieces: Uint8Array[]): Buffer {
  const decoder = decodeStream(encoding)!
  return Buffer.concat([...pieces.map((piece) => decoder.push(piece)), decoder.end()])
}

for (const [encoding, texts] of Object.entries(WHOLES)) {
  test(`${encoding}: byte by byte, and in pieces of every size`, () => {
    for (const text of texts) {
      const whole = Buffer.from(text, 'latin1')
      const expected = Buffer.from(decodeBody(whole, encoding))
      for (let size = 1; size <= Math.max(whole.length, 1); size++) {
        const pieces = []
        for (let at = 0; at < whole.length; at += size) pieces.push(whole.subarray(at, at + size))
        assert.deepEqual(streamed(encoding, pieces), expected, `${JSON.stringify(text)} in pieces of ${size}`)
      }
    }
  })

  test(`${encoding}: noise of its own characters`, () => {
    const random = new Random(11)
    const alphabet = encoding === 'base64' ? 'ABab01+/==\r\n -' : 'ab=3DzF \t\r\n=\r\n'
    for (let round = 0; round < 500; round++) {
      const length = random.below(60)
      const whole = Buffer.from(Array.from({ length }, () => alphabet[random.below(alphabet.length)]!).join(''))
      const cut = random.below(length + 1)
      const found = streamed(encoding, [whole.subarray(0, cut), whole.subarray(cut)])
      assert.deepEqual(found, Buffer.from(decodeBody(whole, encoding)), JSON.stringify(whole.toString()))
    }
  })
}

test('what changes nothing needs no decoder', () => {
  for (const encoding of ['7bit', '8bit', 'binary', 'x-unknown', null]) assert.equal(decodeStream(encoding), null)
})
