// Waits for what another process or the network brings, and says what did not come.

import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import { inspect } from 'node:util'

/** A busy machine starts a program in ten seconds; a lost connection is made again after fifteen. */
const PATIENCE_MS = 60_000
const PAUSE_MS = 20

/**
 * Reads again until it holds.
 * @param patienceMs for what takes a minute itself on a busy machine
 * @throws AssertionError after that time, with the condition and the last value
 */
export async function eventually<T>(
  read: () => T | Promise<T>,
  holds: (value: T) => boolean = (value) => Boolean(value),
  patienceMs = PATIENCE_MS,
): Promise<T> {
  const end = performance.now() + patienceMs
  for (;;) {
    const value = await read()
    if (holds(value)) return value
    if (performance.now() > end) assert.fail(`Waited ${patienceMs / 1000} s for ${holds} of ${read}: ${inspect(value)}`)
    await setTimeout(PAUSE_MS)
  }
}
