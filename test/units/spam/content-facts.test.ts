// Facts about what a message claims and contains, each from a message that has it and one that only looks similar.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseMessage } from '../../../src/mime/parse.ts'
import { claimFacts } from '../../../src/spam/facts/claims.ts'
import { contentFacts } from '../../../src/spam/facts/content.ts'
import { readMaterial } from '../../../src/spam/material.ts'

interface Draft {
  from?: string
  subject?: string
  replyTo?: string
  html?: string
  text?: string
  file?: string
  content?: string
  isList?: boolean
}

function factsOf({
  from = 'Ann <ann@out.example>',
  subject = 'Hello',
  replyTo,
  html,
  text = 'Hi',
  file,
  content = 'x',
  isList,
}: Draft) {
  const head = [
    `From: ${from}`,
    `Subject: ${subject}`,
    ...(replyTo ? [`Reply-To: ${replyTo}`] : []),
    'MIME-Version: 1.0',
  ]
  const body = html === undefined ? ['text/plain', text] : ['text/html', html]
  const part = `Content-Type: ${body[0]}; charset=utf-8\r\n\r\n${body[1]}\r\n`
  const attached = `Content-Type: application/octet-stream\r\nContent-Disposition: attachment; filename="${file}"\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from(content, 'latin1').toString('base64')}\r\n`
  const whole = file
    ? `Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n${part}--b\r\n${attached}--b--\r\n`
    : part
  const bytes = Buffer.from(`${head.join('\r\n')}\r\n${whole}`)
  const material = readMaterial(bytes, parseMessage(bytes))
  return [...claimFacts(material, isList ?? false), ...contentFacts(material)].map(({ name }) => name)
}

const link = (target: string, words = 'here') => `<p>Please look <a href="${target}">${words}</a></p>`

test('an ordinary message has no fact', () => {
  assert.deepEqual(factsOf({}), [])
  assert.deepEqual(factsOf({ html: link('https://www.out.example/page?id=1') }), [])
})

test('a sender that calls itself by the name of a company has an address of it', () => {
  assert.deepEqual(factsOf({ from: 'Microsoft account team <no-reply@access-accsecurity.example>' }), ['brand_claimed'])
  assert.deepEqual(factsOf({ from: 'Wells Fargo <a@b.example>' }), ['brand_claimed'])
  assert.deepEqual(factsOf({ from: '"PayPal" <service@paypal.com>' }), [])
  assert.deepEqual(factsOf({ from: '"PayPal" <service@mail.paypal.co.jp>' }), [])
  assert.deepEqual(factsOf({ from: 'Chases <a@chases.example>' }), [], 'a longer word is another name')
})

test('a name in letters that look like Latin ones is read like them', () => {
  assert.deepEqual(factsOf({ from: 'Раураl <a@b.example>' }), ['brand_claimed', 'mixed_scripts'])
  assert.deepEqual(factsOf({ from: 'Иван Петров <a@b.example>', subject: 'Привет', text: 'Как дела?' }), [])
})

test('a subject may name a company when a link or the sender belongs to it', () => {
  const subject = 'Your Netflix membership'
  assert.deepEqual(factsOf({ subject, html: link('https://a.example/') }), ['brand_in_subject'])
  assert.deepEqual(factsOf({ subject, html: link('https://www.netflix.com/help') }), [])
  assert.deepEqual(factsOf({ subject }), [], 'without a link there is nothing to click on')
})

test('domains that resemble those of companies', () => {
  const names = [
    'paypa1.example',
    'rnicrosoft.example',
    'microsoft-login.example',
    'amazom.example',
    'xn--pypal-4ve.example',
  ]
  for (const name of names) assert.ok(factsOf({ from: `A <a@${name}>` }).includes('lookalike_domain'), name)
  for (const name of ['amazing.example', 'adobes.example', 'chased.example', 'microsoft.com', 'netflix.de'])
    assert.ok(!factsOf({ from: `A <a@${name}>` }).includes('lookalike_domain'), name)
})

