// What the carriers at Google, Microsoft and Amazon need of the rest of sending.

import type { Tx } from '../../../db/db.ts'
import type { OutboundParts } from '../../deps.ts'
import type { Provider } from '../../records.ts'

export interface AccountParts extends OutboundParts {
  providers: {
    connections: {
      /** Opens what a provider keeps sealed, as it is now. */
      secretsOf(provider: Provider): Promise<{ refreshToken: string | null }>
      /** Keeps the token the other side gave in place of the one before. Open connections stay what they are. */
      keepRotated(tx: Tx, providerId: string, refreshToken: string): Promise<void>
    }
    health: {
      /** The connection was taken back: the account is in error at once (decisions §3.2). */
      refuse(provider: Provider, reason: string): Promise<void>
    }
  }
}

export interface SesParts extends OutboundParts {
  sharedLimit: {
    /** Tells how many of the recipients that were taken the shared account accepted. */
    settle(tx: Tx, teamId: string, taken: number, accepted: number): Promise<void>
  }
}
