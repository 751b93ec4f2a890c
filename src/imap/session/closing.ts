// The end of a connection: what was written is sent first, but no client can hold the connection by not reading.

import type { Duplex } from 'node:stream'
import type { Clock } from '../../base/clock.ts'
import { CLOSING_MS } from '../../base/lifecycle.ts'

/** Destroys a stream that has been ended, when its bytes are sent or after {@link CLOSING_MS}. */
export function destroyWhenSent(stream: Duplex, clock: Clock): void {
  if (stream.writableFinished || stream.destroyed) {
    stream.destroy()
    return
  }
  const limit = clock.after(CLOSING_MS, () => stream.destroy())
  stream.once('close', () => limit.cancel())
  stream.once('finish', () => stream.destroy())
}
