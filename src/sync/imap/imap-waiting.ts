// Waits for changes of the selected folder: IDLE (RFC 2177), or NOOP where there is none.

import { pause } from '../../base/clock.ts'
import { ServerError } from '../model/server.ts'
import { COMMAND_MS } from './imap-channel.ts'
import type { RemoteSession } from './imap-session.ts'

/** ms between two NOOP. */
const POLL_MS = 60_000

export async function waitForChange(
  session: RemoteSession,
  ms: number,
  signal: AbortSignal,
): Promise<'changed' | 'unchanged'> {
  const folder = session.folder()
  const isChanged = () => folder.isChanged
  if (!isChanged() && !signal.aborted) {
    if (session.facts.hasIdle && !session.refusesIdle) await idle(session, ms, signal)
    else await poll(session, ms, signal)
  }
  const answer = isChanged() ? 'changed' : 'unchanged'
  folder.isChanged = false
  return answer
}

async function idle(session: RemoteSession, ms: number, signal: AbortSignal): Promise<void> {
  const { channel, clock } = session
  const folder = session.folder()
  let [isIdling, isEnded, isDone] = [false, false, false]
  const end = () => {
    isEnded = true
    // DONE may only follow the continuation (RFC 9051 §6.3.13).
    if (!isIdling || isDone) return
    isDone = true
    channel.write('DONE')
  }
  const announced = (name: string) => ({
    [name]: (response: Parameters<typeof channel.observe>[1]) => {
      if (name === 'FETCH') folder.isChanged = true
      else channel.observe(name, response)
      if (folder.isChanged) end()
    },
  })
  const handlers = Object.assign({}, ...['EXISTS', 'EXPUNGE', 'VANISHED', 'FETCH'].map(announced))
  const onContinue = () => {
    isIdling = true
    if (isEnded) end()
  }
  const timer = clock.after(ms, end)
  signal.addEventListener('abort', end, { once: true })
  try {
    await channel.run('IDLE', [], handlers, { ms: ms + COMMAND_MS, onContinue, isShort: true })
  } catch (error) {
    if (!(error instanceof ServerError) || error.effect !== 'refused') throw error
    session.refusesIdle = true
  } finally {
    timer.cancel()
    signal.removeEventListener('abort', end)
  }
}

async function poll(session: RemoteSession, ms: number, signal: AbortSignal): Promise<void> {
  const { channel, clock } = session
  const folder = session.folder()
  const until = clock.monotonic() + ms
  for (;;) {
    const onFetch = () => {
      folder.isChanged = true
    }
    await channel.run('NOOP', [], { FETCH: onFetch }, { isShort: true })
    const rest = until - clock.monotonic()
    if (folder.isChanged || signal.aborted || rest <= 0) return
    await pause(clock, Math.min(rest, POLL_MS), signal)
    if (signal.aborted) return
  }
}
