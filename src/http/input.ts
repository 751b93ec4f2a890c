// Turns path, query and body of a request into checked values (docs/design/http.md §4).

import { notFound, ProductError } from '../base/errors.ts'
import { readBody } from './body.ts'
import { type BodyPlan, digestOf, readPlanned } from './body-plan.ts'
import { cursorScope, decodeCursor } from './cursor.ts'
import { readForm } from './form.ts'
import { ownerOf } from './owner.ts'
import type { CheckedQuery, PreparedRoute, Texted } from './prepared-route.ts'
import { readQuery, type Texts } from './query.ts'
import { readRawBody } from './raw-body.ts'
import type { RequestContext } from './request-context.ts'
import { refuseUnknown } from './unknown-parameters.ts'
import { wrongParameters } from './validate.ts'

const KEY_FORMAT = /^[\x21-\x7e]{1,255}$/

/** 400 for an invalid header. */
export function checkHeaders(request: RequestContext): void {
  const key = request.header('idempotency-key')
  const { idempotent, fromMailbox } = request.match.entry!.route
  checkCondition(request)
  if (fromMailbox === true && request.header('x-source-authorization') === undefined) {
    const message = 'The header X-Source-Authorization is required: Bearer <key of the source mailbox>.'
    throw new ProductError('missing_parameter', message, { param: 'X-Source-Authorization' })
  }
  if (key === undefined && idempotent === 'required') {
    throw new ProductError('missing_parameter', 'The header Idempotency-Key is required.', { param: 'Idempotency-Key' })
  }
  if (key === undefined || !idempotent || KEY_FORMAT.test(key)) return
  throw new ProductError(
    'invalid_parameter',
    'Idempotency-Key is malformed. It must be 1 to 255 visible ASCII characters.',
    {
      param: 'Idempotency-Key',
    },
  )
}

/** A change without its condition would be done where the client relies on one; `*` asks only that the resource exists. */
function checkCondition(request: RequestContext): void {
  const { method, etag } = request.match.entry!.route
  const condition = request.header('if-match')
  if (method === 'GET' || etag === true || condition === undefined || condition.trim() === '*') return
  const message =
    'What this request changes has no ETag, so If-Match cannot be checked. Send the request without If-Match.'
  throw new ProductError('invalid_parameter', message, { param: 'If-Match' })
}

/** 404 for a malformed id in the path: no resource can have it (docs/design/http.md §1). */
export function readPath(request: RequestContext): void {
  const { params } = request.match.entry!
  if (params === null) return
  const { values } = params.convert(request.match.params)
  if (!params.check.passes(values)) throw notFound()
  request.input.params = values
}

/** They choose a page, not the list: a cursor is valid with any of them. */
const PAGE_PARAMETERS: ReadonlySet<string> = new Set(['limit', 'position', 'anchor_id', 'with_total'])
/** Query strings of a list that are kept with their values: clients repeat them. */
const QUERIES_MAX = 32
/** Longer query strings are not kept, characters. */
const KEPT_QUERY_MAX = 256

/** 422 for a parameter the route does not know, 400 for an invalid one; decodes the cursor of a list. */
export function readParameters(request: RequestContext): void {
  const entry = request.match.entry!
  if (entry.query === null && request.query === '') return
  const { values, selection } = entry.readQueries.get(request.query) ?? readValues(entry, request.query)
  request.input.query = values
  request.selection = selection
  const { cursor } = values as { cursor?: string }
  if (!entry.paged || cursor === undefined) return
  request.input.after = decodeCursor(request.listener.app.vault, cursorScopeOf(request), cursor)
}

/** What cursors of a list are bound to. */
export function cursorScopeOf(request: RequestContext): string {
  const { input, match, selection } = request
  request.cursorScope ??= cursorScope(match.entry!.route.operation, ownerOf(request), input.params, selection)
  return request.cursorScope
}

function readValues(entry: PreparedRoute, text: string): CheckedQuery {
  const { texts, unreadable } = readQuery(text)
  if (entry.parameters !== null) refuseUnknown(texts.keys(), entry.parameters)
  const values = entry.query === null ? {} : checkedQuery(entry.query, texts, unreadable)
  const selection = Object.entries(values).filter(([name]) => name !== 'cursor' && !PAGE_PARAMETERS.has(name))
  const query = { values: Object.freeze(values), selection: Object.fromEntries(selection) }
  if (entry.paged && text.length <= KEPT_QUERY_MAX) {
    if (entry.readQueries.size >= QUERIES_MAX) entry.readQueries.clear()
    entry.readQueries.set(text, query)
  }
  return query
}

/** 400 for a body that is not a JSON object or lacks members, 422 for one that breaks a rule. */
export async function readJsonInput(request: RequestContext, plan: BodyPlan): Promise<void> {
  const { route } = request.match.entry!
  if (request.rawType !== null) return readRawBody(request, request.rawType)
  const { reader } = route
  const gathered = await readBody(request)
  const digested = Boolean(route.idempotent) && request.header('idempotency-key') !== undefined
  if ('pieces' in gathered) {
    const { pieces } = gathered
    const { value, digest } = await request.listener.largeBodies.read(
      reader!.thread,
      { pieces, digested },
      ownerOf(request),
    )
    request.input.body = value
    request.bodyDigest = digest
    return
  }
  const body = route.form === true ? readForm(plan, gathered.bytes) : readPlanned(plan, gathered.bytes)
  if (digested) request.bodyDigest = digestOf(body)
  request.input.body = reader === undefined ? body : (reader.read(body) as object)
}

function checkedQuery(query: Texted, texts: Texts, unreadable: ReadonlySet<string>): object {
  const { values, issues } = query.convert(texts)
  for (const name of unreadable) {
    if (Object.hasOwn(values, name))
      issues.push({ field: name, code: 'invalid_format', message: `${name} is not valid UTF-8.` })
  }
  if (issues.length > 0) throw wrongParameters(issues)
  if (!query.check.passes(values)) throw wrongParameters(query.check.issues(values))
  return values
}
