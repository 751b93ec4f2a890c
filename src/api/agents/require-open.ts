// Whether agents can register now.

import { ProductError } from '../../base/errors.ts'
import type { Context } from '../../context.ts'

const CLOSED_RETRY_SECONDS = 3600

/** @throws ProductError service_unavailable while the operator has disabled registration (docs/design/directory.md §4) */
export function requireOpen(app: Context): void {
  if (app.agents.switches.isOpen()) return
  throw new ProductError(
    'service_unavailable',
    'Registration of agents is disabled. Try again later or ask the operator.',
    {
      retryAfter: CLOSED_RETRY_SECONDS,
    },
  )
}
