// The host a passkey belongs to (WebAuthn §5.1.2, RP ID): it cannot be used at another one.

import { statements } from '../migrate.ts'

// Null for passkeys of earlier versions, whose host was not stored.
export const passkeyHosts = statements(59, 'passkey hosts', 'ALTER TABLE passkeys ADD COLUMN rp_id TEXT;')
