// Errors of the disk while a backup is made or restored, as sentences an operator can act on.

import { ProductError } from '../../base/errors.ts'

const SQLITE_IOERR = 10
const SQLITE_FULL = 13

/** @param path the file or folder that was to be written, @param room how much that takes, in words */
export function explainDiskError(error: unknown, path: string, room: string): unknown {
  if (error instanceof ProductError) return error
  const { code, errcode = 0 } = error as { code?: string; errcode?: number }
  if (['ENOSPC', 'EDQUOT', 'EFBIG'].includes(code ?? '') || [SQLITE_FULL, SQLITE_IOERR].includes(errcode % 256)) {
    return diskError(`The disk has no room for ${path}: it needs ${room}. No partial file remains.`, error)
  }
  if (code === 'ENOENT') return diskError(`The folder of ${path} does not exist.`, error)
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return diskError(`${path} cannot be written by this user.`, error)
  }
  if (code === 'ERR_SQLITE_ERROR') return diskError(`The databases cannot be read: ${(error as Error).message}.`, error)
  return error
}

function diskError(sentence: string, cause: unknown): ProductError {
  return new ProductError('service_unavailable', sentence, { cause })
}
