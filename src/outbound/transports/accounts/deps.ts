// Dependencies of the Google, Microsoft and Amazon transports.

import type { Tx } from '../../../db/db.ts'
import type { OutboundDeps } from '../../model/deps.ts'
import type { Provider } from '../../model/records.ts'

export interface AccountDeps extends OutboundDeps {
  providers: {
    connections: {
      /** Decrypts the current secrets of a provider. */
      secretsOf(provider: Provider): { refreshToken: string | null }
      /** Stores a rotated refresh token. The connection version stays the same. */
      keepRotated(tx: Tx, providerId: string, refreshToken: string): void
    }
    health: {
      /** The consent was revoked: puts the account into `error` immediately (docs/design/sending.md §2). */
      refuse(provider: Provider, reason: string): Promise<void>
    }
  }
}

export interface SesDeps extends OutboundDeps {
  sharedLimit: {
    /** Records how many of the reserved recipients the shared account accepted. */
    settle(tx: Tx, teamId: string, taken: number, accepted: number): void
  }
}
