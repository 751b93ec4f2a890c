// The path of a folder as a script writes it.

import { textOf } from './encoded.ts'

/** @returns the path as text, null for octets that are none; the same letters are the same path, however they were typed */
export function folderPath(written: string): string | null {
  return textOf(written)?.normalize('NFC') ?? null
}
