// A simple model of the search: messages in an array, generated queries with their meaning, compared with the store.

import type { Address } from '../../src/mime/message.ts'
import type { FolderRole } from '../../src/store/rows/records.ts'
import { type GeneratedQuery as AskedOf, combined, generatedQuery } from './generated-query.ts'
import { attachmentOf, mailOf, type Put, person } from './mailbox.ts'
import type { Random } from './random.ts'

/** A stored message with its public id. */
export interface Known extends Put {
  id: string
}

export type SearchQuery = AskedOf<Known>

export const NOW = Date.UTC(2026, 0, 1)
export const DAY = 24 * 60 * 60 * 1000

const WORDS = ['common', 'usual', 'invoice', 'Rechnung', 'Ärger', 'naïve', 'ΣΟΦΙΑ', 'x1', 'half', 'seldom', 'Zürich']
const ODDS = [0.85, 0.8, 0.3, 0.2, 0.1, 0.1, 0.05, 0.2, 0.5, 0.01, 0.02]
const PEOPLE: Address[] = [
  person('ana@shop.example', 'Ana Lopez'),
  person('Diana@shop.example', 'Diana Prince'),
  person('ana@shop.example.org', 'Ana Other'),
  person('bob@mail.shop.example', 'Bob O’Neil'),
  person('x-ana@shop.example', ''),
  person('carol@bücher.example', 'Carol'),
  person('dave@xn--bcher-kva.example', 'Dave'),
]
const FILES = ['invoice-2026.pdf', 'naïve plan.docx', 'photo_half.png']
const LABELS = ['work', 'travel', '$forwarded']
const PLACES: FolderRole[][] = [
  ['inbox'],
  ['inbox'],
  ['archive'],
  ['junk'],
  ['trash'],
  ['inbox', 'archive'],
  ['trash', 'archive'],
]

/** A message made of a small set of words and people. */
export function randomPut(random: Random, index: number): Put {
  const text = (length: number) => {
    const words = WORDS.filter((_, at) => random.chance(ODDS[at]!))
    return Array.from({ length }, () => random.pick(words.length > 0 ? words : ['other'])).join(' ')
  }
  const files = random.chance(0.15) ? random.some(FILES, 0.5) : []
  return {
    mail: mailOf({
      subject: text(1 + random.below(4)),
      from: [random.pick(PEOPLE)],
      to: random.some(PEOPLE, 0.3),
      cc: random.some(PEOPLE, 0.1),
      bcc: random.some(PEOPLE, 0.05),
      messageId: random.chance(0.9) ? `id${index}@host.example` : null,
      sentAt: random.chance(0.9) ? NOW - random.below(100) * DAY : null,
      searchText: text(random.below(10)),
      attachments: files.map(attachmentOf),
      hasAttachments: files.length > 0,
    }),
    // Few distinct times, in no order: equal ones and late arrivals are common.
    receivedAt: NOW - random.below(200) * DAY - random.below(3) * 500,
    thread: `t${random.below(600)}`,
    folders: random.pick(PLACES),
    flags: {
      seen: random.chance(0.6),
      flagged: random.chance(0.05),
      answered: random.chance(0.2),
      draft: random.chance(0.02),
    },
    keywords: random.some(LABELS, 0.1),
    sizeBytes: random.below(5000),
  }
}

/** A query with groups, alternatives and negations. */
export function randomQuery(random: Random, depth = 2): SearchQuery {
  return combined(random, () => random.pick(TERMS)(random), depth)
}

const TERMS: ((random: Random) => SearchQuery)[] = [
  word,
  word,
  word,
  phrase,
  prefix,
  (random) => address(random),
  domain,
  (random) => inPart(random),
  (random) => choose(random, 'is', { read: ({ flags }) => flags!.seen!, unread: ({ flags }) => !flags!.seen! }),
  (random) =>
    choose(random, 'is', {
      flagged: ({ flags }) => flags!.flagged!,
      starred: ({ flags }) => flags!.flagged!,
      answered: ({ flags }) => flags!.answered!,
      draft: ({ flags }) => flags!.draft!,
    }),
  () => term('has:attachment', ({ mail }) => mail.hasAttachments),
  (random) => {
    const label = random.pick(['work', 'travel', '$forwarded'])
    return term(`${random.pick(['keyword', 'label'])}:${label}`, ({ keywords }) => keywords!.includes(label))
  },
  () => term('keyword:$seen', ({ flags }) => flags!.seen!),
  folder,
  time,
  (random) => {
    const bytes = random.below(5) * 1024
    return random.chance(0.5)
      ? term(`larger:${bytes / 1024}k`, ({ sizeBytes }) => sizeBytes! > bytes)
      : term(`smaller:${bytes}`, ({ sizeBytes }) => sizeBytes! < bytes)
  },
  (random) => {
    const id = `id${random.below(40)}@host.example`
    return term(`msgid:${id}`, ({ mail }) => mail.messageId === id)
  },
]

