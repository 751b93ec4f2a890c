// Reads messages together; when the server refuses, in halves, until only those remain that it refuses alone.

import { isRefusal, ServerError } from '../model/server.ts'
import type { FetchBreaks } from './content-memory.ts'

/** Messages at which a server fails, each alone, before it gave any: then it is the server that fails. */
const FAILURES_MAX = 5

interface HalvedRead<Item, Result> {
  results: Result[]
  refused: { item: Item; error: ServerError }[]
}

/**
 * One message that a server cannot read makes it refuse a whole FETCH (`NO`, RFC 9051 §6.4.5): the other messages are read without it.
 * @throws ServerError that is no refusal
 */
export async function readByHalves<Item, Result>(
  items: readonly Item[],
  read: (items: readonly Item[]) => Promise<Result>,
): Promise<HalvedRead<Item, Result>> {
  const all: HalvedRead<Item, Result> = { results: [], refused: [] }
  await readInto(all, items, read)
  const failed = all.results.length === 0 ? all.refused.find(({ error }) => error.isFailure) : undefined
  if (failed !== undefined) throw failed.error
  return all
}

async function readInto<Item, Result>(
  all: HalvedRead<Item, Result>,
  items: readonly Item[],
  read: (items: readonly Item[]) => Promise<Result>,
): Promise<void> {
  if (items.length === 0) return
  try {
    return void all.results.push(await read(items))
  } catch (error) {
    if (!isOfCommand(error)) throw error
    if (items.length === 1) all.refused.push({ item: items[0]!, error })
    const failures = all.refused.filter((one) => one.error.isFailure).length
    if (failures >= FAILURES_MAX && all.results.length === 0) throw error
    if (items.length === 1) return
  }
  const middle = Math.ceil(items.length / 2)
  await readInto(all, items.slice(0, middle), read)
  await readInto(all, items.slice(middle), read)
}

function isOfCommand(error: unknown): error is ServerError {
  return isRefusal(error) || (error instanceof ServerError && error.isFailure)
}

/** Where messages are read from, and what is known of connections that broke at them. */
interface ReadScope {
  folder: number
  breaks: FetchBreaks
  signal: AbortSignal
}

/** As {@link readByHalves}, by UID; messages at which the connection broke are read alone, and left out when it breaks each time. */
export async function readApart<Result>(
  { folder, breaks, signal }: ReadScope,
  uids: readonly number[],
  read: (uids: readonly number[]) => Promise<Result>,
): Promise<HalvedRead<number, Result>> {
  const asked = uids.filter((uid) => !breaks.isLeft(folder, uid))
  const together = asked.filter((uid) => !breaks.isAlone(folder, uid))
  const alone = asked.filter((uid) => breaks.isAlone(folder, uid)).map((uid) => [uid])
  const left = uids.filter((uid) => breaks.isLeft(folder, uid))
  const all: HalvedRead<number, Result> = { results: [], refused: left.map((item) => ({ item, error: broken() })) }
  for (const group of [together, ...alone]) {
    try {
      const { results, refused } = await readByHalves(group, read)
      all.results.push(...results)
      all.refused.push(...refused)
    } catch (error) {
      if (!signal.aborted) breaks.note(folder, group, error)
      throw error
    }
    if (group !== together) breaks.forget(folder, group)
  }
  return all
}

function broken(): ServerError {
  return new ServerError('refused', 'The connection breaks at the message.')
}
