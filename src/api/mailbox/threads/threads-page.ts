// Pages of threads as JSON: the JSON of a thread is written once, and joined to pages as often as the states change.

import { RenderedJson } from '../../../http/json-text.ts'
import type { Page, States, Thread } from '../../../store/rows/records.ts'
import { presentOnce } from '../../rules/shown.ts'
import { presentThread, type ThreadJson } from '../../schemas/thread.ts'

/**
 * The JSON of threads without the states of the mailbox, which change with every change in it, and without the closing brace. The store
 * returns the same thread until it changes (store/threads/cache.ts).
 */
const rendered = new WeakMap<Thread, Buffer>()

/** The threads of a page. */
export function presentThreads(page: Page<Thread>, states: States): RenderedJson<ThreadJson[]> {
  return presentOnce(
    page,
    `${states.threads} ${states.messages}`,
    (threads) =>
      new RenderedJson(joined(threads, states), () => threads.map((thread) => presentThread(thread, states))),
  )
}

function joined(threads: readonly Thread[], states: States): Buffer {
  if (threads.length === 0) return Buffer.from('[]')
  const shown = JSON.stringify({ thread_state: states.threads, email_state: states.messages })
  const between = Buffer.from(`,"states":${shown}},`)
  const pieces: Buffer[] = [Buffer.from('[')]
  for (const thread of threads) pieces.push(rendered.get(thread) ?? render(thread, states), between)
  pieces[pieces.length - 1] = Buffer.from(`,"states":${shown}}]`)
  return Buffer.concat(pieces)
}

function render(thread: Thread, states: States): Buffer {
  const { states: _, ...constant } = presentThread(thread, states)
  const json = Buffer.from(JSON.stringify(constant).slice(0, -1))
  rendered.set(thread, json)
  return json
}
