// The middleware every request passes, in the order of docs/design/http.md §4.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { ProductError } from '../base/errors.ts'
import { storageError } from '../base/storage-error.ts'
import { noteChange } from './audit.ts'
import { identify, requireAllowance, requireCredential, requirePermission } from './authenticate.ts'
import { checkDeclaredSize } from './body.ts'
import type { BodyPlan } from './body-plan.ts'
import { allowOrigin, answerOptions } from './cors.ts'
import { unknownPath } from './elsewhere.ts'
import { statusOf } from './errors.ts'
import { runOnce } from './idempotency.ts'
import { checkHeaders, readJsonInput, readParameters, readPath } from './input.ts'
import { chooseType, requireBodyType } from './negotiate.ts'
import { callerOf, ownerOf } from './owner.ts'
import { requireFreshProof, requireSameOrigin, SESSION_LIMIT } from './person-access.ts'
import { isUnderPolicy, noteReads, requirePersonFor } from './program-guard.ts'
import { outcomeOf, type SendableAnswer, sendBytes, sendError, sendOutcome, sendPage, sendStream } from './reply.ts'
import { type ListenerContext, RequestContext } from './request-context.ts'
import { ContextFacts } from './request-facts.ts'
import { noteRequest } from './request-notes.ts'
import { type Input, isBytes, isPage, isStream } from './route.ts'

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'
const CLIENT_ID_MAX = 128
const LOGGED_PATH_MAX = 512

/** The handler of all requests of a listener. It answers every outcome itself and never throws. */
export function mount(listener: ListenerContext): (req: IncomingMessage, res: ServerResponse) => void {
  return (req, res) => {
    serve(listener, req, res).catch((error: unknown) => {
      listener.app.log.error({ event: 'http.request_failed', err: error }, 'Request failed')
      res.destroy()
    })
  }
}

async function serve(listener: ListenerContext, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const request = new RequestContext(listener, req, res)
  const began = listener.app.clock.now()
  res.setHeader('X-Request-Id', request.id)
  for (const [name, value] of listener.headers()) res.setHeader(name, value)
  allowOrigin(request)
  // Node calls this at the end of the header: what came with it is parsed first, as it may end the body or be no HTTP (`Listener`).
  await null
  try {
    const answered = answer(request)
    // Most requests are answered without waiting for anything.
    if (answered instanceof Promise) await answered
  } catch (error) {
    // Releases its memory and concurrency limit before the answer is read.
    request.end()
    await fail(request, error)
  } finally {
    if (!request.isStreaming) request.end()
  }
  const ms = listener.app.clock.now() - began
  note(request, ms)
  noteRequest(request, began, ms)
}

function answer(request: RequestContext): Promise<void> | void {
  const isOptions = request.method === 'OPTIONS' && (request.match.allow !== null || request.path === '*')
  try {
    if (!isOptions) identify(request)
  } finally {
    count(request, isOptions || request.match.entry?.route.uncounted === true)
  }
  requireHost(request)
  requireSameOrigin(request)
  checkDeclaredSize(request)
  if (isOptions) return answerOptions(request, request.match.allow?.join(', ') ?? METHODS)
  requireCredential(request)
  requireRoute(request)
  if (request.match.entry?.route.uncounted !== true) requireAllowance(request)
  requirePermission(request)
  requirePersonFor(request)
  requireFreshProof(request)
  chooseType(request)
  requireBodyType(request)
  checkHeaders(request)
  readPath(request)
  readParameters(request)
  limitConcurrency(request)
  const { body } = request.match.entry!
  return body === null ? answerRead(request) : answerBody(request, body)
}

async function answerBody(request: RequestContext, plan: BodyPlan): Promise<void> {
  await readJsonInput(request, plan)
  return answerRead(request)
}

/** Answers a request whose input was read. */
function answerRead(request: RequestContext): Promise<void> | void {
  applyThrottle(request)
  const outcome = runOnce(request, () => handle(request))
  return outcome instanceof Promise ? outcome.then((one) => send(request, one)) : send(request, outcome)
}

function send(request: RequestContext, outcome: SendableAnswer): Promise<void> | void {
  if (isPage(outcome)) return sendPage(request, outcome)
  if (isStream(outcome)) return sendStream(request, outcome)
  return isBytes(outcome) ? sendBytes(request, outcome) : sendOutcome(request, outcome)
}

/** Counts the request; every response carries the remaining allowance, whatever its outcome. */
function count(request: RequestContext, free: boolean): void {
  const { rate } = request.listener
  const credential = request.session?.id ?? request.principal?.keyId ?? null
  const source = () => request.source
  const limit = request.session === null ? undefined : SESSION_LIMIT
  const allowance = free ? rate.peek(credential, source, limit) : rate.take(credential, source, limit)
  request.allowance = allowance
  const { res } = request
  res.setHeader('X-RateLimit-Limit', String(allowance.limit))
  res.setHeader('X-RateLimit-Remaining', String(allowance.remaining))
  res.setHeader('X-RateLimit-Reset', String(allowance.reset))
}

// RFC 9112 §3.2. Node would reject a missing one too, but without an envelope; of two it takes the first, and a proxy may take the second.
function requireHost(request: RequestContext): void {
  if (hasTwoHosts(request.req.rawHeaders)) {
    throw new ProductError('invalid_parameter', 'The Host header is given more than once. Send it once.', {
      param: 'Host',
    })
  }
  if (request.req.httpVersion === '1.1' && request.header('host') === undefined) {
    throw new ProductError('invalid_parameter', 'The Host header is missing. Send it.', { param: 'Host' })
  }
}

