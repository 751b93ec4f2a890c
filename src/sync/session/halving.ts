// Reads messages together; when the server refuses, in halves, until only those remain that it refuses alone.

import { isRefusal, type ServerError } from '../model/server.ts'

export interface HalvedRead<Item, Result> {
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
  if (items.length === 0) return { results: [], refused: [] }
  try {
    return { results: [await read(items)], refused: [] }
  } catch (error) {
    if (!isRefusal(error)) throw error
    if (items.length === 1) return { results: [], refused: [{ item: items[0]!, error }] }
  }
  const middle = Math.ceil(items.length / 2)
  const first = await readByHalves(items.slice(0, middle), read)
  const second = await readByHalves(items.slice(middle), read)
  return { results: [...first.results, ...second.results], refused: [...first.refused, ...second.refused] }
}
