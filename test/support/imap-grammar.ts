// Helpers for tests of the IMAP grammar and reader: cursors over texts, streams cut at chosen bytes.

import { PassThrough } from 'node:stream'
import { type CommandPiece, Cursor } from '../../src/imap/grammar/cursor.ts'
import { ImapReader, type ReaderDeps } from '../../src/imap/grammar/reader.ts'

/** A cursor over a line; each `\u0001` in it stands for the next of the literals. */
export function cursorOf(text: string, ...literals: (string | Buffer)[]): Cursor {
  const lines = text.split('\u0001')
  const pieces = lines.map((line, index): CommandPiece => {
    const literal = index < lines.length - 1 ? Buffer.from(literals[index]!) : null
    return { line: Buffer.from(line), literal, isBinary: false }
  })
  return new Cursor(pieces)
}

/** Reads a whole text with one rule; nothing may remain. */
export function readAll<T>(read: (cursor: Cursor) => T, text: string, ...literals: (string | Buffer)[]): T {
  const cursor = cursorOf(text, ...literals)
  const value = read(cursor)
  cursor.end()
  return value
}

/** A reader whose client sends these pieces and closes. */
export function readerOf(pieces: readonly (string | Buffer)[], deps: Partial<ReaderDeps> = {}): ImapReader {
  const stream = new PassThrough()
  for (const piece of pieces) stream.write(piece)
  stream.end()
  return new ImapReader(stream, { requestLiteral: () => {}, isContent: () => false, ...deps })
}
