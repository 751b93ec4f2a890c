// Converts storage failures (full disk, I/O error, damaged database) to errors a caller may see.

import { ProductError } from './errors.ts'

const SQLITE_READONLY = 8
const SQLITE_IOERR = 10
const SQLITE_CORRUPT = 11
const SQLITE_FULL = 13
const SQLITE_CANTOPEN = 14
const SQLITE_NOTADB = 26
const RETRY_AFTER_SECONDS = 60
/** An error and its causes that are looked at. */
const CAUSES_MAX = 5

/** @returns undefined for all other errors */
export function storageError(error: unknown): ProductError | undefined {
  const sentence = sentenceOf(error)
  if (sentence === undefined) return undefined
  return new ProductError('service_unavailable', sentence, { cause: error, retryAfter: RETRY_AFTER_SECONDS })
}

/** Whether it, or what caused it, is a full disk. */
export function isDiskFull(error: unknown): boolean {
  return causesOf(error).some(({ code, errcode }) => isFull(code, errcode))
}

function sentenceOf(error: unknown): string | undefined {
  const causes = causesOf(error)
  const some = (test: (code: string | undefined, result: number) => boolean) =>
    causes.some(({ code, errcode = 0 }) => test(code, errcode % 256))
  if (some(isFull)) return 'The disk of the appliance is full. Try again after the operator has freed some space.'
  if (some((_, result) => result === SQLITE_CORRUPT || result === SQLITE_NOTADB)) {
    return 'A database of the appliance is damaged. The operator has to restore a backup.'
  }
  if (some((code, result) => UNUSABLE_CODES.has(code ?? '') || UNUSABLE_RESULTS.has(result))) {
    return 'The disk of the appliance cannot be read or written. The operator has to check it.'
  }
  return undefined
}

/** EFBIG: a limit for the size of files. */
const UNUSABLE_CODES = new Set(['EIO', 'EROFS', 'EFBIG'])
const UNUSABLE_RESULTS = new Set([SQLITE_READONLY, SQLITE_IOERR, SQLITE_CANTOPEN])

function isFull(code: string | undefined, errcode = 0): boolean {
  return code === 'ENOSPC' || code === 'EDQUOT' || errcode % 256 === SQLITE_FULL
}

interface Failure {
  code?: string
  errcode?: number
  cause?: unknown
}

/** An error and what caused it: some parts wrap a failure with a sentence of their own. */
function causesOf(error: unknown): Failure[] {
  const causes: Failure[] = []
  let next = error
  while (typeof next === 'object' && next !== null && causes.length < CAUSES_MAX) {
    causes.push(next)
    next = (next as Failure).cause
  }
  return causes
}
