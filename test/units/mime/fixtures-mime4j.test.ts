// mime/mime4j-testmsgs and the MIME-tools torture messages: part tree and decoded bodies, byte for byte.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeBody } from '../../../src/mime/decode.ts'
import type { Part } from '../../../src/mime/message.ts'
import { fixtureBytes, fixtureNames, fixtures, fixturesMissing } from '../../support/fixtures.ts'
import { soundMail } from '../../support/mail.ts'

/** Cases we read otherwise, and why. */
const DIFFERS = new Map([
  ['bad-newlines-multiple-parts-base64', 'a mail in base64 has no byte offsets inside: it stays one closed part'],
  ['base64encoded-rfc822message', 'a mail in base64 has no byte offsets inside: it stays one closed part'],
  ['malformedHeader-noheader', 'text without any header is the body, all of it'],
  ['malformedHeaderStartsBody-noheader', 'text without any header is the body: mime4j loses the second line'],
  ['frag', 'base64 cut off inside a group of four: the bytes that are there count'],
  ['multi-frag', 'base64 cut off inside a group of four: the bytes that are there count'],
])

for (const folder of ['mime/mime4j-testmsgs', 'mime/mime4j-mimetools-testmsgs']) {
  const skip = fixturesMissing(folder)
  for (const name of fixtureNames(folder, '.msg').map((file) => file.slice(0, -4))) {
    test(name, { skip }, () => {
      const bytes = fixtureBytes(`${folder}/${name}.msg`)
      const oracle = readOracle(fixtureBytes(`${folder}/${name}_decoded.xml`).toString())
      const leaves: Part[] = []
      const shape = `[${draw(soundMail(bytes).structure!, leaves)}]`
      const bodies = leaves.map((part) =>
        plain(decodeBody(bytes.subarray(part.bodyStart, part.bodyEnd), part.encoding)),
      )
      const expected = oracle.files.map((file) =>
        fixtures(`${folder}/${file}`) ? plain(fixtureBytes(`${folder}/${file}`)) : '',
      )
      if (DIFFERS.has(name)) assert.notDeepEqual([shape, bodies], [oracle.shape, expected])
      else assert.deepEqual([shape, bodies], [oracle.shape, expected])
    })
  }
}

/** Line ends of text are the platform's in the oracle. */
function plain(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1').replaceAll('\r\n', '\n')
}

/** "[" a mail "]", "(" a multipart ")", "." a body. */
function draw(part: Part, leaves: Part[]): string {
  const inside = part.parts.map((child) => draw(child, leaves)).join('')
  if (part.type.startsWith('multipart/')) return `(${inside})`
  if (part.parts.length > 0) return `[${inside}]`
  leaves.push(part)
  return '.'
}

function readOracle(xml: string): { shape: string; files: string[] } {
  const files: string[] = []
  const marks: Record<string, string> = { '<message>': '[', '</message>': ']', '<multipart>': '(', '</multipart>': ')' }
  const shape = xml
    .matchAll(/<\/?(?:message|multipart)>|<(?:text|binary)-body name="([^"]*)"\/>/g)
    .map(([tag, file]) => {
      if (file !== undefined) files.push(file)
      return marks[tag] ?? '.'
    })
  return { shape: [...shape].join(''), files }
}
