// Writes BODY and BODYSTRUCTURE (RFC 9051 §7.5.2) from the stored structure of a message.

import type { Part } from '../../mime/message.ts'
import type { ParameterPair } from '../../mime/parameters.ts'
import { EnvelopeFormatter } from './envelope.ts'
import { asciiText, onOneLine, type ResponsePart, ResponseParts, type StringFormat } from './response-parts.ts'

/** The text/plain part without bytes that stands for the missing body of a multipart or message. */
const EMPTY: Part = {
  ...{
    id: '',
    type: 'text/plain',
    charset: null,
    encoding: '7bit',
    disposition: null,
    filename: null,
    contentId: null,
  },
  ...{ headerStart: 0, bodyStart: 0, bodyEnd: 0, lines: 0, parts: [] },
}

/** True for a structure that holds all that BODYSTRUCTURE shows; those stored before lack some of it. */
export function hasDetails(root: Part): boolean {
  return root.hasNul !== undefined
}

/** The value of BODYSTRUCTURE, or of BODY without `isExtended`, with its parentheses. */
export function formatBodyStructure(root: Part, isExtended: boolean, format: StringFormat): ResponsePart[] {
  const out = new ResponseParts(format)
  new StructureWriter(out, isExtended, new EnvelopeFormatter(format)).write(root)
  return out.parts()
}

class StructureWriter {
  readonly #out: ResponseParts
  readonly #isExtended: boolean
  readonly #envelopes: EnvelopeFormatter

  constructor(out: ResponseParts, isExtended: boolean, envelopes: EnvelopeFormatter) {
    this.#out = out
    this.#isExtended = isExtended
    this.#envelopes = envelopes
  }

  /** Recursive: a structure is never deeper than DEPTH_MAX of mime/structure.ts. */
  write(part: Part): void {
    this.#out.raw('(')
    if (part.type.startsWith('multipart/')) this.#multipart(part)
    else this.#single(part)
    this.#out.raw(')')
  }

  /** `body-type-mpart`: at least one part, also where the boundary never occurs. */
  #multipart(part: Part): void {
    for (const child of part.parts.length > 0 ? part.parts : [EMPTY]) this.write(child)
    this.#out.raw(' ')
    this.#text(subtypeOf(part))
    if (!this.#isExtended) return
    this.#out.raw(' ')
    this.#pairs(part.params)
    this.#extension(part)
  }

  /** `body-type-1part`. */
  #single(part: Part): void {
    const out = this.#out
    this.#text(part.type.slice(0, part.type.indexOf('/')))
    out.raw(' ')
    this.#text(subtypeOf(part))
    out.raw(' ')
    this.#pairs(paramsOf(part))
    out.raw(' ')
    this.#optional(part.contentId === null ? undefined : `<${part.contentId}>`)
    out.raw(' ').nstring(part.description).raw(' ')
    this.#text(part.encoding)
    out.raw(` ${part.bodyEnd - part.bodyStart + (part.bodyLf ?? 0)}`)
    if (isMessageType(part)) {
      out.raw(' ')
      this.#envelopes.write(part.envelope ?? {}, out)
      out.raw(' ')
      this.write(part.parts[0] ?? EMPTY)
    }
    if (isMessageType(part) || part.type.startsWith('text/')) out.raw(` ${part.lines}`)
    if (!this.#isExtended) return
    out.raw(' ')
    this.#optional(part.md5)
    this.#extension(part)
  }

  /** Disposition, language and location, which end both forms. */
  #extension(part: Part): void {
    const disposition = part.dispositionWritten ?? part.disposition
    this.#out.raw(' ')
    if (disposition === null) this.#out.raw('NIL')
    else {
      this.#out.raw('(')
      this.#text(disposition)
      this.#out.raw(' ')
      this.#pairs(part.dispositionParams)
      this.#out.raw(')')
    }
    this.#out.raw(' ')
    this.#language(part.language)
    this.#out.raw(' ')
    this.#optional(part.location)
  }

  /** `body-fld-lang`: the tags of Content-Language (RFC 3282). */
  #language(text: string | undefined): void {
    const tags = text?.split(/[\s,]+/).filter((tag) => tag !== '') ?? []
    if (tags.length === 0) this.#out.raw('NIL')
    else {
      this.#out.raw('(')
      for (const [at, tag] of tags.entries()) {
        if (at > 0) this.#out.raw(' ')
        this.#text(tag)
      }
      this.#out.raw(')')
    }
  }

  #pairs(pairs: readonly ParameterPair[] | undefined): void {
    if (pairs === undefined || pairs.length === 0) {
      this.#out.raw('NIL')
      return
    }
    this.#out.raw('(')
    for (const [at, [name, value]] of pairs.entries()) {
      if (at > 0) this.#out.raw(' ')
      this.#text(name)
      this.#out.raw(' ')
      this.#text(value)
    }
    this.#out.raw(')')
  }

  #optional(text: string | undefined): void {
    if (text === undefined) this.#out.raw('NIL')
    else this.#text(text)
  }

  #text(text: string): void {
    const plain = onOneLine(text)
    this.#out.string(this.#out.isUtf8 ? plain : asciiText(plain))
  }
}

function subtypeOf(part: Part): string {
  return part.subtypeWritten ?? part.type.slice(part.type.indexOf('/') + 1)
}

/** RFC 2045 §5.2: text without a charset is in US-ASCII. */
function paramsOf(part: Part): readonly ParameterPair[] | undefined {
  if (!part.type.startsWith('text/')) return part.params
  const hasCharset = part.params?.some(([name]) => name.toLowerCase() === 'charset')
  return hasCharset ? part.params : [...(part.params ?? []), ['charset', 'us-ascii']]
}

/** Message types whose form has an envelope (`media-message`). */
function isMessageType({ type }: Part): boolean {
  return type === 'message/rfc822' || type === 'message/global'
}
