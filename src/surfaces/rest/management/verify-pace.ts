// Keeps the checks of one domain apart, since each asks the name servers of strangers.

import { ProductError } from '../../../base/errors.ts'
import type { Context } from '../../../context.ts'

/** Decisions §1.9: one check in 10 seconds for each domain. */
export const VERIFY_EVERY_MS = 10_000

const lastOf = new WeakMap<Context, Map<string, number>>()

/** @throws ProductError rate_limit_exceeded when the domain was checked less than 10 seconds ago */
export function verifyPace(app: Context, domainId: string): void {
  const now = app.clock.now()
  const last = lastOf.get(app) ?? new Map<string, number>()
  lastOf.set(app, last)
  // Entries come in the order of time, so those that no longer count lie in front.
  for (const [id, at] of last) {
    if (now - at < VERIFY_EVERY_MS) break
    last.delete(id)
  }
  const at = last.get(domainId)
  if (at !== undefined) {
    throw new ProductError('rate_limit_exceeded', 'The domain was checked less than 10 seconds ago.', {
      retryAfter: Math.max(1, Math.ceil((at + VERIFY_EVERY_MS - now) / 1000)),
    })
  }
  last.set(domainId, now)
}