test('replies that go elsewhere, most of all to free mail; a list may send them back to itself', () => {
  assert.deepEqual(factsOf({ replyTo: 'ann@gmail.com' }), ['reply_to_free_mail'])
  assert.deepEqual(factsOf({ replyTo: 'ann@elsewhere.example' }), ['reply_to_elsewhere'])
  assert.deepEqual(factsOf({ replyTo: 'team@mail.out.example' }), [])
  assert.deepEqual(factsOf({ replyTo: 'list@elsewhere.example', isList: true }), [])
})

test('links that hide where they lead', () => {
  assert.deepEqual(factsOf({ html: link('https://sign-in.pages.dev/') }), ['link_free_hosting'])
  assert.deepEqual(factsOf({ html: link('https://a.example/go?url=https://b.example/') }), ['link_redirect'])
  assert.deepEqual(factsOf({ html: link('https://www.bank.example@a.example/') }), ['link_user_name'])
  assert.deepEqual(factsOf({ html: link('https://xn--bcher-kva.example/') }), ['link_encoded_host'])
})

test('forms, passwords and scripts', () => {
  assert.deepEqual(factsOf({ html: '<form action="https://a.example"><input name=q></form>Search' }), ['form_inside'])
  assert.deepEqual(factsOf({ html: '<form><input type="password"></form>Sign in' }), ['password_asked'])
  assert.deepEqual(factsOf({ html: '<p>Hi</p><script>open()</script>' }), ['script_inside'])
  assert.deepEqual(factsOf({ html: '<meta http-equiv="refresh" content="0;url=x"><p>Hi</p>' }), ['script_inside'])
})

test('attachments that do something when they are opened', () => {
  assert.deepEqual(factsOf({ file: 'setup.exe' }), ['attachment_program'])
  assert.deepEqual(factsOf({ file: 'invoice.pdf.js' }), ['attachment_program', 'attachment_disguised'])
  assert.deepEqual(factsOf({ file: 'scan.htm' }), ['attachment_page'])
  assert.deepEqual(factsOf({ file: 'list.xlsm' }), ['attachment_macros'])
  for (const file of ['report.pdf', 'photo.jpg', 'notes.v2.txt', 'archive.zip']) assert.deepEqual(factsOf({ file }), [])
})

test('hidden text, split words, and pictures without text', () => {
  const hidden = `<p>Hi Ben</p><div style="display:none">${'good words '.repeat(200)}</div>`
  assert.deepEqual(factsOf({ html: hidden }), ['text_hidden'])
  assert.deepEqual(factsOf({ html: `<p>${'good words '.repeat(200)}</p>` }), [])
  assert.deepEqual(factsOf({ text: 'Your p\u200bass\u200bwo\u200brd' }), ['zero_width'])
  assert.deepEqual(factsOf({ text: 'می\u200cخواهم کتاب\u200cها' }), [], 'joiners have a meaning in Persian')
  assert.deepEqual(factsOf({ html: '<a href="https://a.example/"><img src="https://a.example/x.png"></a>' }), [
    'picture_only',
  ])
})

test('an archive with a password is one by its flags, not by its name', () => {
  const zip = (flags: string) => `PK\x03\x04\x14\x00${flags}\x00\x08\x00${'\x00'.repeat(40)}`
  assert.deepEqual(factsOf({ file: 'invoice.zip', content: zip('\x01') }), ['attachment_encrypted'])
  assert.deepEqual(factsOf({ file: 'invoice.zip', content: zip('\x08') }), [])
  assert.deepEqual(factsOf({ file: 'invoice.zip', content: 'PK' }), [])
})

test('words that are written letter by letter count, a heading that is does not', () => {
  const spaced = (text: string, between = ' ') => text.replace(/\p{L}+/gu, (word) => [...word].join(between))
  const pitch =
    'Make thousands of dollars every week from home without any experience, and order the report today for free'
  assert.deepEqual(factsOf({ text: spaced(pitch) }), ['spelled_out'])
  assert.deepEqual(factsOf({ text: spaced(pitch, '.') }), ['spelled_out'])
  assert.deepEqual(factsOf({ text: `${spaced('NEWSLETTER OF MAY')}\r\n${pitch}` }), [])
  assert.deepEqual(factsOf({ text: 'J. R. R. Tolkien, C. S. Lewis and G. K. Chesterton; p. q. r. s. t.' }), [])
})
