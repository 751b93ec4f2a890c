// Collects the extracted text of a file, up to TEXT_MAX.

import { TEXT_MAX } from './extracted-content.ts'

export class TextBuilder {
  more = false
  readonly #pieces: string[] = []
  #length = 0

  /** @returns false when the limit is reached */
  add(text: string): boolean {
    const room = TEXT_MAX - this.#length
    if (text.length > room) this.more = true
    const part = text.length > room ? text.slice(0, room) : text
    this.#pieces.push(part)
    this.#length += part.length
    return !this.more
  }

  toString(): string {
    return this.#pieces.join('').toWellFormed()
  }
}
