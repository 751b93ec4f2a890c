// Writes the FETCH answer of one message: items in the order requested, large texts as they are read (RFC 9051 §7.5.2).

import { type EnvelopeFields, envelopeFields, keptEnvelope } from '../../mime/envelope.ts'
import type { Part } from '../../mime/message.ts'
import { DamagedContent } from '../../store/content/damaged-content.ts'
import type { FolderEntry } from '../../store/entries/folders-views.ts'
import { formatBodyStructure } from '../fetch/body-structure.ts'
import { plainFields, servedFields } from '../fetch/header-fields.ts'
import { type FetchPlan, type MessagePage, oldSection } from '../fetch/message-content.ts'
import { readsOften, readsTooMuch } from '../fetch/read-bound.ts'
import type { StringFormat } from '../fetch/response-parts.ts'
import { type ResolvedSection, resolveBinary, resolveSection, type ServedBytes } from '../fetch/sections.ts'
import type { FetchItem, PlainItem } from '../grammar/fetch-items.ts'
import { ConnectionEnded } from '../grammar/reader.ts'
import { type BodySection, formatSection, type SectionRange } from '../grammar/sections.ts'
import { formatString, type OutputPart } from '../grammar/writer.ts'
import type { ImapSession } from '../session/session.ts'
import { entryFlags, entryFormat } from './entry-lines.ts'
import { announceKeywords } from './flag-texts.ts'
import { fetchName } from './message-sets.ts'

/** Larger sections are read and sent in pieces. */
const WHOLE_BYTES = 64 * 1024

/** How a session reads strings, until it enables another form. */
export function stringFormat({ utf8 }: ImapSession): StringFormat {
  return { isUtf8: utf8, format: (text) => formatString(text, utf8) }
}

interface SectionOfMessage {
  section: BodySection
  range: SectionRange | null
}

/** Writes messages of one page. */
export class FetchWriter {
  /** A part has a Content-Transfer-Encoding that cannot be decoded: `NO [UNKNOWN-CTE]`. */
  hasUnknownEncoding = false
  /** UIDs of messages whose content is damaged: they are left out, and the others are sent. */
  readonly damaged: number[] = []
  /** UIDs of messages that the items would read too often: they are left out as well. */
  readonly excessive: number[] = []
  readonly #session: ImapSession
  readonly #content: MessagePage
  readonly #plan: FetchPlan

  constructor(session: ImapSession, content: MessagePage, plan: FetchPlan) {
    this.#session = session
    this.#content = content
    this.#plan = plan
  }

