// A model of the search over real messages: linear and word by word, independent of the index.

import type { Address, ParsedMessage } from '../../src/mime/message.ts'
import type { FolderRole } from '../../src/store/rows/records.ts'
import { combined, type GeneratedQuery, generatedQuery } from './generated-query.ts'
import type { Random } from './random.ts'

/** A message of the mailbox, with everything a search can match. */
export interface CorpusMessage {
  id: string
  thread: string
  mail: ParsedMessage
  receivedAt: number
  sizeBytes: number
  folders: FolderRole[]
  keywords: string[]
  /** The texts by part, and their words. */
  texts: Record<Part, string>
  words: Record<Part, string[]>
  /** All words, to skip most messages quickly. */
  known: Set<string>
}

export type Part = 'subject' | 'from' | 'to' | 'cc' | 'bcc' | 'body' | 'filename'

/** Parts a word without a field is searched in: Bcc is searched by name only. */
const ANYWHERE: readonly Part[] = ['subject', 'from', 'to', 'cc', 'body', 'filename']
const PARTS: readonly Part[] = [...ANYWHERE, 'bcc']
const DAY = 24 * 60 * 60 * 1000
export const LABELS = ['work', 'travel']

/** Reads a message for the model. */
export function corpusMessage(held: Omit<CorpusMessage, 'texts' | 'words' | 'known'>): CorpusMessage {
  const { mail } = held
  const texts: CorpusMessage['texts'] = {
    subject: mail.subject,
    from: people(mail.from),
    to: people(mail.to),
    cc: people(mail.cc),
    bcc: people(mail.bcc),
    body: mail.searchText,
    filename: mail.attachments.map(({ filename }) => filename).join('\n'),
  }
  const words = Object.fromEntries(PARTS.map((part) => [part, readWords(texts[part])])) as CorpusMessage['words']
  return { ...held, texts, words, known: new Set(Object.values(words).flat()) }
}

function people(addresses: readonly Address[]): string {
  return addresses.map(({ name, email }) => `${name} ${email}`).join('\n')
}

const PLAIN = /[\n -~]+|[^\n -~]+/g
const CHARACTERS = new Intl.Segmenter('und', { granularity: 'grapheme' })
/** Unicode blocks of Chinese, Japanese, Korean, Thai, Lao, Burmese and Khmer, and of their full-width and half-width forms. */
const EASTERN =
  /[\u0e00-\u0eff\u1000-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u4dbf\u4e00-\ua4cf\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef\u{20000}-\u{3ffff}]/u

/** The words of a text: runs of letters and digits, and of eastern scripts each letter; without case and accents. */
export function readWords(text: string): string[] {
  const words: string[] = []
  let word = ''
  const end = () => {
    if (word !== '') words.push(word)
    word = ''
  }
  for (const letter of lettersOf(text.toWellFormed())) {
    if (EASTERN.test(letter) && /[\p{L}\p{N}\p{M}]/u.test(letter)) {
      end()
      words.push(letter)
    } else if (/[\p{L}\p{N}\p{Co}]/u.test(letter) || (word !== '' && /\p{M}/u.test(letter))) word += letter
    else end()
  }
  end()
  return words
}

function* lettersOf(text: string): Generator<string> {
  for (const [run] of text.matchAll(PLAIN)) {
    if (/^[\n -~]/.test(run)) yield* run.toLowerCase()
    else for (const { segment } of CHARACTERS.segment(run)) yield* folded(segment)
  }
}

function folded(character: string): string {
  if (EASTERN.test(character)) return character.normalize('NFKC').toLowerCase()
  const plain = character
    .toLowerCase()
    .normalize('NFD')
    .replace(/[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]/g, '')
  return plain.replace('ς', 'σ').replace('µ', 'μ')
}

/** True when the words are adjacent in one of the parts; with `open` the last one may be a prefix. */
function has(message: CorpusMessage, parts: readonly Part[], wanted: readonly string[], open: boolean): boolean {
  const sure = open ? wanted.slice(0, -1) : wanted
  if (!sure.every((word) => message.known.has(word))) return false
  return parts.some((part) => {
    const words = message.words[part]
    for (let start = 0; start + wanted.length <= words.length; start++) {
      if (wanted.every((word, at) => isWord(words[start + at]!, word, open && at === wanted.length - 1))) return true
    }
    return false
  })
}

