// What is found in a file: its text, its tables, what an archive holds, how large a picture is.

/** Bytes of a file that is looked into, bytes all its packed parts may unpack to, and entries of an archive that are told. */
export const FILE_BYTES_MAX = 25 * 1024 * 1024
export const UNPACKED_MAX = 50 * 1024 * 1024
export const ENTRIES_MAX = 1000
/** Characters (UTF-16) of text that are kept while it is read: the largest `body_chars` in the widest characters, and one more. */
export const TEXT_MAX = 1_000_002

export type Kind = 'text' | 'table' | 'calendar' | 'message' | 'archive' | 'image'

/** Values of `metadata`: what a file says of itself, foreign text. */
export type Fact = string | number | boolean | null | readonly Fact[] | { readonly [name: string]: Fact }

export interface Entry {
  path: string
  sizeBytes: number
}

export interface Found {
  kind: Kind
  /** Null where the file holds none. */
  text: string | null
  metadata: Record<string, Fact>
  /** What an archive lists; null for everything else. */
  entries: Entry[] | null
  /** There is more text or there are more entries than were read. */
  more: boolean
}

export interface FileToRead {
  bytes: Uint8Array
  filename: string
  /** As its sender called it. */
  type: string
  charset: string | null
}

/** Says that a file would unpack to more than is read. */
export class UnpacksTooLarge extends Error {}

export function found(kind: Kind, part: Partial<Omit<Found, 'kind'>> = {}): Found {
  return { kind, text: null, metadata: {}, entries: null, more: false, ...part }
}

/** A text of another's making on one line, at most so many characters. */
export function short(text: string, max = 500): string {
  return text
    .slice(0, max)
    .replace(/[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\s]+/g, ' ')
    .trim()
    .toWellFormed()
}
