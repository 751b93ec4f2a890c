// NOOP and CHECK (RFC 9051 §6.1.2, RFC 3501 §6.4.1): the session announces changes after each command.

import { command } from '../session/session.ts'

export const noop = command({ name: 'NOOP', in: 'any', read: () => null, run: () => undefined })

export const check = command({ name: 'CHECK', in: 'selected', read: () => null, run: () => undefined })
