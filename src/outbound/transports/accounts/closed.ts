// The transport of an account whose configuration the operator removed: always unavailable, so that other accounts are used.

import type { Transport } from '../../model/transport.ts'
import { failed } from './check.ts'
import { unavailable } from './verdicts.ts'

/** @param text one sentence that says what is missing */
export function closedCarrier(text: string): Transport {
  return {
    hand: async () => unavailable('auth', text, 'transient'),
    check: async () => failed('auth', text),
    close: async () => {},
  }
}
