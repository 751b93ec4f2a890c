// Actions, which change something: one at a time, with their error beside them.

import { useCallback, useRef, useState } from 'preact/hooks'
import { type ApiError, toApiError } from '../api/errors.ts'

export interface Action<A extends unknown[], T> {
  /** Undefined when it failed, or when it was under way already. */
  run(...args: A): Promise<T | undefined>
  isBusy: boolean
  error: ApiError | null
  clear(): void
}

/** Something a person does: one at a time, with its error beside it. */
export function useAction<A extends unknown[], T>(act: (...args: A) => Promise<T>): Action<A, T> {
  const [state, setState] = useState<{ isBusy: boolean; error: ApiError | null }>({ isBusy: false, error: null })
  const isBusy = useRef(false)
  const latest = useRef(act)
  latest.current = act
  const run = useCallback(async (...args: A) => {
    if (isBusy.current) return undefined
    isBusy.current = true
    setState({ isBusy: true, error: null })
    try {
      const value = await latest.current(...args)
      setState({ isBusy: false, error: null })
      return value
    } catch (error) {
      setState({ isBusy: false, error: toApiError(error) })
      return undefined
    } finally {
      isBusy.current = false
    }
  }, [])
  return { run, ...state, clear: () => setState({ isBusy: false, error: null }) }
}
