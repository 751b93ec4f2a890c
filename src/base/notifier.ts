// Waking across threads: whoever made work rings, whoever does it listens; a ring that is lost costs the second until the next look.

import { BroadcastChannel } from 'node:worker_threads'
import { sha256 } from './secrets.ts'

/** What there is to do: mail to hand over, events to tell, sending accounts to check; and mailboxes that changed, by number. */
export type Bell = 'deliver' | 'webhooks' | 'providers' | 'accounts'

export interface Wake {
  /**
   * Rings in every thread of the house, this one included.
   * @param subject what it is about, for bells that tell; those of one turn are told together
   */
  ring(bell: Bell, subject?: number): void
  /** @returns what ends the listening */
  listen(bell: Bell, run: (subjects: readonly number[]) => void): () => void
  close(): void
}

interface Ring {
  bell: Bell
  subjects: readonly number[]
}

/** @param place the data folder: houses of one process do not hear one another */
export function openWake(place: string): Wake {
  const channel = new BroadcastChannel(`mailstead/${sha256(place).toString('hex').slice(0, 16)}`)
  // Listening alone is no reason to go on living.
  channel.unref()
  const listeners = new Map<Bell, Set<(subjects: readonly number[]) => void>>()
  /** What is to be told at the end of this turn. */
  const gathered = new Map<Bell, Set<number>>()
  let isClosed = false
  const hear = ({ bell, subjects }: Ring) => {
    for (const run of listeners.get(bell) ?? []) run(subjects)
  }
  const tell = (ring: Ring) => {
    if (isClosed) return
    channel.postMessage(ring)
    // A channel does not hear itself.
    if (listeners.has(ring.bell)) queueMicrotask(() => hear(ring))
  }
  const tellGathered = () => {
    for (const [bell, subjects] of gathered) tell({ bell, subjects: [...subjects] })
    gathered.clear()
  }
  channel.onmessage = (message) => hear((message as { data: Ring }).data)
  return {
    ring(bell, subject) {
      if (subject === undefined) return tell({ bell, subjects: [] })
      if (gathered.size === 0) queueMicrotask(tellGathered)
      const subjects = gathered.get(bell) ?? new Set()
      gathered.set(bell, subjects.add(subject))
    },
    listen(bell, run) {
      const set = listeners.get(bell) ?? new Set()
      listeners.set(bell, set.add(run))
      return () => {
        set.delete(run)
      }
    },
    close() {
      isClosed = true
      channel.close()
    },
  }
}