function hasTwoHosts(raw: readonly string[]): boolean {
  let hosts = 0
  for (let at = 0; at < raw.length; at += 2) if (raw[at]!.length === 4 && raw[at]!.toLowerCase() === 'host') hosts++
  return hosts > 1
}

function requireRoute(request: RequestContext): void {
  const { entry, allow } = request.match
  if (entry !== null) return
  if (allow === null) throw unknownPath(request)
  request.set('Allow', allow.join(', '))
  throw new ProductError('method_not_allowed', `This path does not support the method. Use ${allow.join(', ')}.`)
}

function limitConcurrency(request: RequestContext): void {
  const { operation, maxConcurrent, maxConcurrentOfCaller } = request.match.entry!.route
  const acquire = (key: string, limit: number | undefined) => {
    if (limit !== undefined) request.onEnd(request.listener.concurrency.acquire(key, limit))
  }
  const ofOwner = `${operation} ${ownerOf(request)}`
  acquire(`${ofOwner} ${callerOf(request)}`, maxConcurrentOfCaller)
  acquire(ofOwner, maxConcurrent)
}

function applyThrottle(request: RequestContext): void {
  const { route } = request.match.entry!
  if (route.throttle === undefined) return
  const key = [route.throttle.shared ?? route.operation, ownerOf(request), ...Object.values(request.input.params)].join(
    ' ',
  )
  request.listener.throttle.admit(key, route.throttle)
}

function handle(request: RequestContext): Promise<SendableAnswer> | SendableAnswer {
  const { principal, listener, input } = request
  const { route } = request.match.entry!
  const { params, query, body, after } = input
  const given: unknown = {
    principal,
    params,
    query,
    body,
    after,
    app: listener.app,
    request: new ContextFacts(request, (req, res) => serve(insideOf(listener), req, res)),
  }
  const value = route.handle(given as Input<typeof route.as, undefined, undefined, undefined>)
  const { db } = listener.app
  // States and UIDs are returned only when they are durable: a power failure must not revert them.
  const isWaiting = value instanceof Promise || (route.path.startsWith('/mailbox/') && !db.isDurable)
  return isWaiting || route.method !== 'GET' || isUnderPolicy(request)
    ? finish(request, value)
    : outcomeOf(request, value)
}

/** Operations that tools call are not calls of the API: an agent's token for one is none for the other. */
function insideOf(listener: ListenerContext): ListenerContext {
  return { ...listener, credential: listener.toolCredential }
}

async function finish(request: RequestContext, answered: unknown): Promise<SendableAnswer> {
  const value = await answered
  if (request.match.entry!.route.path.startsWith('/mailbox/')) await numbersDurable(request)
  const outcome = outcomeOf(request, value)
  await noteReads(request, outcome)
  await noteChange(request, outcome)
  return outcome
}

/** Waits until the numbers of the mailbox that were read are durable. */
function numbersDurable({ principal, listener: { app } }: RequestContext): Promise<void> {
  const mailbox = principal !== null && 'mailboxId' in principal ? principal.mailboxId : undefined
  const account = mailbox === undefined ? undefined : app.store.accounts.byMailbox(mailbox)
  return app.db.durable(account?.n)
}

async function fail(request: RequestContext, error: unknown): Promise<void> {
  const { res } = request
  const shown =
    error instanceof ProductError
      ? error
      : (storageError(error) ??
        new ProductError(
          'internal_error',
          'An internal error occurred. Try again, or give the operator the request id.',
        ))
  if (statusOf(shown.code) >= 500) noteFailure(request, error)
  if (res.headersSent) {
    res.destroy()
    return
  }
  request.errorCode = shown.code
  // The ETag belongs to the content, not to the error.
  res.removeHeader('ETag')
  await sendError(request, shown)
}

/** A deliberate 503 without a cause is not an error of the server: it is logged without a stack. */
function noteFailure(request: RequestContext, error: unknown): void {
  const { log } = request.listener.app
  const isExpected = error instanceof ProductError && error.code === 'service_unavailable' && error.cause === undefined
  if (!isExpected) log.error({ event: 'http.request_failed', err: error, ...lineOf(request) }, 'Request failed')
  else log.info({ event: 'http.unavailable', reason: error.message, ...lineOf(request) }, 'Service unavailable')
}

/** Access log: at `info` when the client sent an X-Request-Id of its own, else at `debug`. */
function note(request: RequestContext, ms: number): void {
  const { log } = request.listener.app
  const clientId = request.header('x-request-id')?.slice(0, CLIENT_ID_MAX)
  const level = clientId === undefined ? 'debug' : 'info'
  if (!log.isLevelEnabled(level)) return
  log[level](
    { event: 'http.request', ...lineOf(request), client_request_id: clientId, status: request.res.statusCode, ms },
    'Request',
  )
}

function lineOf(request: RequestContext): Record<string, unknown> {
  return {
    request_id: request.id,
    method: request.method,
    path: loggedPath(request).slice(0, LOGGED_PATH_MAX),
    key_id: request.principal?.keyId,
    ...(request.actor === null ? {} : { actor: request.actor.kind === 'operator' ? 'operator' : request.actor.id }),
  }
}

/** A sign-in or invitation link is a secret and must not appear in the log. */
function loggedPath({ path, match }: RequestContext): string {
  return match.params.has('token') ? (match.entry?.path ?? 'path with a token') : path
}
