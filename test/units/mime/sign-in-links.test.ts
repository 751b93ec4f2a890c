// Secrets of links in a message: wherever they stand in it, within bounds.

import assert from 'node:assert/strict'
import process from 'node:process'
import { test } from 'node:test'
import { ATTACHED_MESSAGE_MAX, LINK_TOKENS_MAX, linkTokens, SEARCHED_MAX } from '../../../src/mime/sign-in-links.ts'
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

const HEAD = 'From: a@b.example'
const url = link()
const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64').replace(/.{76}/g, '$&\r\n')
const v2 = (text: string) =>
  text.replace(/[^A-Za-z0-9./]/g, (one) => `-${one.charCodeAt(0).toString(16).toUpperCase()}`).replaceAll('/', '_')

/** A message with one attached file. */
function attached(type: string, encoding: string, content: string): string[] {
  const file = [
    `Content-Type: ${type}`,
    'Content-Disposition: attachment; filename=x',
    `Content-Transfer-Encoding: ${encoding}`,
  ]
  return [HEAD, 'Content-Type: multipart/mixed; boundary=b', '', '--b', '', 'see', '--b', ...file, '', content, '--b--']
}

/** Every place to break the link, in a form of broken lines. */
const broken = (glue: string) =>
  Array.from({ length: url.length - 8 }, (_, n) => url.slice(0, n + 8) + glue + url.slice(n + 8))

const rewritten: [string, string][] = [
  ['Proofpoint v2', `https://urldefense.proofpoint.com/v2/url?u=${v2(url)}&d=DwMFaQ&c=abc&r=def`],
  ['Proofpoint v2 in HTML', `<a href="https://urldefense.proofpoint.com/v2/url?u=${v2(url)}&amp;d=DwMF">x</a>`],
  [
    'Proofpoint v2, wrapped',
    `> https://urldefense.proofpoint.com/v2/url?u=${v2(url).replace(/^(.{50})/, '$1\r\n> ')}&d=D`,
  ],
  ['Proofpoint v1', `https://urldefense.proofpoint.com/v1/url?u=${url}&k=abc`],
  ['Proofpoint v3', `https://urldefense.com/v3/__${url}__;!!abc`],
  ['Proofpoint v3, wrapped', `https://urldefense.com/v3/__${url.replace(/^(.{60})/, '$1\r\n')}__;!!abc`],
  ['Sophos', `https://eu.protection.sophos.com?d=m.example&u=${Buffer.from(url).toString('base64')}&i=1`],
  [
    'escaped to the last character',
    `https://s.example/?u=${[...url].map((c) => `%${c.charCodeAt(0).toString(16)}`).join('')}`,
  ],
  ['character references', `<a href="${[...url].map((c) => `&#${c.charCodeAt(0)};`).join('')}">x</a>`],
]
for (const [what, text] of rewritten) {
  test(`rewritten: ${what}`, () => assert.ok(tokensOf(HEAD, '', text).includes(TOKEN), tokensOf(HEAD, '', text).join()))
}

test('broken over lines at any place', () => {
  for (const glue of ['\r\n', ' \r\n', '\r\n> ', '\r\n>> ', ' \r\n> > ', '\r\n    ', '=\r\n', '\r\n| ', '=\r\n> ']) {
    for (const text of broken(glue)) assert.deepEqual(tokensOf(HEAD, '', `> Go ${text}`, '> on'), [TOKEN], text)
  }
  const invitation = `https://mail.example/invites/${TOKEN}`
  for (let at = 8; at < invitation.length; at++) {
    const text = `${invitation.slice(0, at)}\r\n> ${invitation.slice(at)}`
    assert.deepEqual(tokensOf(HEAD, '', text), [TOKEN], text)
  }
  for (const text of broken(' \r\n')) {
    assert.deepEqual(tokensOf(HEAD, 'Content-Type: text/plain; format=flowed; delsp=yes', '', text, 'next'), [TOKEN])
  }
  for (const text of broken('\r\n ')) assert.deepEqual(tokensOf(HEAD, `Subject: ${text}`, '', 'x'), [TOKEN])
})

const inside = [HEAD, 'MIME-Version: 1.0', 'Content-Transfer-Encoding: base64', '', base64(`Go to ${url} now`)].join(
  '\r\n',
)
const wrapped = attached('application/octet-stream', 'base64', base64(inside)).join('\r\n')
const filler = `${'x'.repeat(70)}\r\n`
const files: [string, string[]][] = [
  ['a message with base64 text', attached('application/octet-stream', 'base64', base64(inside))],
  ['the same as 8bit', attached('application/octet-stream', '8bit', inside)],
  ['the same as text/plain', attached('text/plain', 'base64', base64(inside))],
  ['the same as message/rfc822 in base64', attached('message/rfc822', 'base64', base64(inside))],
  ['the same in an mbox file', attached('application/mbox', 'base64', base64(`From a@b Fri Nov 20\r\n${inside}`))],
  ['a message in a file in a file', attached('application/octet-stream', 'base64', base64(wrapped))],
  ['a large file in base64', attached('application/octet-stream', 'base64', base64(filler.repeat(20_000) + url))],
  ['a large file in 8bit', attached('application/octet-stream', '8bit', filler.repeat(20_000) + url)],
  [
    'a large file in quoted-printable',
    attached('a/b', 'quoted-printable', filler.repeat(9000) + url.replace('ion', 'i=\r\non')),
  ],
  ['a text of many bytes', attached('text/plain', '8bit', filler.repeat(40_000) + url)],
  [
    'a large file, broken over lines',
    attached('application/octet-stream', 'base64', base64(filler.repeat(20_000) + broken('\r\n> ')[40])),
  ],
  [
    'UTF-16',
    attached('application/vnd.ms-outlook', 'base64', base64(Buffer.from(filler.repeat(9000) + url, 'utf16le'))),
  ],
]
for (const [what, lines] of files) {
  test(`attached: ${what}`, () => assert.deepEqual(tokensOf(...lines), [TOKEN]))
}

test('at the edges of what is searched at a time', () => {
  for (let shift = -80; shift <= 0; shift += 8) {
    const content = base64(`${'x'.repeat(196_608 + shift)}${url} ${'y'.repeat(300_000)}`)
    assert.deepEqual(tokensOf(...attached('application/octet-stream', 'base64', content)), [TOKEN])
  }
})

test('bounds: large and nested files take limited time', () => {
  const nested = Array.from({ length: 8 }).reduce<string>(
    (text) => attached('a/b', 'base64', base64(text)).join('\r\n'),
    inside,
  )
  assert.deepEqual(tokensOf(nested), [])
  const large = [
    'session/',
    '\n',
    ' ',
    '> ',
    '\0',
    '%',
    '&#',
    'https-3A__',
    'aHR0c',
    `session/${'a'.repeat(42)}\n`,
    'A: b\n',
  ]
  for (const piece of large) {
    const bytes = mailOf(...attached('a/b', '8bit', piece.repeat(Math.ceil((2 * ATTACHED_MESSAGE_MAX) / piece.length))))
    const { structure } = readMessage(bytes).message
    const before = process.cpuUsage()
    linkTokens(bytes, structure)
    assert.ok(process.cpuUsage(before).user < 3_000_000, JSON.stringify(piece))
  }
  const behind = attached('a/b', '8bit', `${' '.repeat(SEARCHED_MAX)}${url}`)
  assert.deepEqual(tokensOf(...behind), [])
})
