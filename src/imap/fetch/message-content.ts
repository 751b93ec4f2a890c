// What FETCH reads of each message beyond its entry: rows, structures, header fields and bytes, read once per page; and whether it sets \Seen.

import { asBuffer } from '../../mime/charset.ts'
import { readHeaders } from '../../mime/headers.ts'
import type { Part } from '../../mime/message.ts'
import { FieldFinder, KEPT_FIELDS, type KeptHeaders, unpackHeaders } from '../../mime/message-headers.ts'
import { SMALL_CONTENT_BYTES } from '../../store/content/blobs.ts'
import { readFully } from '../../store/content/pack-content.ts'
import type { FolderEntry } from '../../store/entries/folders-views.ts'
import type { MailContent, MailReads, MailRow } from '../../store/messages/mail-reads.ts'
import type { Inspector } from '../../workers/inspector.ts'
import type { FetchItem, PlainItem } from '../grammar/fetch-items.ts'
import type { BodySection } from '../grammar/sections.ts'
import { hasDetails } from './body-structure.ts'
import { EnvelopeFormatter } from './envelope.ts'
import type { StringFormat } from './response-parts.ts'
import type { ServedBytes } from './sections.ts'
import { ServedStream, servedBytes } from './served-stream.ts'

/** Small messages that are read in one statement, and their bytes together. */
const TOGETHER_MAX = 16
const TOGETHER_BYTES = 64 * 1024

/** Where messages are read: a session, or the thread that searches. */
export interface MailSource {
  readonly app: {
    readonly store: { readonly programs: { readonly mail: MailReads } }
    readonly inspector: Pick<Inspector, 'read'>
  }
}

/** What to read for a page of entries. */
export interface ContentNeeds {
  /** Ids, thread, preview. */
  rows: boolean
  labels: boolean
  /** The kept header fields. */
  headers: boolean
  structure: boolean
}

/** The content of a page of messages. */
export class MessagePage {
  readonly #source: MailSource
  readonly #rows: ReadonlyMap<number, MailRow>
  readonly #labels: ReadonlyMap<number, string[]>
  readonly #headers: ReadonlyMap<number, KeptHeaders>
  readonly #contents: ReadonlyMap<number, MailContent>
  /** Numbers of the messages, in the order of the page. */
  readonly #order: readonly number[]
  /** Some messages as they are stored, from the last one that was read on. */
  #wholes: ReadonlyMap<number, Uint8Array> = new Map()
  /** The last header that was read because its kept fields are cut: each item of a FETCH asks for it. */
  #header: { message: number; headers: KeptHeaders } | null = null
  /** Messages of earlier versions that were read again. */
  readonly #outlined = new Map<number, { root: Part; headers: KeptHeaders }>()

  constructor(
    source: MailSource,
    entries: readonly Pick<FolderEntry, 'message'>[],
    needs: ContentNeeds,
    labels: ReadonlyMap<number, string[]>,
  ) {
    const { mail } = source.app.store.programs
    const numbers = entries.map(({ message }) => message)
    this.#source = source
    this.#order = numbers
    this.#rows = needs.rows ? mail.rows(numbers) : new Map()
    this.#labels = labels
    this.#headers = needs.headers ? mail.headers(numbers) : new Map()
    const isMissing = needs.headers && this.#headers.size < numbers.length
    this.#contents = needs.structure || isMissing ? mail.contents(numbers) : new Map()
  }

  row(message: number): MailRow | undefined {
    return this.#rows.get(message)
  }

  labels(message: number): readonly string[] {
    return this.#labels.get(message) ?? []
  }

  /** The kept header fields when they are stored and complete: {@link headers} otherwise. */
  keptHeaders(message: number): KeptHeaders | undefined {
    const kept = this.#headers.get(message)
    return kept === undefined || kept.isCut ? undefined : kept
  }

  /** The kept header fields, or all fields where some of them did not fit; undefined when the message is gone. */
  async headers(message: number): Promise<KeptHeaders | undefined> {
    const kept = this.#headers.get(message) ?? (await this.#outline(message))?.headers
    return kept?.isCut ? this.#wholeHeader(message) : kept
  }

  async #wholeHeader(message: number): Promise<KeptHeaders | undefined> {
    if (this.#header?.message === message) return this.#header.headers
    const root = await this.structure(message)
    if (root === undefined) return undefined
    const bytes = asBuffer(await this.bytes(message, root.headerStart, root.bodyStart))
    const headers = { bytes, fields: readHeaders(bytes).fields, isCut: false }
    this.#header = { message, headers }
    return headers
  }