  /**
   * Nothing is written for a message that is gone, whose content is damaged, or of which too much would be read.
   * @param withFlags adds FLAGS, which the plan does not name
   * @returns whether it was there; a promise when parts of it have to be read first
   */
  write(sequence: number, entry: FolderEntry, withFlags: boolean): boolean | Promise<boolean> {
    const session = this.#session
    const labels = this.#content.labels(entry.message)
    if (labels.length > 0) announceKeywords(session, labels)
    if (readsOften(this.#plan)) return this.#readWithin(sequence, entry, withFlags)
    const parts: OutputPart[] = []
    let text = `${fetchName(session, sequence, entry.uid)} (`
    let space = ''
    for (const item of this.#plan.items) {
      const known = this.#known(entry, item)
      if (known === null) return this.#read(sequence, entry, withFlags)
      text += space
      space = ' '
      for (const part of known) {
        if (typeof part === 'string') text += part
        else {
          parts.push(text, part)
          text = ''
        }
      }
    }
    session.say(...parts, `${text}${withFlags ? ` FLAGS ${this.#flags(entry)}` : ''})\r\n`)
    return true
  }

  /** An item of what the page has read; null when more has to be read, or the message is gone. */
  #known(entry: FolderEntry, item: FetchItem): readonly OutputPart[] | null {
    if (item.kind === 'plain') return this.#knownPlain(entry, item.name)
    if (item.kind !== 'body') return null
    return this.#plan.finders.has(item)
      ? this.#knownFields(entry, item)
      : this.#knownSection(entry, labelOf(item), item)
  }

  #knownPlain(entry: FolderEntry, name: PlainItem): readonly OutputPart[] | null {
    switch (name) {
      case 'ENVELOPE': {
        const headers = this.#content.keptHeaders(entry.message)
        return headers === undefined ? null : this.#envelopeOf(keptEnvelope(headers))
      }
      case 'EMAILID':
      case 'THREADID':
      case 'PREVIEW':
        return this.#rowItem(entry, name)
      case 'BODY':
      case 'BODYSTRUCTURE': {
        const root = this.#content.storedStructure(entry.message)
        return root === undefined ? null : this.#structureOf(root, name)
      }
      case 'RFC822':
      case 'RFC822.HEADER':
      case 'RFC822.TEXT':
        return this.#knownSection(entry, name, { section: oldSection(name)!, range: null })
      default:
        return [entryFormat(name)!(this.#session, entry, this.#content.labels(entry.message))]
    }
  }

  /** Sections of small messages. */
  #knownSection(entry: FolderEntry, label: string, { section, range }: SectionOfMessage): readonly OutputPart[] | null {
    const root = this.#content.storedStructure(entry.message)
    const resolved = root && resolveSection(root, section, range)
    if (resolved?.kind !== 'bytes') return null
    const bytes = this.#content.smallServed(entry.message, resolved)
    return bytes === undefined ? null : literal(label, bytes)
  }

  #knownFields(entry: FolderEntry, item: Extract<FetchItem, { kind: 'body' }>): readonly OutputPart[] | null {
    const finder = this.#plan.finders.get(item)
    const headers = finder && this.#content.keptHeaders(entry.message)
    if (headers === undefined) return null
    const fields = plainFields(finder!.find(headers), item.range)
    return fields === null ? null : [`${labelOf(item)} {${fields.length}}\r\n${fields}`]
  }

  /** Leaves out a message of which too much would be read. */
  async #readWithin(sequence: number, entry: FolderEntry, withFlags: boolean): Promise<boolean> {
    const root = await this.#content.structure(entry.message)
    if (root === undefined || !readsTooMuch(this.#plan, root)) return this.#read(sequence, entry, withFlags)
    this.excessive.push(entry.uid)
    return true
  }

  /** Reads what is not known, and writes the message. */
  async #read(sequence: number, entry: FolderEntry, withFlags: boolean): Promise<boolean> {
    const session = this.#session
    // Nothing is sent before all small items are there: an error then has an answer of its own.
    const parts: OutputPart[] = [`${fetchName(session, sequence, entry.uid)} (`]
    for (const [index, item] of this.#plan.items.entries()) {
      if (index > 0) parts.push(' ')
      const text = await this.#item(entry, item, parts).catch((error: unknown) => this.#leaveOut(entry, error))
      if (text === 'damaged') return true
      if (text === null)
        return session.progress.isWithinResponse ? this.#failed(new Error('The message is gone.')) : false
      parts.push(...text)
    }
    if (withFlags) parts.push(` FLAGS ${this.#flags(entry)}`)
    session.say(...parts, ')\r\n')
    session.progress.isWithinResponse = false
    return true
  }

  /** A damaged message of which nothing was sent is left out. */
  #leaveOut(entry: FolderEntry, error: unknown): 'damaged' {
    if (!(error instanceof DamagedContent) || this.#session.progress.isWithinResponse) return this.#failed(error)
    this.damaged.push(entry.uid)
    return 'damaged'
  }

  /** In the middle of a response nothing can be said. */
  #failed(error: unknown): never {
    const session = this.#session
    if (!session.progress.isWithinResponse) throw error
    session.logError(error, 'FETCH')
    session.destroy()
    throw new ConnectionEnded()
  }

  /** @returns null when the message is gone */
  async #item(entry: FolderEntry, item: FetchItem, written: OutputPart[]): Promise<OutputPart[] | null> {
    switch (item.kind) {
      case 'plain':
        return this.#plain(entry, item.name, written)
      case 'body':
        return this.#plan.finders.has(item) ? this.#fields(entry, item) : this.#body(entry, item, written)
      case 'binary':
        return this.#binary(entry, item.part, item.range, written)
      case 'binary-size':
        return this.#binarySize(entry, item.part)
    }
  }

  async #plain(entry: FolderEntry, name: PlainItem, written: OutputPart[]): Promise<OutputPart[] | null> {
    const old = oldSection(name)
    if (old !== undefined) return this.#section(entry, name, { section: old, range: null }, written)
    switch (name) {
      case 'ENVELOPE':
        return this.#envelope(entry)
      case 'BODY':
      case 'BODYSTRUCTURE':
        return this.#structure(entry, name)
      case 'EMAILID':
      case 'THREADID':
      case 'PREVIEW':
        return this.#rowItem(entry, name)
      default:
        return [entryFormat(name)!(this.#session, entry, this.#content.labels(entry.message))]
    }
  }

  #flags(entry: FolderEntry): string {
    return entryFlags(this.#session, entry, this.#content.labels(entry.message))
  }

  #rowItem(entry: FolderEntry, name: PlainItem): OutputPart[] | null {
    const row = this.#content.row(entry.message)
    if (row === undefined) return null
    if (name === 'EMAILID') return [`EMAILID (${row.id})`]
    if (name === 'THREADID') return [`THREADID (${row.threadId})`]
    return ['PREVIEW ', formatString(row.preview, this.#session.utf8)]
  }

  async #envelope(entry: FolderEntry): Promise<OutputPart[] | null> {
    const headers = await this.#content.headers(entry.message)
    return headers === undefined ? null : this.#envelopeOf(envelopeFields(headers.fields))
  }

  #envelopeOf(fields: EnvelopeFields): OutputPart[] {
    const parts = this.#plan.envelopes.format(fields)
    return ['ENVELOPE ', ...parts]
  }