function isWord(found: string, wanted: string, open: boolean): boolean {
  return open ? found.startsWith(wanted) : found === wanted
}

/** Generates queries about the content of these messages. */
export class CorpusQueries {
  readonly #random: Random
  readonly #held: readonly CorpusMessage[]
  readonly #foreign: readonly CorpusMessage[]
  readonly #now: number

  constructor(random: Random, held: readonly CorpusMessage[], now: number) {
    this.#random = random
    this.#held = held
    this.#now = now
    this.#foreign = held.filter(({ known }) => [...known].some((word) => /[^\x00-\u024f]/.test(word)))
  }

  /** A query with up to two nested groups, of at most 512 characters. */
  next(): GeneratedQuery<CorpusMessage> {
    for (;;) {
      const asked = combined(this.#random, () => this.#term(), 2)
      if ([...asked.text].length <= 512) return asked
    }
  }

  #term(): GeneratedQuery<CorpusMessage> {
    const random = this.#random
    const roll = random.next()
    if (roll < 0.6) return this.#words()
    const about = random.pick([this.#address, this.#flag, this.#folder, this.#time, this.#size, this.#label] as const)
    return about.call(this)
  }

  /** Messages in scripts other than Latin are rare, and chosen for a third of the queries. */
  #mail(): CorpusMessage {
    return this.#random.pick(this.#random.chance(0.35) ? this.#foreign : this.#held)
  }

  /** A word, a phrase or a prefix that occurs in a part or anywhere; sometimes nowhere. */
  #words(): GeneratedQuery<CorpusMessage> {
    const random = this.#random
    const message = this.#mail()
    const part = random.pick(PARTS)
    const pieces = piecesOf(message.texts[part])
    if (pieces.length === 0) return this.#words()
    const at = random.below(pieces.length)
    const isPhrase = random.chance(0.3)
    const count = isPhrase ? 1 + random.below(4) : 1
    const chosen = pieces.slice(at, at + count).map((piece) => this.#spelled(piece))
    if (random.chance(0.1)) chosen.reverse()
    const text = chosen.join(' ')
    const inPart = random.chance(0.3) ? random.pick(PARTS) : random.chance(0.3) ? part : null
    if (isPhrase) return lookFor(inPart, `"${text}"`, text, false)
    const cut = random.chance(0.3) ? [...text].slice(0, 2 + random.below(4)).join('') : null
    const isOpen = cut !== null && [...(readWords(cut).at(-1) ?? '')].length >= 2
    return isOpen ? lookFor(inPart, `${cut}*`, cut, true) : lookFor(inPart, text, text, false)
  }

  /** A variant: other case, without accents, or only some characters of a script without spaces. */
  #spelled(piece: string): string {
    const random = this.#random
    const characters = [...piece]
    if (EASTERN.test(piece) && random.chance(0.7)) {
      const start = random.below(characters.length)
      const some = characters.slice(start, start + 1 + random.below(4)).join('')
      return readWords(some).length > 0 && !/^-/.test(some) ? some : piece
    }
    const other = random.pick([piece, piece.toUpperCase(), piece.toLowerCase(), piece.normalize('NFD')])
    return isSame(readWords(other), readWords(piece)) && !isOperator(other) ? other : piece
  }

