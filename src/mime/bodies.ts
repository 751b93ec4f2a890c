// Sorts the parts of a message into body texts and attachments (docs/design/mailbox.md §3).

import type { Part } from './message.ts'

/** One body text, in one or both of its forms. */
export interface BodyText {
  plain: Part | null
  html: Part | null
}

export interface SortedParts {
  /** In document order; the first one is displayed. */
  texts: BodyText[]
  /** All other parts that can be saved, in order. */
  attachments: Part[]
  textPart: Part | null
  htmlPart: Part | null
}

/** Sorts the parts. A message inside the message is an attachment as a whole; its own parts are not sorted. */
export function sortParts(root: Part): SortedParts {
  const sorter = new PartSorter()
  sorter.take(root, null, 0)
  const { texts, attachments } = sorter
  if (texts.length === 0) addFallback(texts, sorter)
  const firstHtml = texts.findIndex((text) => text.html !== null)
  const firstPlain = texts.findIndex((text) => text.plain !== null)
  // A text part behind the HTML body is a footer added by a mailing list, not an alternative.
  const hasPlain = firstPlain >= 0 && (firstHtml < 0 || firstPlain <= firstHtml)
  return {
    texts: texts,
    attachments,
    textPart: hasPlain ? texts[firstPlain]!.plain : null,
    htmlPart: texts[firstHtml]?.html ?? null,
  }
}

/** Fallback body: a text part with a file name if it is the only text, or the bytes of a multipart without parts. */
function addFallback(texts: BodyText[], { attachments, empty }: PartSorter): void {
  const named = attachments.find((part) => part.disposition !== 'attachment' && textForm(part) !== null)
  if (named) texts.push({ plain: null, html: null, [textForm(named)!]: named })
  else if (empty !== null) texts.push({ plain: empty, html: null })
}

class PartSorter {
  readonly texts: BodyText[] = []
  readonly attachments: Part[] = []
  /** The first multipart whose boundary does not occur. */
  empty: Part | null = null
  /** The text that the parts of the enclosing multipart/alternative share; null outside of one. */
  private shared: BodyText | null = null

  take(part: Part, outer: Part | null, index: number): void {
    if (part.type.startsWith('multipart/')) this.takeMultipart(part)
    else if (isBody(part, outer, index)) this.addText(part, textForm(part)!)
    else if (!isSilent(part, outer)) this.attachments.push(part)
  }

  private takeMultipart(part: Part): void {
    if (part.parts.length === 0) this.empty ??= part
    const outside = this.shared
    if (part.type === 'multipart/alternative') this.shared ??= { plain: null, html: null }
    for (const [index, child] of part.parts.entries()) this.take(child, part, index)
    this.shared = outside
  }

  private addText(part: Part, form: 'plain' | 'html'): void {
    const text = this.shared
    if (text === null || text[form] !== null) {
      this.texts.push({ plain: null, html: null, [form]: part })
      return
    }
    if (text.plain === null && text.html === null) this.texts.push(text)
    text[form] = part
  }
}

function textForm(part: Part): 'plain' | 'html' | null {
  if (part.type === 'text/plain') return 'plain'
  return part.type === 'text/html' ? 'html' : null
}

/** Only the first part of multipart/related is its text, the others belong to it (RFC 2387 3.2). */
function isBody(part: Part, outer: Part | null, index: number): boolean {
  if (textForm(part) === null || part.disposition === 'attachment' || part.filename !== null) return false
  return outer?.type !== 'multipart/related' || index === 0
}

/** Another form of the same text (calendar, AMP, enriched), neither a displayed body nor an attachment. */
function isSilent(part: Part, outer: Part | null): boolean {
  const alternative = outer?.type === 'multipart/alternative' && part.type.startsWith('text/')
  return alternative && part.disposition === null && part.filename === null
}