  /** The structure with all details; undefined when the message is gone. */
  async structure(message: number): Promise<Part | undefined> {
    const root = this.#content(message)?.root
    return root != null && hasDetails(root) ? root : (await this.#outline(message))?.root
  }

  /** The structure when it is stored with all details: {@link structure} otherwise. */
  storedStructure(message: number): Part | undefined {
    const root = this.#contents.get(message)?.root
    return root != null && hasDetails(root) ? root : undefined
  }

  /** The served bytes of a section of a small message, read with some messages behind it: {@link served} otherwise. */
  smallServed(message: number, plan: ServedBytes): Uint8Array | undefined {
    const content = this.#contents.get(message)
    if (content === undefined || content.sizeBytes > SMALL_CONTENT_BYTES) return undefined
    if (!this.#wholes.has(message)) this.#wholes = this.#source.app.store.programs.mail.small(this.#together(message))
    const whole = this.#wholes.get(message)
    return whole && servedBytes(plan, whole.subarray(plan.start, plan.end))
  }

  /** A message and those behind it that are read with it. */
  #together(message: number): MailContent[] {
    const from = this.#order.indexOf(message)
    const together: MailContent[] = []
    let bytes = 0
    for (const number of this.#order.slice(from, from + TOGETHER_MAX)) {
      const content = this.#contents.get(number)
      bytes += content?.sizeBytes ?? 0
      if (together.length > 0 && bytes > TOGETHER_BYTES) break
      if (content !== undefined) together.push(content)
    }
    return together
  }

  #content(message: number): MailContent | undefined {
    return this.#contents.get(message) ?? this.#source.app.store.programs.mail.contents([message]).get(message)
  }

