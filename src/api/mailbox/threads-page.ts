// Pages of threads as JSON: the JSON of a thread is written once, and joined to pages as often as the states change.

import { keepJson } from '../../http/json-text.ts'
import type { Page, States, Thread } from '../../store/records.ts'
import { presentThread, type ThreadJson } from '../schemas/thread.ts'
import { presentOnce } from './shown.ts'

interface PresentedThread {
  /** All but the states of the mailbox, which change with every change in it. */
  constant: Omit<ThreadJson, 'states'>
  /** Its JSON without the closing brace. */
  json: Buffer
}

// The store returns the same thread until it changes (store/threads/cache.ts).
const presented = new WeakMap<Thread, PresentedThread>()

/** The threads of a page, frozen, with their JSON. */
export function presentThreads(page: Page<Thread>, states: States): readonly ThreadJson[] {
  const shown = { thread_state: states.threads, email_state: states.messages }
  return presentOnce(page, `${states.threads} ${states.messages}`, (threads) => {
    const parts = threads.map((thread) => presented.get(thread) ?? present(thread, states))
    const items = Object.freeze(parts.map(({ constant }): ThreadJson => ({ ...constant, states: shown })))
    keepJson(items, joined(parts, JSON.stringify(shown)))
    return items
  })
}

function joined(parts: readonly PresentedThread[], states: string): Buffer {
  if (parts.length === 0) return Buffer.from('[]')
  const between = Buffer.from(`,"states":${states}},`)
  const pieces = [Buffer.from('['), ...parts.flatMap(({ json }) => [json, between])]
  pieces[pieces.length - 1] = Buffer.from(`,"states":${states}}]`)
  return Buffer.concat(pieces)
}

function present(thread: Thread, states: States): PresentedThread {
  const { states: _, ...constant } = presentThread(thread, states)
  const part = { constant, json: Buffer.from(JSON.stringify(constant).slice(0, -1)) }
  presented.set(thread, part)
  return part
}
