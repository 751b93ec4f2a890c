// Turns path, query and body of a request into checked values (decisions §1.4).

import { notFound, ProductError } from '../../base/errors.ts'
import { readBody } from './body.ts'
import { cursorScope, decodeCursor } from './cursor.ts'
import type { BodyPlan, Texted } from './entry.ts'
import { readJsonObject } from './json.ts'
import { readQuery, type Texts } from './query.ts'
import { wrongBody, wrongParameters } from './validate.ts'
import type { Visit } from './visit.ts'

const KEY_FORMAT = /^[\x21-\x7e]{1,255}$/

/** 400 for a header of ours that cannot be meant. */
export function checkHeaders(visit: Visit): void {
  const key = visit.header('idempotency-key')
  if (key === undefined || visit.found.entry?.route.idempotent !== true || KEY_FORMAT.test(key)) return
  throw new ProductError('invalid_parameter', 'Idempotency-Key must be 1 to 255 visible ASCII characters.', {
    param: 'Idempotency-Key',
  })
}

/** 404 for a path whose id has another form than ids have: nothing can be found under it (decisions §1.1). */
export function readPath(visit: Visit): void {
  const { params } = visit.found.entry!
  if (params === null) return
  const { values } = params.convert(visit.found.params)
  if (!params.check.passes(values)) throw notFound()
  visit.input.params = values
}

/** 400 for a wrong query; reads the cursor of a list. */
export function readParameters(visit: Visit): void {
  const entry = visit.found.entry!
  if (entry.query === null) return
  const { texts, unreadable } = readQuery(visit.query)
  visit.input.query = checkedQuery(entry.query, texts, unreadable)
  if (!entry.paged) return
  const { limit: _, cursor, ...filters } = visit.input.query as { limit: number; cursor?: string }
  visit.cursorScope = cursorScope(entry.route.operation, ownerOf(visit), visit.input.params, filters)
  if (cursor !== undefined) visit.input.after = decodeCursor(visit.desk.app.vault, visit.cursorScope, cursor)
}

/** 400 for a body that is no JSON object or lacks members, 422 for one that breaks a rule. */
export async function readJsonInput(visit: Visit): Promise<void> {
  const { body: plan } = visit.found.entry!
  if (plan === null) return
  const bytes = await readBody(visit)
  if (bytes.length === 0 && plan.optional) {
    visit.input.body = withDefaults(plan, {})
    return
  }
  const body = withDefaults(plan, bytes.length === 0 ? {} : readJsonObject(bytes))
  if (!plan.check.passes(body)) throw wrongBody(plan.check.issues(body))
  if (bytes.length === 0) throw new ProductError('missing_parameter', 'A JSON body is required.', { param: 'body' })
  visit.input.body = body
}

/** Whose data is meant: what cursors and replays are bound to. */
export function ownerOf(visit: Visit): string {
  if (visit.principal === null) return visit.source
  return visit.principal.kind === 'team' ? visit.principal.teamId : visit.principal.mailboxId
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

function withDefaults(plan: BodyPlan, body: Record<string, unknown>): Record<string, unknown> {
  for (const [name, value] of plan.defaults) if (!Object.hasOwn(body, name)) body[name] = structuredClone(value)
  return body
}
