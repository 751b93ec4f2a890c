// Writes many items in batches, each in a unit of work, several of them under way at a time.

/** Units of work that are asked for before the first of them is durable: the next ones are written while it is flushed. */
const BATCHES_AT_ONCE = 8

interface BatchOptions<T> {
  /** Items of one batch. */
  most: number
  /** Called for each batch that is durable, in their order. */
  onDone?(result: T): void
  /** No further batch begins when it is aborted. */
  signal?: AbortSignal | undefined
}

/**
 * Writes batches of items in their order. After a failure no further one begins.
 * @throws the first error, or the reason of the signal, when every batch that began has ended
 */
export async function inBatches<I, T>(
  items: readonly I[],
  write: (batch: I[]) => Promise<T>,
  { most, onDone = () => {}, signal }: BatchOptions<T>,
): Promise<void> {
  const waiting: Promise<T>[] = []
  try {
    for (let at = 0; at < items.length; at += most) {
      signal?.throwIfAborted()
      const written = write(items.slice(at, at + most))
      // It is awaited behind those before it, and may fail before.
      written.catch(() => {})
      waiting.push(written)
      if (waiting.length === BATCHES_AT_ONCE) onDone(await waiting.shift()!)
    }
    while (waiting.length > 0) onDone(await waiting.shift()!)
  } catch (error) {
    for (const settled of await Promise.allSettled(waiting)) if (settled.status === 'fulfilled') onDone(settled.value)
    throw error
  }
}

export function ascending(a: number, b: number): number {
  return a - b
}
