// Sends a message over a pooled connection.

import type { Clock } from '../../../base/clock.ts'
import type { Connection } from './connection.ts'
import { SmtpError } from './errors.ts'
import { offer } from './offer.ts'
import type { Pool } from './pool.ts'
import type { OutgoingMessage } from './transfer.ts'
import type { TransferResult } from './verdicts.ts'

/** Number of stale pooled connections after which one more is a failure. */
const STALE_MAX = 10

export interface Offered {
  result: TransferResult
  /** The connection used; null if none could be opened. */
  connection: Connection | null
}

/** Never throws for failures of the server. */
export async function handOver(
  pool: Pool,
  message: OutgoingMessage,
  deps: { clock: Clock; signal: AbortSignal },
): Promise<Offered> {
  const { result, connection } = await overConnection(pool, deps.signal, (ready) => offer(ready, message, deps))
  return { result: result!, connection }
}

/**
 * Takes a connection for one message. Never throws for failures of the server.
 * @param offerOver offers the message over a ready connection; resolves to null if the message must no longer be sent
 */
export async function overConnection(
  pool: Pool,
  signal: AbortSignal,
  offerOver: (ready: Connection) => Promise<TransferResult | null>,
): Promise<{ result: TransferResult | null; connection: Connection | null }> {
  for (let tries = 0; ; tries++) {
    const connection = await pool.take(signal).catch(smtpErrorOf)
    if (connection instanceof SmtpError) return { result: { kind: 'broken', error: connection }, connection: null }
    const isReused = connection.transactions > 0
    const result = await offerOver(connection).finally(() => pool.give(connection))
    const isUseless = result !== null && isReused && isStale(result)
    if (!isUseless || signal.aborted || tries >= STALE_MAX) return { result, connection }
    // No need to wait for the replies to QUIT.
    void pool.dropIdle()
  }
}

/**
 * True when a pooled connection is stale: the server closed it, or it reached the server's message limit. That is no failure of the
 * message, and the other pooled connections are probably stale, too.
 */
function isStale(result: TransferResult): boolean {
  if (result.kind === 'broken') return result.error.stage === 'sender'
  return result.kind === 'sender' && result.stage === 'sender' && result.reply.smtpCode! < 500
}

/** @throws errors that the server did not cause */
function smtpErrorOf(error: unknown): SmtpError {
  if (error instanceof SmtpError) return error
  throw error
}
