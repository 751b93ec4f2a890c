// Reads a list part by part, up to a number of rows.

/** One part of a list by cursors. */
interface Part<T> {
  items: readonly T[]
  next: string | null
}

/**
 * @param ask gets the cursor of a part, undefined for the first one
 * @param onRows called after each part with the number of rows so far
 * @returns the rows, at most `most`, and whether there are more; what was read so far when the signal is aborted
 */
export async function readParts<T>(
  ask: (cursor: string | undefined) => Promise<Part<T>>,
  most: number,
  onRows: (rows: number) => void,
  signal: AbortSignal,
): Promise<{ rows: T[]; hasMore: boolean }> {
  const rows: T[] = []
  let next: string | undefined
  do {
    const part = await ask(next)
    rows.push(...part.items)
    next = part.next ?? undefined
    onRows(Math.min(rows.length, most))
  } while (next !== undefined && rows.length < most && !signal.aborted)
  return { rows: rows.slice(0, most), hasMore: next !== undefined || rows.length > most }
}
