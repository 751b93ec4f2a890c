// A request that a handler makes to the API of its own listener: the same chain, with the credential of the request that it answers.

import { type IncomingHttpHeaders, type IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { InnerAnswer, InnerOperation } from './inner-operation.ts'
import { API_BASE } from './prepared-route.ts'
import type { RequestContext } from './request-context.ts'

export type Serve = (req: IncomingMessage, res: ServerResponse) => Promise<void>

/** Headers that an inner request has in common with its outer one: who asks, from where. */
const SHARED = ['authorization', 'host', 'x-forwarded-for', 'user-agent'] as const
const ENDED: InnerAnswer = { status: 0, text: '', retryAfter: null }

/** Runs the operation; it counts for the limits of the credential as any other request. */
export function callInside(outer: RequestContext, operation: InnerOperation, serve: Serve): Promise<InnerAnswer> {
  return new Promise((resolve, reject) => {
    const req = new InnerRequest(outer.req, operation) as unknown as IncomingMessage
    const res = new InnerResponse(req, resolve)
    const signals = [outer.signal, ...(operation.signal === undefined ? [] : [operation.signal])]
    const ending = AbortSignal.any(signals)
    if (ending.aborted) return resolve(ENDED)
    const end = () => res.leave()
    ending.addEventListener('abort', end, { once: true })
    serve(req, res)
      .catch(reject)
      .finally(() => ending.removeEventListener('abort', end))
  })
}

/** The members of a request that the chain reads. */
class InnerRequest extends Readable {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
  readonly httpVersion = '1.1'
  readonly httpVersionMajor = 1
  readonly httpVersionMinor = 1
  readonly complete = true
  readonly socket: IncomingMessage['socket']

  constructor({ headers, socket }: IncomingMessage, { method, path, body, idempotencyKey }: InnerOperation) {
    super()
    this.method = method
    this.url = API_BASE + path
    this.socket = socket
    const content = body === undefined ? null : Buffer.from(JSON.stringify(body))
    const shared = SHARED.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]] as const]))
    this.headers = {
      ...Object.fromEntries(shared),
      accept: 'application/json',
      ...(content !== null && { 'content-type': 'application/json', 'content-length': String(content.length) }),
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    }
    this.rawHeaders = Object.entries(this.headers).flat().map(String)
    if (content !== null) this.push(content)
    this.push(null)
  }

  override _read(): void {}
}

/** Collects what the chain writes. */
class InnerResponse extends ServerResponse {
  readonly #pieces: Buffer[] = []
  readonly #settle: (answer: InnerAnswer) => void

  constructor(req: IncomingMessage, settle: (answer: InnerAnswer) => void) {
    super(req)
    this.#settle = settle
  }

  override write(piece: string | Uint8Array): boolean {
    this.#pieces.push(Buffer.from(piece as Uint8Array))
    return true
  }

  override end(last?: unknown): this {
    if (last !== undefined && typeof last !== 'function') this.write(last as Uint8Array)
    this.finished = true
    const retryAfter = this.getHeader('retry-after')
    const text = Buffer.concat(this.#pieces).toString()
    this.#settle({ status: this.statusCode, text, retryAfter: retryAfter === undefined ? null : String(retryAfter) })
    this.emit('close')
    return this
  }

  override destroy(): this {
    this.leave()
    return this
  }

  /** The client of the outer request has left. */
  leave(): void {
    if (this.finished) return
    this.emit('close')
    this.#settle(ENDED)
  }
}
