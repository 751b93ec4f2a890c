// Waking across threads: whoever made work rings, whoever does it listens; a ring that is lost costs the second until the next look.

import { BroadcastChannel } from 'node:worker_threads'
import { sha256 } from './secrets.ts'

/** What there is to do: mail to hand over, events to tell, sending accounts to check. */
export type Bell = 'deliver' | 'webhooks' | 'providers'

export interface Wake {
  /** Rings in every thread of the house, this one included. */
  ring(bell: Bell): void
  /** @returns what ends the listening */
  listen(bell: Bell, run: () => void): () => void
  close(): void
}

/** @param place the data folder: houses of one process do not hear one another */
export function openWake(place: string): Wake {
  const channel = new BroadcastChannel(`mailstead/${sha256(place).toString('hex').slice(0, 16)}`)
  // Listening alone is no reason to go on living.
  channel.unref()
  const listeners = new Map<Bell, Set<() => void>>()
  const tell = (bell: Bell) => {
    for (const run of listeners.get(bell) ?? []) run()
  }
  channel.onmessage = (message) => tell((message as { data: Bell }).data)
  return {
    ring(bell) {
      channel.postMessage(bell)
      // A channel does not hear itself.
      if (listeners.has(bell)) queueMicrotask(() => tell(bell))
    },
    listen(bell, run) {
      const set = listeners.get(bell) ?? new Set()
      listeners.set(bell, set.add(run))
      return () => {
        set.delete(run)
      }
    },
    close() {
      channel.close()
    },
  }
}
