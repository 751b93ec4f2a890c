// What can go wrong with a request: the error of the API, or no answer at all.

/** One member of a body that the API refused. */
export interface FieldError {
  field: string
  message: string
}

export class ApiError extends Error {
  readonly status: number
  /** The stable code of the API; `no_answer` when the network or the server failed. */
  readonly code: string
  readonly fields: readonly FieldError[]
  readonly requestId: string | null
  /** The parameter that the error is about. */
  readonly param: string | null

  constructor(status: number, content: ErrorContent, requestId: string | null) {
    super(content.message)
    this.status = status
    this.code = content.code
    this.fields = content.errors ?? []
    this.param = content.param ?? null
    this.requestId = requestId
  }

  /** Whether the record is another one than the If-Match of the request named. */
  get isOtherVersion(): boolean {
    return this.code === 'conflict' && this.param === 'If-Match'
  }

  /** What the API says of one field: also that its value is taken, which is an error without a list of fields. */
  fieldMessage(field: string): string | undefined {
    const listed = this.fields.find((one) => one.field === field || one.field.startsWith(`${field}.`))?.message
    return listed ?? (this.fields.length === 0 && this.param === field ? this.message : undefined)
  }
}

interface ErrorContent {
  code: string
  message: string
  param?: string | null
  errors?: FieldError[]
}

/** The error in a body of the API. */
export function errorOf(status: number, body: unknown): ApiError {
  const { error, meta } = (body ?? {}) as { error?: Partial<ErrorContent>; meta?: { request_id?: string } }
  const content = { ...error, code: error?.code ?? 'no_answer', message: error?.message ?? '' }
  return new ApiError(status, content, meta?.request_id ?? null)
}

/** What browsers throw when a person closes the dialog of a passkey, or does not answer it in time. */
const CANCELLED: readonly string[] = ['NotAllowedError', 'AbortError']

/** Anything that was thrown: `cancelled` when the person did not go on, `failed` with the words of the browser else. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  const { name, message } = error instanceof Error ? error : new Error(String(error))
  return new ApiError(0, { code: CANCELLED.includes(name) ? 'cancelled' : 'failed', message }, null)
}

/** No answer: the network is down, or the server is. */
export function noAnswer(): ApiError {
  return new ApiError(0, { code: 'no_answer', message: '' }, null)
}
