// Queries of pages: kept by key, shared, asked again after changes.

import { QueryClient, type QueryKey, QueryObserver } from '@tanstack/query-core'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { ListPart } from '../api/client.ts'
import { type ApiError, toApiError } from '../api/errors.ts'
import { useAction } from './action.ts'
import { isLive } from './state.ts'

export { type Action, useAction } from './action.ts'

const STALE_MS = 10_000
/** How often logs are asked again while they are shown. */
export const LIVE_MS = 10_000
/** While the stream says what changed, asking in intervals is the second net. */
const LIVE_INTERVAL_MS = 60_000
/** Later parts of a list that are asked again with the first one. */
const MOST_FOLLOWED = 5

export const queries = new QueryClient({
  defaultOptions: { queries: { staleTime: STALE_MS, retry: false, refetchOnWindowFocus: true } },
})

export interface QueryState<T> {
  data: T | undefined
  error: ApiError | null
  /** The error when nothing can be shown: there was no answer yet, or the record is gone. What a form holds outlives other ones. */
  failure: ApiError | null
  isLoading: boolean
  /** When `data` was answered, ms; 0 before. */
  answeredAt: number
  refetch(): void
}

export interface QueryOptions {
  /** Asked again after this many milliseconds while the page is shown and the stream is not connected. */
  every?: number
  /** The stream does not say when it changes: asked in the intervals always. */
  isAlone?: boolean
  /** False: not asked. */
  when?: boolean
}

const asApiError = (error: unknown) => (error === null || error === undefined ? null : toApiError(error))

/** What a request answers; `key` names it with everything it depends on. */
export function useQuery<T>(
  key: QueryKey,
  ask: () => Promise<T>,
  { every, when = true, isAlone = false }: QueryOptions = {},
): QueryState<T> {
  const interval = every !== undefined && isLive.value && !isAlone ? Math.max(every, LIVE_INTERVAL_MS) : every
  const options = { queryKey: key, queryFn: ask, refetchInterval: interval ?? (false as const), enabled: when }
  const name = JSON.stringify(key)
  const observer = useMemo(() => new QueryObserver<T>(queries, options), [name])
  observer.setOptions(options)
  const [, redraw] = useState({})
  useEffect(() => observer.subscribe(() => redraw({})), [observer])
  const { data, error: thrown, isPending, dataUpdatedAt: answeredAt } = observer.getCurrentResult()
  const error = asApiError(thrown)
  const failure = data === undefined || error?.status === 404 ? error : null
  return { data, error, failure, isLoading: isPending && when, answeredAt, refetch: () => void observer.refetch() }
}

/** Whether a query whose key begins like this waits for its first answer. */
export function useIsPending(...key: QueryKey): boolean {
  const countPending = () => queries.isFetching({ queryKey: key, predicate: ({ state }) => state.status === 'pending' })
  const [isPending, setPending] = useState(true)
  const name = JSON.stringify(key)
  // Before the first paint: what was shown a moment ago is there at once.
  useLayoutEffect(() => {
    const all = queries.getQueryCache().findAll({ queryKey: key })
    if (all.every(({ state }) => state.status !== 'pending')) setPending(false)
  }, [name])
  useEffect(() => {
    const look = () => setPending(countPending() > 0)
    look()
    return queries.getQueryCache().subscribe(look)
  }, [name])
  return isPending
}

/** A list that is loaded part by part. */
export interface PagesState<T> {
  items: T[]
  error: ApiError | null
  isLoading: boolean
  isLoadingMore: boolean
  hasMore: boolean
  loadMore(): void
  refetch(): void
}

/** A list by cursors; `ask` gets the cursor of the part, undefined for the first one. When the first part changes, the later ones follow. */
export function usePages<T>(
  key: QueryKey,
  ask: (cursor: string | undefined) => Promise<ListPart<T>>,
  options: QueryOptions = {},
): PagesState<T> {
  const first = useQuery(key, () => ask(undefined), options)
  const [later, setLater] = useState<ListPart<T>[]>([])
  const name = JSON.stringify(key)
  const shown = useRef(name)
  shown.current = name
  // What comes after the filters were changed belongs to another list.
  const more = useAction(async (cursor: string) => {
    const part = await ask(cursor)
    if (shown.current === name) setLater((parts) => [...parts, part])
  })
  const follow = useAction(async (part: ListPart<T>, length: number) => {
    const parts = await partsAfter(part, ask, Math.min(length, MOST_FOLLOWED))
    if (shown.current === name) setLater(parts)
  })
  useEffect(() => setLater([]), [name])
  useEffect(() => {
    if (later.length > 0 && first.data !== undefined) void follow.run(first.data, later.length)
  }, [first.data])
  const last = later.at(-1) ?? first.data
  return {
    items: [...(first.data?.items ?? []), ...later.flatMap(({ items }) => items)],
    error: first.error ?? more.error,
    isLoading: first.isLoading,
    isLoadingMore: more.isBusy,
    hasMore: last?.next != null,
    loadMore: () => {
      if (last?.next != null) void more.run(last.next)
    },
    refetch: () => {
      setLater([])
      first.refetch()
    },
  }
}

/**
 * The rows of a list that the API does not search, by a text; while there is one, all parts are loaded.
 * @param textOf what is searched of a row
 */
export function useMatching<T>(pages: PagesState<T>, text: string, textOf: (row: T) => string): PagesState<T> {
  const wanted = text.trim().toLowerCase()
  const isIncomplete = wanted !== '' && pages.hasMore && pages.error === null
  useEffect(() => {
    if (isIncomplete && !pages.isLoadingMore) pages.loadMore()
  })
  const items = pages.items.filter((row) => textOf(row).toLowerCase().includes(wanted))
  return { ...pages, items, isLoading: pages.isLoading || (isIncomplete && items.length === 0) }
}

/** The parts that follow one, as many as there were: rows that moved from part to part are neither lost nor shown twice. */
async function partsAfter<T>(
  part: ListPart<T>,
  ask: (cursor: string) => Promise<ListPart<T>>,
  length: number,
): Promise<ListPart<T>[]> {
  const parts: ListPart<T>[] = []
  let next = part.next
  while (next !== null && parts.length < length) {
    const following = await ask(next)
    parts.push(following)
    next = following.next
  }
  return parts
}

/** Shows what the answer to a change said of a record, until the query with this key has asked again. */
export function showAnswer<T>(key: QueryKey, answer: T): void {
  queries.setQueryData(key, answer)
}

/** Asks again what begins with this key. */
export function refresh(...key: QueryKey): void {
  void queries.invalidateQueries({ queryKey: key })
}
