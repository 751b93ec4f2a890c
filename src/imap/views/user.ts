// The mailbox that a session is logged in to.

import type { SignedIn } from '../../access/signed-in.ts'
import type { Account } from '../../store/rows/records.ts'

export interface SignedInUser {
  access: SignedIn
  account: Account
  /** Stops watching the credential, and frees the connection of the mailbox. */
  release(): void
}
