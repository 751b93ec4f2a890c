// Which parts of a mail are its body, and which are attachments (decisions §10.3).

import type { Part } from './message.ts'

/** A stretch of the body: one text in one or both of its forms. */
export interface Passage {
  plain: Part | null
  html: Part | null
}

export interface Bodies {
  /** In the order a reader meets them; the first one is what is shown. */
  passages: Passage[]
  /** Everything else a person may save, in order. */
  attachments: Part[]
  textPart: Part | null
  htmlPart: Part | null
}

/** Sorts the parts. A mail inside the mail is an attachment as a whole; its parts are not looked at. */
export function sortParts(root: Part): Bodies {
  const sorter = new PartSorter()
  sorter.take(root, null, 0)
  const { passages, attachments } = sorter
  if (passages.length === 0) addLastResort(passages, sorter)
  const firstHtml = passages.findIndex((passage) => passage.html !== null)
  const firstPlain = passages.findIndex((passage) => passage.plain !== null)
  // A text behind an HTML body is a footer some list added, not another form of the body.
  const hasPlain = firstPlain >= 0 && (firstHtml < 0 || firstPlain <= firstHtml)
  return {
    passages,
    attachments,
    textPart: hasPlain ? passages[firstPlain]!.plain : null,
    htmlPart: passages[firstHtml]?.html ?? null,
  }
}

/** A mail that is nothing but one named text is read by that text, and a multipart without parts by its bytes. */
function addLastResort(passages: Passage[], { attachments, empty }: PartSorter): void {
  const named = attachments.find((part) => part.disposition !== 'attachment' && textForm(part) !== null)
  if (named) passages.push({ plain: null, html: null, [textForm(named)!]: named })
  else if (empty !== null) passages.push({ plain: empty, html: null })
}

class PartSorter {
  readonly passages: Passage[] = []
  readonly attachments: Part[] = []
  /** The first multipart whose boundary never came. */
  empty: Part | null = null
  /** The passage that alternatives around the part share, null outside of alternatives. */
  private shared: Passage | null = null

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
    const passage = this.shared
    if (passage === null || passage[form] !== null) {
      this.passages.push({ plain: null, html: null, [form]: part })
      return
    }
    if (passage.plain === null && passage.html === null) this.passages.push(passage)
    passage[form] = part
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

/** Another form of the same text (calendar, AMP, enriched), which nobody saves: no body we show and no attachment. */
function isSilent(part: Part, outer: Part | null): boolean {
  const alternative = outer?.type === 'multipart/alternative' && part.type.startsWith('text/')
  return alternative && part.disposition === null && part.filename === null
}
