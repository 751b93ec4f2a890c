// Messages that arrive at a steady rate over SMTP or LMTP, from a process of their own.

import { startNode } from './processes.ts'

/** A request to the process. */
export interface ArrivalsRequest {
  port: number
  protocol: 'SMTP' | 'LMTP'
  to: string
  /** PEM of the signing key. */
  key: string
  bytes: number
  perSecond: number
}

export interface Arrivals {
  /** @returns how many messages were accepted */
  stop(): Promise<number>
}

/** Begins at once. */
export function startArrivals(request: ArrivalsRequest): Arrivals {
  const child = startNode('bench/arrivals-load.ts')
  child.send(request)
  return {
    async stop() {
      child.send({ stop: true })
      const { accepted } = await child.message<{ accepted: number }>()
      await child.ended
      return accepted
    },
  }
}
