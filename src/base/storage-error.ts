// Converts storage failures (full disk, I/O error, damaged database) to errors a caller may see.

import { ProductError } from './errors.ts'

const SQLITE_IOERR = 10
const SQLITE_CORRUPT = 11
const SQLITE_FULL = 13
const SQLITE_NOTADB = 26
const RETRY_AFTER_SECONDS = 60

/** @returns undefined for all other errors */
export function storageError(error: unknown): ProductError | undefined {
  const sentence = sentenceOf(error)
  if (sentence === undefined) return undefined
  return new ProductError('service_unavailable', sentence, { cause: error, retryAfter: RETRY_AFTER_SECONDS })
}

function sentenceOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  const { code, errcode = 0 } = error as { code?: string; errcode?: number }
  if (code === 'ENOSPC' || code === 'EDQUOT' || errcode % 256 === SQLITE_FULL) {
    return 'The disk of the appliance is full. Try again after the operator has freed some space.'
  }
  if (code === 'EIO' || code === 'EROFS' || errcode % 256 === SQLITE_IOERR) {
    return 'The disk of the appliance cannot be read or written. The operator has to check it.'
  }
  if (errcode % 256 === SQLITE_CORRUPT || errcode % 256 === SQLITE_NOTADB) {
    return 'A database of the appliance is damaged. The operator has to restore a backup.'
  }
  return undefined
}
