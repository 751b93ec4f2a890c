// Flushes of the disk that a test holds back, until it lets them go or ends.

import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import type { TestContext } from 'node:test'

type Callback = (error: Error | null) => void

export interface HeldFlushes {
  /** Those that wait: called with null or an error they end. */
  held: Callback[]
  /** Lets go of those that are held, and holds no more. */
  end(): void
}

/** Holds back every flush of this thread. A test that fails, or waits in vain until its time-out, lets them go: what it opened can be closed. */
export function holdFlushes(t: TestContext): HeldFlushes {
  const held: Callback[] = []
  const mocked = t.mock.method(fs, 'fdatasync', (_descriptor: number, done: Callback) => held.push(done))
  syncBuiltinESMExports()
  const end = () => {
    mocked.mock.restore()
    syncBuiltinESMExports()
    for (const done of held.splice(0)) done(null)
  }
  t.after(end)
  return { held, end }
}
