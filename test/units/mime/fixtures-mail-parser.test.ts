// mime/mail-parser: messages with the headers, tree, bodies and lists mail-parser (Rust) reads, many of them Dovecot's.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeBody, decodeText } from '../../../src/mime/decode.ts'
import type { Address, ParsedMessage, Part } from '../../../src/mime/message.ts'
import { fixtureBytes, fixtureJson, fixtureNames, fixturesMissing } from '../../support/fixtures.ts'
import { soundMail } from '../../support/mail.ts'

const FOLDER = 'mime/mail-parser'

type Entry = { name: string | null; address: string | null }
interface Value {
  Address?: { List?: Entry[]; Group?: { addresses: Entry[] }[] }
  Text?: string
  ContentType?: { c_type: string; c_subtype: string | null }
}
interface OraclePart {
  headers: { name: unknown; value: Value }[]
  body: Record<string, unknown>
}
interface Oracle {
  html_body: number[]
  text_body: number[]
  attachments: number[]
  parts: OraclePart[]
}

/** Trees that differ, and why ours is right. */
const TREES = new Map([
  ['malformed/001', 'a boundary that begins like the inner one is the outer one: the whole line counts'],
  ['malformed/009', 'the outer boundary ends what is open inside (RFC 2046 5.1.2)'],
  ['malformed/011', 'the outer boundary ends what is open inside (RFC 2046 5.1.2)'],
  ['malformed/013', 'a boundary at the very end opens an empty part, as everywhere else'],
  ['malformed/019', 'damaged at random: a part that starts with text has no header'],
  ['malformed/021', 'the first of two Content-Type fields counts: the HTML below is seen as such'],
  ['thirdparty/015', 'a boundary ends a header too: three mails side by side, not one in another'],
])
/** Bodies that differ. */
const BODIES = new Map([
  ['malformed/007', 'the inner boundary comes without an empty line before it: its parts are found all the same'],
  ['thirdparty/005', 'a boundary stands at the start of a line (RFC 2046 5.1.1), "invalid--1--" is text'],
])
/** Choices of body and attachments that differ. */
const LISTS = new Map([
  ['malformed/003', 'a part without a header in a digest-like place is still text'],
  ['malformed/007', 'see BODIES'],
  ['malformed/017', 'an image is no body text (docs/design/mailbox.md §3), it is an attachment'],
  ['rfc/003', 'text/enriched beside the same in plain text is no file to save'],
])

const skip = fixturesMissing(FOLDER)
for (const name of fixtureNames(FOLDER, '.eml').map((file) => file.slice(0, -4))) {
  test(name, { skip }, () => {
    const bytes = fixtureBytes(`${FOLDER}/${name}.eml`)
    const oracle = fixtureJson<Oracle>(`${FOLDER}/${name}.json`)
    const mail = soundMail(bytes)
    assertHeaders(mail, oracle)
    const parts = flat(mail.structure!)
    const sameTree = isSameTree(parts, oracle)
    assert.equal(sameTree, !TREES.has(name), 'tree')
    if (!sameTree) return
    const bodies = oracle.parts.every((part, at) => isSameBody(bytes, parts[at]!, part.body))
    assert.equal(bodies, !BODIES.has(name), 'bodies')
    assert.equal(isSameChoice(mail, parts, oracle), !LISTS.has(name), 'lists')
  })
}

function assertHeaders(mail: ParsedMessage, oracle: Oracle): void {
  const value = (name: string) => oracle.parts[0]!.headers.find((header) => header.name === name)?.value
  const addresses = (list: Address[]) => list.map(({ name, email }) => `${name}<${email}>`).join()
  const theirs = (name: string) => {
    const { List, Group } = value(name)?.Address ?? {}
    const entries = List ?? Group?.flatMap((group) => group.addresses) ?? []
    return entries.map((entry) => `${entry.name ?? ''}<${entry.address ?? ''}>`).join()
  }
  assert.equal(addresses(mail.from), theirs('from'))
  assert.equal(addresses(mail.to), theirs('to'))
  assert.equal(addresses(mail.cc), theirs('cc'))
  assert.equal(mail.subject, value('subject')?.Text ?? '')
  assert.equal(mail.messageId, value('message_id')?.Text ?? null)
}

/** The oracle counts a mail inside as one part. */
function flat(part: Part): Part[] {
  return [part, ...(part.type.startsWith('message/') ? [] : part.parts.flatMap(flat))]
}

function isSameTree(parts: Part[], oracle: Oracle): boolean {
  return (
    parts.length === oracle.parts.length &&
    oracle.parts.every((part, at) => {
      const type = part.headers.find((header) => header.name === 'content_type')?.value.ContentType
      return !type || `${type.c_type}/${type.c_subtype}`.toLowerCase() === parts[at]!.type
    })
  )
}

function isSameBody(bytes: Buffer, part: Part, body: Record<string, unknown>): boolean {
  const raw = bytes.subarray(part.bodyStart, part.bodyEnd)
  const text = body.Text ?? body.Html
  if (typeof text === 'string') return decodeText(raw, part) === text.replaceAll('\r\n', '\n')
  const binary = body.Binary ?? body.InlineBinary
  return !Array.isArray(binary) || Buffer.from(decodeBody(raw, part.encoding)).equals(Buffer.from(binary as number[]))
}

/** We show one part of each form, the oracle lists all; ours must be among them, and the attachments the same. */
function isSameChoice(mail: ParsedMessage, parts: Part[], oracle: Oracle): boolean {
  const ids = (list: number[]) => list.map((at) => parts[at]!.id)
  const shown = (id: string | null, list: string[]) => (id === null ? list.length === 0 : list.includes(id))
  const text = shown(mail.textPart, ids(oracle.text_body)) || (mail.textPart === null && mail.htmlPart !== null)
  const html = mail.htmlPart === null || ids(oracle.html_body).includes(mail.htmlPart)
  return text && html && mail.attachments.map(({ partId }) => partId).join() === ids(oracle.attachments).join()
}
