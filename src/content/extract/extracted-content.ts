// The result of parsing a file: text, tables, archive entries, image size.

/** Limits: bytes of a file, total bytes its compressed parts may expand to, and listed entries of an archive. */
export const FILE_BYTES_MAX = 25 * 1024 * 1024
export const UNPACKED_MAX = 50 * 1024 * 1024
export const ENTRIES_MAX = 1000
/** UTF-16 units of extracted text: the largest `body_chars` with surrogate pairs, plus one character. */
export const TEXT_MAX = 1_000_002

export type FileKind = 'text' | 'table' | 'calendar' | 'message' | 'archive' | 'image'

/** Values of `metadata`: foreign text from the file. */
export type FileProperty =
  | string
  | number
  | boolean
  | null
  | readonly FileProperty[]
  | { readonly [name: string]: FileProperty }

export interface ListedEntry {
  path: string
  sizeBytes: number
}

export interface ExtractedContent {
  kind: FileKind
  /** Null when the file has no text. */
  text: string | null
  metadata: Record<string, FileProperty>
  /** Entries of an archive; null for other files. */
  entries: ListedEntry[] | null
  /** Whether text or entries were left out. */
  more: boolean
}

export interface FileToRead {
  bytes: Uint8Array
  filename: string
  /** Declared content type. */
  type: string
  charset: string | null
}

/** A file would expand to more than the limit. */
export class UnpacksTooLarge extends Error {}

export function extractedContent(kind: FileKind, part: Partial<Omit<ExtractedContent, 'kind'>> = {}): ExtractedContent {
  return { kind, text: null, metadata: {}, entries: null, more: false, ...part }
}

/** Foreign text on one line, with at most so many characters. */
export function short(text: string, max = 500): string {
  return text
    .slice(0, max)
    .replace(/[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\s]+/g, ' ')
    .trim()
    .toWellFormed()
}
