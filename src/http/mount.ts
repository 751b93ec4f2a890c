// The chain every request goes through, in the order of decisions §1.4.

import type Koa from 'koa'
import { notFound, ProductError } from '../base/errors.ts'
import { storageFault } from '../base/storage-fault.ts'
import { identify, requireAllowance, requireCredential, requirePermission } from './authenticate.ts'
import { checkDeclaredSize } from './body.ts'
import { allowOrigin, answerOptions } from './cors.ts'
import { statusOf } from './errors.ts'
import { Facts } from './facts.ts'
import { once } from './idempotency.ts'
import { checkHeaders, ownerOf, readJsonInput, readParameters, readPath } from './input.ts'
import { chooseType, requireBodyType } from './negotiate.ts'
import { outcomeOf, type Result, sendBytes, sendError, sendOutcome, sendPage, sendStream } from './reply.ts'
import { type Desk, Visit } from './request-context.ts'
import { type Input, isBytes, isPage, isStream } from './route.ts'

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'
const CLIENT_ID_MAX = 128
const LOGGED_PATH_MAX = 512

/** The one middleware of a listener. It answers everything itself and never throws. */
export function mount(desk: Desk): Koa.Middleware {
  return async (ctx) => {
    const visit = new Visit(desk, ctx)
    const began = desk.app.clock.now()
    ctx.set('X-Request-Id', visit.id)
    for (const [name, value] of desk.headers) ctx.set(name, value)
    allowOrigin(visit)
    try {
      await answer(visit)
    } catch (error) {
      // Whoever waits for its room need not wait until the answer is read.
      visit.end()
      await fail(visit, error)
    } finally {
      if (!visit.goesOn) visit.end()
    }
    note(visit, desk.app.clock.now() - began)
  }
}

async function answer(visit: Visit): Promise<void> {
  const isOptions = visit.method === 'OPTIONS' && (visit.found.allow !== null || visit.path === '*')
  try {
    if (!isOptions) await identify(visit)
  } finally {
    count(visit, isOptions || visit.found.entry?.route.uncounted === true)
  }
  requireHost(visit)
  checkDeclaredSize(visit)
  if (isOptions) return answerOptions(visit, visit.found.allow?.join(', ') ?? METHODS)
  requireCredential(visit)
  requireRoute(visit)
  if (visit.found.entry?.route.uncounted !== true) requireAllowance(visit)
  requirePermission(visit)
  chooseType(visit)
  requireBodyType(visit)
  checkHeaders(visit)
  readPath(visit)
  readParameters(visit)
  takePlace(visit)
  await readJsonInput(visit)
  keepPace(visit)
  const outcome = await once(visit, () => handle(visit))
  if (isPage(outcome)) return sendPage(visit, outcome)
  if (isStream(outcome)) return sendStream(visit, outcome)
  return isBytes(outcome) ? sendBytes(visit, outcome) : sendOutcome(visit, outcome)
}

/** Counts the request; every response tells what is left, whatever becomes of it. */
function count(visit: Visit, free: boolean): void {
  const { rate } = visit.desk
  const credential = visit.principal?.keyId ?? null
  const source = () => visit.source
  const allowance = free ? rate.peek(credential, source) : rate.take(credential, source)
  visit.allowance = allowance
  visit.ctx.set('X-RateLimit-Limit', String(allowance.limit))
  visit.ctx.set('X-RateLimit-Remaining', String(allowance.remaining))
  visit.ctx.set('X-RateLimit-Reset', String(allowance.reset))
}

// RFC 9112 3.2. Node would refuse it too, but without an envelope.
function requireHost(visit: Visit): void {
  if (visit.req.httpVersion === '1.1' && visit.header('host') === undefined) {
    throw new ProductError('invalid_parameter', 'A request needs a Host header.', { param: 'Host' })
  }
}

function requireRoute(visit: Visit): void {
  const { entry, allow } = visit.found
  if (entry !== null) return
  if (allow === null) throw notFound('path')
  visit.ctx.set('Allow', allow.join(', '))
  throw new ProductError('method_not_allowed', `This path takes ${allow.join(', ')}.`)
}

function takePlace(visit: Visit): void {
  const { route } = visit.found.entry!
  if (route.atOnce === undefined) return
  visit.atEnd(visit.desk.places.take(`${route.operation} ${ownerOf(visit)}`, route.atOnce))
}

function keepPace(visit: Visit): void {
  const { route } = visit.found.entry!
  if (route.pace === undefined) return
  const key = [route.operation, ownerOf(visit), ...Object.values(visit.input.params)].join(' ')
  visit.desk.paces.take(key, route.pace)
}

async function handle(visit: Visit): Promise<Result> {
  const { principal, desk, input } = visit
  const { route } = visit.found.entry!
  const given = { principal, ...input, app: desk.app, request: new Facts(visit) }
  const value = await route.handle(given as Input<typeof route.as, undefined, undefined, undefined>)
  // States and numbers of messages are told only once a power cut cannot take them back.
  if (route.path.startsWith('/mailbox/')) await desk.app.db.durable()
  return outcomeOf(visit, value)
}

async function fail(visit: Visit, error: unknown): Promise<void> {
  const { ctx } = visit
  const shown =
    error instanceof ProductError
      ? error
      : (storageFault(error) ?? new ProductError('internal_error', 'Something went wrong on our side.'))
  if (statusOf(shown.code) >= 500) noteFailure(visit, error)
  if (ctx.headerSent) {
    visit.res.destroy()
    return
  }
  // The tag is that of the content, not of the error.
  ctx.remove('ETag')
  await sendError(visit, shown)
}

/** A "not now" that was said on purpose and stands for nothing that broke is no error, and has no stack worth reading. */
function noteFailure(visit: Visit, error: unknown): void {
  const { log } = visit.desk.app
  const isExpected = error instanceof ProductError && error.code === 'service_unavailable' && error.cause === undefined
  if (!isExpected) log.error({ err: error, ...lineOf(visit) }, 'a request failed')
  else
    log.info({ event: 'http.unavailable', reason: error.message, ...lineOf(visit) }, 'Request answered with "not now"')
}

/** One line for the operator; aloud when the client wants to find its request again. */
function note(visit: Visit, ms: number): void {
  const { log } = visit.desk.app
  const clientId = visit.header('x-request-id')?.slice(0, CLIENT_ID_MAX)
  const level = clientId === undefined ? 'debug' : 'info'
  if (!log.isLevelEnabled(level)) return
  log[level]({ ...lineOf(visit), client_request_id: clientId, status: visit.ctx.status, ms }, 'request')
}

function lineOf(visit: Visit): Record<string, unknown> {
  return {
    request_id: visit.id,
    method: visit.method,
    path: loggedPath(visit).slice(0, LOGGED_PATH_MAX),
    key_id: visit.principal?.keyId,
  }
}

/** A link that signs in, or accepts, is a secret: whoever reads the log must not be able to use it. */
function loggedPath({ path, found }: Visit): string {
  return found.params.has('token') ? (found.entry?.path ?? 'the path of a link') : path
}
