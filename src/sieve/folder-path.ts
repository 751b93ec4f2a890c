// Normalises the path of a folder in a script.

import { textOf } from './encoded.ts'

/** @returns the path as text in NFC, null when the octets are not UTF-8 */
export function folderPath(written: string): string | null {
  return textOf(written)?.normalize('NFC') ?? null
}

/** What stands for the id of a folder (RFC 9042) among the paths a script tests: no path has such a character. */
const ID_MARK = '\0'

export const idName = (id: string) => `${ID_MARK}${id}`

/** The id that a name of `idName` stands for; null for a path. */
export const idIn = (name: string) => (name.startsWith(ID_MARK) ? name.slice(ID_MARK.length) : null)
