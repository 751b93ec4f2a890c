// Secrets of links in a message: wherever they stand in it, within bounds.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LINK_TOKENS_MAX, linkTokens } from '../../../src/mime/sign-in-links.ts'
import { readMessage } from '../../../src/workers/read-message.ts'
import { mailOf } from '../../support/mail.ts'

const TOKEN = `${'Aa0_-'.repeat(8)}xyz`
const link = (token = TOKEN) => `https://mail.example/owner/session/${token}`

function tokensOf(...lines: string[]): string[] {
  const bytes = mailOf(...lines)
  return linkTokens(bytes, readMessage(bytes).message.structure)
}

test('in a text, in HTML, in a rewritten address, in a message inside the message', () => {
  assert.deepEqual(tokensOf('From: a@b.example', '', `x ${link()} y ${link()}`), [TOKEN])
  const html = [
    'From: a@b.example',
    'Content-Type: text/html',
    '',
    `<a href="https://m.example/invites/${TOKEN}">x</a>`,
  ]
  assert.deepEqual(tokensOf(...html), [TOKEN])
  assert.deepEqual(tokensOf('From: a@b.example', '', `https://s.example/?u=${encodeURIComponent(link())}`), [TOKEN])
  const folded = link().replace(/^(.{40})(.*)$/, '$1=\r\n$2')
  assert.deepEqual(tokensOf('From: a@b.example', 'Content-Transfer-Encoding: quoted-printable', '', folded), [TOKEN])
  const inside = ['From: a@b.example', 'Content-Type: message/rfc822', '', 'From: c@d.example', '', link()]
  assert.deepEqual(tokensOf(...inside), [TOKEN])
  const attached = ['Content-Type: text/plain; name=a.txt', 'Content-Disposition: attachment', '', link()]
  const mixed = ['From: a@b.example', 'Content-Type: multipart/mixed; boundary=b', '', '--b', ...attached, '--b--']
  assert.deepEqual(tokensOf(...mixed), [TOKEN])
})

test('nothing that only resembles one, and no more than a few', () => {
  assert.deepEqual(tokensOf('From: a@b.example', '', link(TOKEN.slice(1)), TOKEN), [])
  const many = Array.from({ length: 50 }, (_, n) => link(`${TOKEN.slice(2)}${10 + n}`))
  assert.equal(tokensOf('From: a@b.example', '', ...many).length, LINK_TOKENS_MAX)
  assert.deepEqual(linkTokens(new Uint8Array(0), null), [])
})