  #address(): GeneratedQuery<CorpusMessage> {
    const random = this.#random
    const message = this.#mail()
    const part = random.pick(['from', 'to', 'cc', 'bcc'] as const)
    const some = [...message.mail.from, ...message.mail.to, ...message.mail.cc].map(({ email }) => email)
    const email = some.find((each) => /^[\w.+-]+@[a-z0-9.-]+$/i.test(each)) ?? 'nobody@nowhere.example'
    const domain = email.slice(email.indexOf('@')).toLowerCase()
    const of = ({ mail }: CorpusMessage) => mail[part].map((one) => one.email.toLowerCase())
    return random.chance(0.5)
      ? generatedQuery(`${part}:${email}`, (held) => of(held).includes(email.toLowerCase()))
      : generatedQuery(`${part}:${domain}`, (held) =>
          of(held).some((each) => each.slice(each.lastIndexOf('@')) === domain),
        )
  }

  #flag(): GeneratedQuery<CorpusMessage> {
    const [word, keyword, on] = this.#random.pick([
      ['read', '$seen', true],
      ['unread', '$seen', false],
      ['flagged', '$flagged', true],
      ['starred', '$flagged', true],
      ['answered', '$answered', true],
    ] as const)
    return generatedQuery(`is:${word}`, ({ keywords }) => keywords.includes(keyword) === on)
  }

  #label(): GeneratedQuery<CorpusMessage> {
    const random = this.#random
    if (random.chance(0.4)) return generatedQuery('has:attachment', ({ mail }) => mail.hasAttachments)
    if (random.chance(0.3)) {
      const { messageId } = this.#mail().mail
      if (messageId !== null && /^[\w.@$+-]+$/.test(messageId)) {
        return generatedQuery(`msgid:${messageId}`, ({ mail }) => mail.messageId === messageId)
      }
    }
    const label = random.pick(LABELS)
    return generatedQuery(`${random.pick(['keyword', 'label'])}:${label}`, ({ keywords }) => keywords.includes(label))
  }

  #folder(): GeneratedQuery<CorpusMessage> {
    const role = this.#random.pick(['inbox', 'archive', 'trash', 'junk', 'anywhere'] as const)
    if (role === 'anywhere') return generatedQuery('in:anywhere', () => true, ['all'])
    return generatedQuery(
      `in:${role}`,
      ({ folders }) => folders.includes(role),
      role === 'trash' || role === 'junk' ? [role] : [],
    )
  }

  #time(): GeneratedQuery<CorpusMessage> {
    const { receivedAt } = this.#mail()
    const date = new Date(receivedAt).toISOString()
    const day = Date.parse(date.slice(0, 10))
    const days = Math.ceil((this.#now - receivedAt) / DAY)
    const since = this.#now - days * DAY
    return this.#random.pick([
      generatedQuery<CorpusMessage>(`after:${date.slice(0, 10)}`, (held) => held.receivedAt >= day),
      generatedQuery<CorpusMessage>(`before:${date.slice(0, 10)}`, (held) => held.receivedAt < day),
      generatedQuery<CorpusMessage>(`after:${date}`, (held) => held.receivedAt >= receivedAt),
      generatedQuery<CorpusMessage>(`before:${date}`, (held) => held.receivedAt < receivedAt),
      generatedQuery<CorpusMessage>(`newer_than:${days}d`, (held) => held.receivedAt >= since),
      generatedQuery<CorpusMessage>(`older_than:${days}d`, (held) => held.receivedAt < since),
    ])
  }

  #size(): GeneratedQuery<CorpusMessage> {
    const { sizeBytes } = this.#mail()
    const kilobytes = Math.ceil(sizeBytes / 1024)
    return this.#random.pick([
      generatedQuery<CorpusMessage>(`larger:${sizeBytes}`, (held) => held.sizeBytes > sizeBytes),
      generatedQuery<CorpusMessage>(`smaller:${kilobytes}k`, (held) => held.sizeBytes < kilobytes * 1024),
    ])
  }
}

function lookFor(part: Part | null, written: string, text: string, open: boolean): GeneratedQuery<CorpusMessage> {
  const wanted = readWords(text)
  const parts = part === null ? ANYWHERE : [part]
  return generatedQuery(part === null ? written : `${part}:${written}`, (held) => has(held, parts, wanted, open))
}

/** The part of a text that can be used in a query unquoted: without operators of the query language. */
function piecesOf(text: string): string[] {
  const pieces = text.toWellFormed().match(/[^\s()":*@]{1,40}/gu) ?? []
  return pieces.filter((piece) => !piece.startsWith('-') && !isOperator(piece) && readWords(piece).length > 0)
}

function isOperator(piece: string): boolean {
  return /^(?:OR|NOT|AND)$/.test(piece)
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((word, at) => word === other[at])
}
