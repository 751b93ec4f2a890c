// The fresh proof that dangerous actions of people need.

import type { Clock } from '../base/clock.ts'
import { ProductError } from '../base/errors.ts'
import type { SessionRecord } from '../people/sessions.ts'

const BY_SCRIPT = 'Confirm with POST /me/v1/confirm, then try again.'

/**
 * Keys need no confirmation: a request without a session passes.
 * @param how the second sentence of the error: how to confirm
 * @throws ProductError insufficient_permissions for a session that was not confirmed lately
 */
export function requireConfirmed(clock: Clock, session: SessionRecord | null, how = BY_SCRIPT): void {
  if (session === null || session.confirmedUntil > clock.now()) return
  const sentence = `This action needs a fresh proof that it is you. ${how}`
  throw new ProductError('insufficient_permissions', sentence, { param: 'confirm' })
}
