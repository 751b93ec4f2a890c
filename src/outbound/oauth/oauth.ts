// Connecting a Google or Microsoft account: a person is sent there, allows sending, and comes back with a code (RFC 6749, 7636).

import type { Tx } from '../../db/db.ts'
import type { OutboundParts } from '../parts.ts'
import type { Provider } from '../records.ts'

/** The accounts that are connected by a person's consent. */
export type ConnectedType = 'gmail_api' | 'outlook_api'

export interface OAuthParts extends OutboundParts {
  providers: {
    /** Makes the account, or gives the team's account of that type and address its new token; it is pending then. */
    createOAuth(
      tx: Tx,
      account: { teamId: string; type: ConnectedType; name: string; oauthEmail: string; refreshToken: string },
    ): Promise<Provider>
  }
}

/** What came of a person's visit. `redirectAfter` is where they wanted to go on. */
export type Visit =
  | { kind: 'connected'; provider: Provider; redirectAfter: string | null }
  /** The person said no, or left out a permission that is needed. */
  | { kind: 'denied' | 'incomplete'; redirectAfter: string | null }
  /** The state is not one of ours, is older than ten minutes, or has come before. */
  | { kind: 'unknown' | 'expired' | 'used' }
  /** The other side did not give what it should; `reason` is one sentence. */
  | { kind: 'failed'; reason: string; redirectAfter: string | null }

export class OAuth {
  constructor(_parts: OAuthParts) {}

  /**
   * Begins to connect an account.
   * @param input.redirectAfter where the person goes on afterwards: a path or URL of APP_ORIGIN
   * @throws ProductError service_unavailable (no client is configured), validation_error
   */
  authorize(
    _teamId: string,
    _input: { type: ConnectedType; name: string; redirectAfter: string | null },
  ): Promise<{ authorizationUrl: string; stateExpiresAt: number }> {
    throw new Error('not built')
  }

  /** Ends it, with what the other side put into the query of its redirect. */
  callback(_type: ConnectedType, _query: { state?: string; code?: string; error?: string }): Promise<Visit> {
    throw new Error('not built')
  }

  async close(): Promise<void> {}
}
