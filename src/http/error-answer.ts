// An error of a route, and the response that a route with a format of its own makes of it.

import type { ProductError } from '../base/errors.ts'

/** An error to be sent. */
export interface RouteError {
  error: ProductError
  status: number
  requestId: string
  /** Value of `Retry-After` in seconds, if any. */
  wait?: number
}

/** An error response in a route's own format. */
export interface ErrorAnswer {
  status: number
  type: string
  text: string
  headers?: Record<string, string>
}
