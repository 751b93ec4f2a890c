// Compares messages by their content, where Message-ID, size and time of receipt do not decide which message it is.

import { createHash } from 'node:crypto'
import { DamagedContent } from '../../store/content/damaged-content.ts'
import { readFully } from '../../store/content/pack-content.ts'
import type { RemoteMessage } from '../ledger/remote-messages.ts'
import { hexOf } from '../model/message-key.ts'
import { PIECE_BYTES } from '../model/server.ts'
import { readApart } from './halving.ts'
import type { SyncSession } from './sync-session.ts'

const DIGEST_BYTES = 16
/** Pieces that are asked for with one command. */
const PIECES_PER_COMMAND = 100

/** The first 16 bytes of a SHA-256 over the header of a message and the beginning of its body: its first {@link PIECE_BYTES}. */
export function contentDigest(bytes: Uint8Array): Uint8Array {
  const piece = bytes.subarray(0, PIECE_BYTES)
  return new Uint8Array(createHash('sha256').update(piece).digest().subarray(0, DIGEST_BYTES))
}

/** Digests of messages of the selected folder, hexadecimal, by UID; those that the server does not give are missing. */
export async function digestsThere(
  { server, deps, signal }: SyncSession,
  folder: number,
  uids: readonly number[],
): Promise<Map<number, string>> {
  const digests = new Map<number, string>()
  const scope = { folder, breaks: deps.pieceBreaks, signal }
  for (let at = 0; at < uids.length; at += PIECES_PER_COMMAND) {
    const { results } = await readApart(scope, uids.slice(at, at + PIECES_PER_COMMAND), (part) => server.pieces(part))
    for (const pieces of results) for (const [uid, piece] of pieces) digests.set(uid, hexOf(contentDigest(piece)))
  }
  return digests
}

/**
 * The digest of the content of a message here, hexadecimal; null when it is deleted or damaged, or when the server may have other bytes
 * of it.
 * @param message its number @param sizeBytes as the server names it
 */
export async function digestHere(
  { deps, facts }: SyncSession,
  message: number,
  sizeBytes: number,
): Promise<string | null> {
  const { mail } = deps.store.programs
  const content = mail.contents([message]).get(message)
  if (content === undefined || !facts.hasExactSizes || content.sizeBytes !== sizeBytes) return null
  const size = Math.min(content.sizeBytes, PIECE_BYTES)
  try {
    return hexOf(contentDigest(await readFully(mail.bytes(content, 0, size), size)))
  } catch (error) {
    // Its message cannot be told from others that look alike; all others can.
    if (error instanceof DamagedContent) return null
    throw error
  }
}

/** The digest of a message as it was last seen, hexadecimal; null when it is not known. @param sizeBytes as the server names it now */
export async function digestOf(
  session: SyncSession,
  { digest, message }: Pick<RemoteMessage, 'digest' | 'message'>,
  sizeBytes: number,
): Promise<string | null> {
  if (digest !== null) return hexOf(digest)
  return message === null ? null : digestHere(session, message, sizeBytes)
}
