// Normalises the path of a folder in a script.

import { textOf } from './encoded.ts'

/** @returns the path as text in NFC, null when the octets are not UTF-8 */
export function folderPath(written: string): string | null {
  return textOf(written)?.normalize('NFC') ?? null
}