  async #structure(entry: FolderEntry, name: 'BODY' | 'BODYSTRUCTURE'): Promise<OutputPart[] | null> {
    const root = await this.#content.structure(entry.message)
    return root === undefined ? null : this.#structureOf(root, name)
  }

  #structureOf(root: Part, name: 'BODY' | 'BODYSTRUCTURE'): OutputPart[] {
    return [`${name} `, ...formatBodyStructure(root, name === 'BODYSTRUCTURE', this.#plan.strings)]
  }

  /** Header fields that are kept beside the message. */
  async #fields(entry: FolderEntry, item: Extract<FetchItem, { kind: 'body' }>): Promise<OutputPart[] | null> {
    const headers = await this.#content.headers(entry.message)
    if (headers === undefined) return null
    const names = new Set(item.section.fields.map((field) => field.toLowerCase()))
    return literal(
      labelOf(item),
      servedFields({ names, isNot: false, range: item.range }, headers.bytes, headers.fields),
    )
  }

  #body(
    entry: FolderEntry,
    item: Extract<FetchItem, { kind: 'body' }>,
    written: OutputPart[],
  ): Promise<OutputPart[] | null> {
    return this.#section(entry, labelOf(item), item, written)
  }

  async #section(
    entry: FolderEntry,
    label: string,
    { section, range }: SectionOfMessage,
    written: OutputPart[],
  ): Promise<OutputPart[] | null> {
    const root = await this.#content.structure(entry.message)
    if (root === undefined) return null
    return this.#resolved(entry, label, resolveSection(root, section, range), written)
  }

  async #binary(
    entry: FolderEntry,
    part: readonly number[],
    range: SectionRange | null,
    written: OutputPart[],
  ): Promise<OutputPart[] | null> {
    const root = await this.#content.structure(entry.message)
    if (root === undefined) return null
    const label = `BINARY[${part.join('.')}]${range === null ? '' : `<${range.start}>`}`
    return this.#resolved(entry, label, resolveBinary(root, part, range), written, true)
  }

  async #binarySize(entry: FolderEntry, part: readonly number[]): Promise<OutputPart[] | null> {
    const root = await this.#content.structure(entry.message)
    if (root === undefined) return null
    const resolved = resolveBinary(root, part)
    if (resolved.kind === 'unknown-encoding') this.hasUnknownEncoding = true
    return [`BINARY.SIZE[${part.join('.')}] ${resolved.kind === 'bytes' ? resolved.size : 0}`]
  }

  async #resolved(
    entry: FolderEntry,
    label: string,
    resolved: ResolvedSection,
    written: OutputPart[],
    isBinary = false,
  ): Promise<OutputPart[]> {
    if (resolved.kind === 'fields')
      return literal(
        label,
        servedFields(resolved, await this.#content.bytes(entry.message, resolved.start, resolved.end)),
      )
    if (resolved.kind !== 'bytes') {
      if (resolved.kind === 'unknown-encoding') this.hasUnknownEncoding = true
      return [`${label} NIL`]
    }
    if (resolved.end - resolved.start > WHOLE_BYTES) return this.#stream(entry, label, resolved, written, isBinary)
    const bytes = await this.#content.served(entry.message, resolved)
    return literal(label, bytes, isBinary && bytes.includes(0))
  }

  get #readsSeveral(): boolean {
    return this.#plan.items.filter((item) => item.kind !== 'plain' || oldSection(item.name) !== undefined).length > 1
  }

  /** Sends what was written so far, then the section as it is read. */
  async #stream(
    entry: FolderEntry,
    label: string,
    plan: ServedBytes,
    written: OutputPart[],
    isBinary: boolean,
  ): Promise<OutputPart[]> {
    const session = this.#session
    // Items behind this one must not fail when it has been sent.
    if (!session.progress.isWithinResponse && this.#readsSeveral) await this.#content.verify(entry.message)
    const pieces = await this.#content.stream(entry.message, plan)
    session.progress.isWithinResponse = true
    session.say(...written.splice(0), `${label} ${isBinary ? '~' : ''}{${plan.size}}\r\n`)
    let left = plan.size
    for await (const piece of pieces) {
      session.say(piece)
      left -= piece.length
      await session.writer.ready()
    }
    if (left !== 0) throw new Error(`A section has ${left} bytes less than it should.`)
    return []
  }
}

/** How a section is named in the answer (RFC 9051 §7.5.2). */
function labelOf({ section, range }: Extract<FetchItem, { kind: 'body' }>): string {
  return `BODY${formatSection(section)}${range === null ? '' : `<${range.start}>`}`
}

function literal(label: string, bytes: Uint8Array, isBinary = false): OutputPart[] {
  if (isBinary) return [`${label} ~{${bytes.length}}\r\n`, bytes]
  // Sections are literals also where they could be quoted: clients expect it.
  return [`${label} {${bytes.length}}\r\n`, bytes]
}
