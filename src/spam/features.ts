// Turns a message into hashed features: words, pairs of words, character sequences, addresses, hosts, form and header.

import { getDomain } from 'tldts'
import { domainOf } from '../mime/address.ts'
import { fieldText, type HeaderField } from '../mime/headers.ts'
import type { Address, ParsedMessage, Part } from '../mime/message.ts'
import { latinForm, mixesScripts } from './facts/look-alikes.ts'
import { addCode, FeatureSet, hashText } from './feature-set.ts'
import type { SpamMaterial } from './material.ts'

/** Hashed features of what a reader sees. */
export interface ContentFeatures {
  /** Words, pairs and form of subject, names and visible text. */
  words: Uint32Array
  /** Sequences of four characters of the same texts. */
  grams: Uint32Array
}

/** Version of the features: labels and models of another one are made again. */
export const FEATURE_SET = 1

/** Characters of the text that are read as words, and as sequences. */
const WORDS_FROM_MAX = 8192
const GRAMS_FROM_MAX = 2048
/** Characters of a word; longer ones are cut. */
const WORD_MAX = 40
const PARTS_MAX = 50
const LINKS_MAX = 50
const ATTACHMENTS_MAX = 10
const PATH_MAX = 20
const RECIPIENTS_MAX = 5
const FIELDS_MAX = 100
const FIELD_BYTES_MAX = 1000

/** Characters without a shape of their own, inside words a means to evade filters. */
const INVISIBLE = /\u00ad|\u200b|\u200c|\u200d|\u2060|\ufeff/g

/** Fields that this appliance writes itself, or that other fields of the message repeat. */
const UNREAD = new Set([
  ...['subject', 'from', 'return-path', 'delivered-to', 'authentication-results', 'received-spf', 'to', 'cc', 'date'],
  ...['message-id', 'in-reply-to', 'references', 'dkim-signature', 'x-google-dkim-signature', 'mime-version'],
])

const ZONES = ['text', 'subject', 'name', 'host', 'path', 'form', 'file', 'author', 'header'] as const
/** Seeds of the hash by where a word stands: the same word in the subject is another feature. */
const SEEDS = Object.fromEntries(ZONES.map((zone) => [zone, hashText(`${zone}:`)])) as Record<
  (typeof ZONES)[number],
  number
>

const set = new FeatureSet()

/** Never throws; linear in the material. */
export function contentFeatures(material: SpamMaterial): ContentFeatures {
  return { words: wordFeatures(material), grams: gramFeatures(material) }
}

function wordFeatures({ message, text, html, links }: SpamMaterial): Uint32Array {
  addWords(text.length > WORDS_FROM_MAX ? text.slice(0, WORDS_FROM_MAX) : text, SEEDS.text)
  addWords(message.subject, SEEDS.subject)
  for (const { name } of message.from.slice(0, 2)) addWords(name, SEEDS.name)
  for (const { host, target } of links.slice(0, LINKS_MAX)) {
    set.add(hashText(getDomain(host) ?? host, SEEDS.host))
    set.add(hashText(pathOf(target), SEEDS.path))
  }
  for (const { filename, contentType } of message.attachments.slice(0, ATTACHMENTS_MAX)) {
    set.add(hashText(contentType, SEEDS.form))
    set.add(hashText(/\.[^.]{1,8}$/.exec(filename.toLowerCase())?.[0] ?? '', SEEDS.file))
  }
  if (message.structure !== null) addStructure(message.structure, '', PARTS_MAX)
  const form = (name: string, value: number) => set.add(hashText(`${name}${scale(value)}`, SEEDS.form))
  form('links', links.length)
  form('length', text.length)
  if (html !== null) {
    form('images', html.images)
    form('forms', html.forms)
    form('scripts', html.scripts)
    form('hidden', Math.max(0, html.textLength - text.length))
  }
  return set.take()
}

/** The beginning of a path; numbers are the same, they identify the recipient. */
function pathOf(target: string): string {
  return target
    .replace(/^https?:\/\/[^/]*/i, '')
    .replace(/\d+/g, '0')
    .slice(0, PATH_MAX)
}

/** Orders of magnitude, in steps of two. */
function scale(value: number): number {
  return value <= 0 ? 0 : 1 + Math.floor(Math.log2(value))
}

