// A request of a handler to the API of its own listener, and the answer.

/** A request below `/api/v1`. */
export interface InnerOperation {
  method: 'GET' | 'POST' | 'DELETE'
  /** With its query string. */
  path: string
  body?: object
  idempotencyKey?: string
  /** Ends it as if its client had left. */
  signal?: AbortSignal
}

export interface InnerAnswer {
  /** 0 when it was ended by its signal. */
  status: number
  text: string
  retryAfter: string | null
}
