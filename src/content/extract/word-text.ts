// Extracts the text of ECMA-376 documents and slides: paragraphs and table rows as lines.

import type { TextBuilder } from './text-builder.ts'
import { readXml, xmlAttribute } from './xml.ts'

/** @returns false when the text limit is reached */
export function runsText(xml: string, out: TextBuilder): boolean {
  const walk = new Runs(out)
  readXml(xml, walk)
  return !out.more
}

class Runs {
  readonly #out: TextBuilder
  #inText = false
  /** In a run with hidden text. */
  #hidden = false
  #rows = 0
  #cells = 0
  #hasWords = false

  constructor(out: TextBuilder) {
    this.#out = out
  }

  open(name: string, attributes: string): void {
    const local = name.slice(name.indexOf(':') + 1)
    if (local === 't') this.#inText = true
    else if (local === 'r') this.#hidden = false
    else if (local === 'vanish' || local === 'webHidden')
      this.#hidden = !/^(?:0|false|off)$/.test(xmlAttribute(attributes, 'w:val') ?? '')
    else if (local === 'tab' && !/\bw:(?:val|pos)=/.test(attributes)) this.#put('\t')
    else if (local === 'br' || local === 'cr') this.#put('\n')
    else if (local === 'tr') {
      this.#rows++
      this.#cells = 0
    } else if (local === 'tc' && this.#cells++ > 0) this.#put(' | ')
  }

  close(name: string): void {
    const local = name.slice(name.indexOf(':') + 1)
    if (local === 't') this.#inText = false
    else if (local === 'tr') {
      this.#rows = Math.max(0, this.#rows - 1)
      this.#put('\n')
    } else if (local === 'p') {
      // Paragraphs of a cell are joined by spaces.
      if (this.#rows === 0) this.#put('\n')
      else if (this.#hasWords) this.#put(' ')
      this.#hasWords = false
    }
  }

  text(text: string): boolean {
    if (!this.#inText || this.#hidden) return true
    this.#hasWords ||= text !== ''
    return this.#out.add(text)
  }

  #put(text: string): void {
    this.#out.add(text)
  }
}