function isWordCode(code: number): boolean {
  // Digits and letters, "$", "%", "!", "'", "-", and everything beyond ASCII.
  if (code >= 97) return code <= 122 || code >= 192
  if (code >= 48 && code <= 57) return true
  if (code >= 65 && code <= 90) return true
  return code === 36 || code === 37 || code === 33 || code === 39 || code === 45
}

/** The text as a reader sees it: without invisible characters, words of mixed scripts in Latin letters. */
function readable(text: string): string {
  if (/^[\x00-\x7f]*$/.test(text)) return text
  const seen = text.replace(INVISIBLE, '')
  if (!/[\u0370-\u04ff]/.test(seen)) return seen
  return seen.replace(/[\p{L}\p{M}]+/gu, (word) => (mixesScripts(word) ? latinForm(word) : word))
}

/** Words in lower case, and the pairs of neighbors. */
function addWords(written: string, seed: number): void {
  const text = readable(written)
  let last = 0
  let at = 0
  while (at < text.length) {
    let code = text.charCodeAt(at)
    if (!isWordCode(code)) {
      at++
      continue
    }
    let hash = seed
    const start = at
    while (at < text.length && isWordCode(code)) {
      if (at - start < WORD_MAX) hash = addCode(hash, code >= 65 && code <= 90 ? code + 32 : code)
      code = text.charCodeAt(++at)
    }
    set.add(hash)
    if (last !== 0) set.add(addCode(Math.imul(last, 31), hash))
    last = hash
  }
}

function addStructure(part: Part, path: string, most: number): void {
  const here = `${path}/${part.type}`
  set.add(hashText(`${here};${part.charset ?? ''};${part.encoding}`, SEEDS.form))
  for (const child of part.parts.slice(0, most)) addStructure(child, here, Math.max(0, most >> 1))
}

function gramFeatures({ message, text }: SpamMaterial): Uint32Array {
  addGrams(readable(`${message.subject}\n${message.from[0]?.name ?? ''}\n${text.slice(0, GRAMS_FROM_MAX)}`))
  return set.take()
}

/** Sequences of four code units, white space folded. */
function addGrams(text: string): void {
  let [a, b, c] = [0, 0, 0]
  let wasSpace = false
  for (let at = 0; at < text.length; at++) {
    let code = text.charCodeAt(at)
    const isSpace = code <= 32
    if (isSpace) {
      if (wasSpace) continue
      code = 32
    }
    wasSpace = isSpace
    if (a !== 0) set.add(Math.imul(a, 0x9e3779b1) ^ (b << 20) ^ (c << 10) ^ code)
    a = b
    b = c
    c = code
  }
}

/** Addresses and domains of the author, names and words of the other header fields: what tells who sends, and with which program. */
export function originFeatures(message: ParsedMessage, fields: readonly HeaderField[]): Uint32Array {
  for (const address of message.from.slice(0, 2)) addAddress('from', address)
  for (const address of message.replyTo.slice(0, 2)) addAddress('reply', address)
  set.add(hashText(`to${Math.min(message.to.length + message.cc.length, RECIPIENTS_MAX)}`, SEEDS.author))
  let previous = ''
  for (const field of fields.slice(0, FIELDS_MAX)) {
    const { name } = field
    // Our own verdict would confirm itself.
    if (name.startsWith('x-spam-')) continue
    set.add(hashText(name, SEEDS.header))
    // The order of the fields tells programs apart that claim the same name.
    set.add(hashText(`${previous}>${name}`, SEEDS.header))
    previous = name
    if (!UNREAD.has(name)) addWords(fieldText(shortened(field)), hashText(name, SEEDS.header))
  }
  return set.take()
}

function shortened(field: HeaderField): HeaderField {
  return field.value.length <= FIELD_BYTES_MAX ? field : { ...field, value: field.value.subarray(0, FIELD_BYTES_MAX) }
}

function addAddress(field: string, { email }: Address): void {
  set.add(hashText(`${field}:${email.toLowerCase()}`, SEEDS.author))
  const domain = domainOf(email).toLowerCase()
  set.add(hashText(`${field}@${getDomain(domain) ?? domain}`, SEEDS.author))
  set.add(hashText(`${field}.${domain.slice(domain.lastIndexOf('.') + 1)}`, SEEDS.author))
}
