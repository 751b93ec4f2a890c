// A mail over one of the connections that are kept to a server.

import type { Clock } from '../../../base/clock.ts'
import type { Connection } from './connection.ts'
import { Fault } from './errors.ts'
import { offer } from './offer.ts'
import type { Pool } from './pool.ts'
import type { Letter } from './transfer.ts'
import type { Judged } from './verdicts.ts'

/** Kept connections that may turn out to be of no use before one more is a failure. */
const STALE_MAX = 10

export interface Offered {
  judged: Judged
  /** Over what; null when there was no connection. */
  connection: Connection | null
}

/** Never throws for what the other side does. */
export async function handOver(
  pool: Pool,
  letter: Letter,
  parts: { clock: Clock; signal: AbortSignal },
): Promise<Offered> {
  const { judged, connection } = await overConnection(pool, parts.signal, (ready) => offer(ready, letter, parts))
  return { judged: judged!, connection }
}

/**
 * Takes a connection for one message. Never throws for what the other side does.
 * @param offerOver offers the message over a connection that is ready; null when it does not want to any more
 */
export async function overConnection(
  pool: Pool,
  signal: AbortSignal,
  offerOver: (ready: Connection) => Promise<Judged | null>,
): Promise<{ judged: Judged | null; connection: Connection | null }> {
  for (let tries = 0; ; tries++) {
    const connection = await pool.take(signal).catch(faultOf)
    if (connection instanceof Fault) return { judged: { kind: 'broken', fault: connection }, connection: null }
    const isKept = connection.mails > 0
    const judged = await offerOver(connection).finally(() => pool.give(connection))
    const isUseless = judged !== null && isKept && isStale(judged)
    if (!isUseless || signal.aborted || tries >= STALE_MAX) return { judged, connection }
    // Nobody has to wait for their goodbyes.
    void pool.dropIdle()
  }
}

/**
 * True where a connection that was kept is of no more use: the server closed it meanwhile, or has had enough mails over it. That is
 * no failure, and most likely says the same of the others that were kept.
 */
function isStale(judged: Judged): boolean {
  if (judged.kind === 'broken') return judged.fault.stage === 'sender'
  return judged.kind === 'sender' && judged.stage === 'sender' && judged.reply.smtpCode! < 500
}

/** @throws what is no fault of the other side */
function faultOf(error: unknown): Fault {
  if (error instanceof Fault) return error
  throw error
}
