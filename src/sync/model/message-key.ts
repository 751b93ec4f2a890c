// The key of a message at a server: finds it again in another folder, or under another UID.

import { createHash } from 'node:crypto'
import type { RemoteHead } from './server.ts'

const KEY_BYTES = 16

/**
 * The first 16 bytes of a SHA-256 over the server's own name of the message, or over its Message-ID, size and time of receipt.
 * @param hasExactSizes whether the server's sizes are the same in each folder
 */
export function messageKey(
  {
    objectId,
    messageId,
    sizeBytes,
    receivedAt,
  }: Pick<RemoteHead, 'objectId' | 'messageId' | 'sizeBytes' | 'receivedAt'>,
  hasExactSizes: boolean,
): Uint8Array {
  const text =
    objectId === null
      ? JSON.stringify([bareId(messageId), hasExactSizes ? sizeBytes : null, Math.floor(receivedAt / 1000)])
      : JSON.stringify([objectId])
  return new Uint8Array(createHash('sha256').update(text).digest().subarray(0, KEY_BYTES))
}

/** A Message-ID without angle brackets and space around it; null without one. */
export function bareId(messageId: string | null): string | null {
  const bare = messageId?.trim().replace(/^<|>$/g, '').trim()
  return bare === undefined || bare === '' ? null : bare
}

/** Whether a message has a name: without one, other messages may have the same key. */
export function isNamed({ objectId, messageId }: Pick<RemoteHead, 'objectId' | 'messageId'>): boolean {
  return objectId !== null || bareId(messageId) !== null
}

export function hexOf(key: Uint8Array): string {
  return Buffer.from(key).toString('hex')
}