const term = generatedQuery<Known>

function choose(random: Random, field: string, values: Record<string, (message: Known) => boolean>): SearchQuery {
  const value = random.pick(Object.keys(values))
  return term(`${field}:${value}`, values[value]!)
}

function word(random: Random): SearchQuery {
  const wanted = random.pick(WORDS)
  return term(random.chance(0.5) ? wanted : wanted.toUpperCase(), (message) => has(everything(message), [wanted]))
}

function phrase(random: Random): SearchQuery {
  const wanted = [random.pick(WORDS), random.pick(WORDS)]
  return term(`"${wanted.join(' ')}"`, (message) => has(everything(message), wanted))
}

function prefix(random: Random): SearchQuery {
  const wanted = random.pick(WORDS).slice(0, 2)
  return term(`${wanted}*`, (message) => has(everything(message), [wanted], true))
}

function inPart(random: Random): SearchQuery {
  const wanted = random.pick([...WORDS, 'ana', 'shop', 'pdf'])
  const part = random.pick(['from', 'to', 'cc', 'bcc', 'subject', 'body', 'filename'] as const)
  const field = random.chance(0.8) ? part : part.toUpperCase()
  return term(`${field}:${wanted}`, ({ mail }) => {
    if (part === 'subject') return has([mail.subject], [wanted])
    if (part === 'body') return has([mail.searchText], [wanted])
    if (part === 'filename') return has([names(mail.attachments)], [wanted])
    return has([people(mail[part])], [wanted])
  })
}

function address(random: Random): SearchQuery {
  const part = random.pick(['from', 'to', 'cc', 'bcc'] as const)
  const wanted = random.pick(PEOPLE).email
  return term(`${part}:${random.chance(0.5) ? wanted : wanted.toUpperCase()}`, ({ mail }) =>
    mail[part].some(({ email }) => plain(email) === plain(wanted)),
  )
}

function domain(random: Random): SearchQuery {
  const part = random.pick(['from', 'to', 'cc', 'bcc'] as const)
  const wanted = plain(random.pick(PEOPLE).email).split('@')[1]!
  return term(`${part}:@${wanted}`, ({ mail }) => mail[part].some(({ email }) => plain(email).endsWith(`@${wanted}`)))
}

function folder(random: Random): SearchQuery {
  const role = random.pick(['inbox', 'archive', 'trash', 'junk', 'anywhere'] as const)
  if (role === 'anywhere') return term('in:anywhere', () => true, ['all'])
  const text = random.pick([`in:${role}`, `in:"${role[0]!.toUpperCase()}${role.slice(1)}"`])
  return term(text, ({ folders }) => folders.includes(role), role === 'trash' || role === 'junk' ? [role] : [])
}

function time(random: Random): SearchQuery {
  const days = random.below(200)
  const at = NOW - days * DAY
  const date = new Date(at).toISOString()
  return random.pick([
    term(`after:${date.slice(0, 10)}`, ({ receivedAt }) => receivedAt >= at),
    term(`before:${date.slice(0, 10)}`, ({ receivedAt }) => receivedAt < at),
    term(`after:${date}`, ({ receivedAt }) => receivedAt >= at),
    term(`newer_than:${days}d`, ({ receivedAt }) => receivedAt >= at),
    term(`older_than:${days}d`, ({ receivedAt }) => receivedAt < at),
  ])
}

/** True when the tokens are adjacent in one of the texts; with `open` the last one may be a prefix. */
function has(texts: string[], wanted: string[], open = false): boolean {
  const tokens = wanted.flatMap(cutWords)
  return texts.some((text) => {
    const words = cutWords(text)
    return words.some((_, start) =>
      tokens.every((token, at) => {
        const found = words[start + at]
        return open && at === tokens.length - 1 ? found?.startsWith(token) : found === token
      }),
    )
  })
}

function everything({ mail }: Known): string[] {
  return [mail.subject, people(mail.from), people(mail.to), people(mail.cc), mail.searchText, names(mail.attachments)]
}

function people(addresses: Address[]): string {
  return addresses.map(({ name, email }) => `${name} ${email}`).join(' ')
}

function names(attachments: { filename: string }[]): string {
  return attachments.map(({ filename }) => filename).join(' ')
}

function cutWords(text: string): string[] {
  const folded = text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
  return folded.match(/[\p{L}\p{N}]+/gu) ?? []
}

/** The canonical form of an address. */
function plain(email: string): string {
  return email.toLowerCase().replace('bücher', 'xn--bcher-kva')
}