  async #outline(message: number): Promise<{ root: Part; headers: KeptHeaders } | undefined> {
    const known = this.#outlined.get(message)
    const content = known === undefined ? this.#content(message) : undefined
    if (content === undefined) return known
    const { app } = this.#source
    const load = () => readFully(app.store.programs.mail.bytes(content, 0, content.sizeBytes), content.sizeBytes)
    const { message: parsed } = await app.inspector.read(content.sizeBytes, load)
    const outlined = {
      root: parsed.structure ?? plainRoot(content.sizeBytes),
      headers: unpackHeaders(parsed.keptHeaders),
    }
    this.#outlined.set(message, outlined)
    return outlined
  }

  /** A range of the stored bytes. @throws ProductError service_unavailable when they are damaged */
  async bytes(message: number, start: number, end: number): Promise<Uint8Array> {
    const content = this.#content(message)
    return content === undefined
      ? new Uint8Array(0)
      : readFully(this.#source.app.store.programs.mail.bytes(content, start, end), end - start)
  }

  /** The served bytes of a section, whole. */
  async served(message: number, plan: ServedBytes): Promise<Uint8Array> {
    return servedBytes(plan, await this.bytes(message, plan.start, plan.end))
  }

  /** Reads a message whole. @throws DamagedContent */
  async verify(message: number): Promise<void> {
    const content = this.#content(message)
    if (content !== undefined) await this.#source.app.store.programs.mail.open(content, 0, content.sizeBytes)
  }

  /**
   * {@link served} in pieces, one chunk in memory at a time. All of it is verified before the first piece.
   * @throws DamagedContent
   */
  async stream(message: number, plan: ServedBytes): Promise<AsyncIterable<Uint8Array>> {
    const content = this.#content(message)
    return content === undefined
      ? servedPieces(plan, [])
      : servedPieces(plan, await this.#source.app.store.programs.mail.open(content, plan.start, plan.end))
  }
}

async function* servedPieces(
  plan: ServedBytes,
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const served = new ServedStream(plan)
  for await (const piece of pieces) {
    yield served.push(piece)
    if (served.isComplete) return
  }
  yield served.end()
}

/** A message that cannot be parsed is one text without a header. */
function plainRoot(bytes: number): Part {
  return {
    ...{ id: '1', type: 'text/plain', charset: null, encoding: '7bit', disposition: null, filename: null },
    ...{ contentId: null, headerStart: 0, bodyStart: 0, bodyEnd: bytes, lines: 0, parts: [], decodedBytes: bytes },
  }
}

const ROW_ITEMS = new Set<PlainItem>(['EMAILID', 'THREADID', 'PREVIEW'])
const STRUCTURE_ITEMS = new Set<PlainItem>(['BODY', 'BODYSTRUCTURE'])

/** The items of RFC822, as sections: they are echoed by their old names. */
const OLD_ITEMS = new Map<PlainItem, { section: BodySection; isPeek: boolean }>([
  ['RFC822', { section: { part: [], text: 'all', fields: [] }, isPeek: false }],
  ['RFC822.HEADER', { section: { part: [], text: 'header', fields: [] }, isPeek: true }],
  ['RFC822.TEXT', { section: { part: [], text: 'text', fields: [] }, isPeek: false }],
])

/** The section of RFC822, RFC822.HEADER or RFC822.TEXT; undefined for other items. */
export function oldSection(name: PlainItem): BodySection | undefined {
  return OLD_ITEMS.get(name)?.section
}

/** Whether a section is served from the kept header fields. */
function isKeptSection({ part, text, fields }: BodySection): boolean {
  return part.length === 0 && text === 'fields' && fields.every((name) => KEPT_FIELDS.has(name.toLowerCase()))
}

export interface FetchPlan {
  items: readonly FetchItem[]
  /** The items that read the content of a message. */
  sections: readonly FetchItem[]
  /** How sections of kept header fields are found, by item. */
  finders: ReadonlyMap<FetchItem, FieldFinder>
  needs: ContentNeeds
  setsSeen: boolean
  strings: StringFormat
  envelopes: EnvelopeFormatter
}

/**
 * @param extra items that the session adds: UID of UID FETCH, MODSEQ of CONDSTORE
 * @param strings how the session reads strings
 */
export function planFetch(items: readonly FetchItem[], extra: readonly PlainItem[], strings: StringFormat): FetchPlan {
  const distinct = withoutRepetitions(items)
  const named = new Set(distinct.flatMap((item) => (item.kind === 'plain' ? [item.name] : [])))
  const added = extra.filter((name) => !named.has(name)).map((name): FetchItem => ({ kind: 'plain', name }))
  const all = [...added.filter(isUid), ...distinct, ...added.filter((item) => !isUid(item))]
  const setsSeen = all.some(readsText)
  const plain = all.flatMap((item) => (item.kind === 'plain' ? [item.name] : []))
  return {
    items: all,
    sections: all.filter(readsContent),
    finders: findersOf(all),
    setsSeen,
    strings,
    envelopes: new EnvelopeFormatter(strings),
    needs: {
      rows: plain.some((name) => ROW_ITEMS.has(name)),
      labels: setsSeen || plain.includes('FLAGS'),
      headers: plain.includes('ENVELOPE') || all.some((item) => item.kind === 'body' && isKeptSection(item.section)),
      structure: all.some(needsStructure),
    },
  }
}

/**
 * An item that is named several times is answered once: RFC 9051 §6.4.5 asks for the data of a message, and a response is the same with
 * and without its repetitions. The names of fields count as written, because the response names them so.
 */
function withoutRepetitions(items: readonly FetchItem[]): FetchItem[] {
  const byName = new Map<string, FetchItem>()
  for (const item of items) {
    // A section is the same with and without PEEK, which only decides \Seen.
    const { isPeek, ...asked } = 'isPeek' in item ? item : { ...item, isPeek: true }
    const name = JSON.stringify(asked)
    const known = byName.get(name)
    if (known === undefined || ('isPeek' in known && known.isPeek && !isPeek)) byName.set(name, item)
  }
  return [...byName.values()]
}

function isUid(item: FetchItem): boolean {
  return item.kind === 'plain' && item.name === 'UID'
}

function readsText(item: FetchItem): boolean {
  if (item.kind === 'plain') return OLD_ITEMS.get(item.name)?.isPeek === false
  return (item.kind === 'body' || item.kind === 'binary') && !item.isPeek
}

function readsContent(item: FetchItem): boolean {
  if (item.kind === 'plain') return OLD_ITEMS.has(item.name)
  return item.kind === 'binary' || (item.kind === 'body' && !isKeptSection(item.section))
}

function needsStructure(item: FetchItem): boolean {
  if (item.kind === 'plain') return STRUCTURE_ITEMS.has(item.name) || OLD_ITEMS.has(item.name)
  return item.kind !== 'body' || !isKeptSection(item.section)
}

function findersOf(items: readonly FetchItem[]): Map<FetchItem, FieldFinder> {
  const finders = new Map<FetchItem, FieldFinder>()
  for (const item of items) {
    if (item.kind !== 'body' || !isKeptSection(item.section)) continue
    finders.set(item, new FieldFinder(item.section.fields.map((name) => name.toLowerCase())))
  }
  return finders
}
