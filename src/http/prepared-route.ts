// A prepared route: paths and defaults filled in, errors in it found at start.

import { type TObject, Type } from 'typebox'
import { type BodyPlan, planBody } from './body-plan.ts'
import { FORM_LIMIT } from './form.ts'
import { type Converter, compileConverter } from './query.ts'
import type { Route } from './route.ts'
import { parameterNames } from './unknown-parameters.ts'
import { type Check, closed, compileCheck, unboundedList } from './validate.ts'

/** Base path of versioned routes. */
export const API_BASE = '/api/v1'
/** Base path of the operator's routes, on a listener of their own (docs/design/directory.md §4). */
export const OPERATOR_BASE = '/operator/v1'
/** Base path of what concerns the signed-in person. */
export const ME_BASE = '/me/v1'
/** Default limit of a body, in bytes (docs/design/http.md §10). */
export const BODY_LIMIT = 1_048_576
/** Where assistants call tools, at the origin of the app. */
export const MCP_PATH = '/mcp'
const JSON_TYPE = 'application/json'

/** A route as the middleware uses it. */
export interface PreparedRoute {
  route: Route
  /** Whole path at the origin, parameters as `{name}`. */
  path: string
  /** One of these is enough; empty when none is needed. */
  permissions: readonly string[]
  params: Texted | null
  query: Texted | null
  /** Query strings that were read before. */
  readQueries: Map<string, CheckedQuery>
  /** Names of its query parameters; null where unknown ones are ignored: at pages, and where a protocol of others says so. */
  parameters: ReadonlyMap<string, string> | null
  /** Null for methods that take no body. */
  body: BodyPlan | null
  bodyLimit: number
  produces: readonly string[]
  /** True when the answer is a page of a list. */
  paged: boolean
  status: number
  /** Schema of `data`, every object closed. */
  reply: Check
}

/** The parameters of a query string, frozen. */
export interface CheckedQuery {
  values: object
  /** Of a list: the values that its cursors are bound to. */
  selection: object
}

/** Converts query and path from texts. */
export interface Texted extends Converter {
  check: Check
}

const EMPTY_BODY = Type.Object({})

/** @throws Error for an inconsistent route; the appliance then does not start */
export function prepareRoute(route: Route): PreparedRoute {
  const { query } = route
  const paged = route.list !== undefined || (query !== undefined && 'cursor' in query.properties)
  if (paged && route.list !== 'whole' && (query === undefined || !('limit' in query.properties))) {
    throw new Error(`${route.operation} is a list without limit and cursor: make its query with pageQuery.`)
  }
  return {
    route,
    path: route.root === true ? route.path : baseOf(route) + route.path,
    permissions: route.permission === undefined ? [] : [route.permission].flat(),
    params: route.params === undefined ? null : texted(route.params),
    query: query === undefined ? null : texted(query),
    readQueries: new Map(),
    parameters: route.root === true || route.hidden === true ? null : parameterNames(query),
    body: bodyPlan(route),
    bodyLimit: route.bodyLimit ?? (route.form === true ? FORM_LIMIT : BODY_LIMIT),
    produces: route.produces ?? [JSON_TYPE],
    paged,
    status: route.status ?? 200,
    reply: compileCheck(() => closed(route.reply)),
  }
}

function baseOf(route: Route): string {
  if (route.surface === 'me') return ME_BASE
  return route.surface === 'operator' ? OPERATOR_BASE : API_BASE
}

function texted(schema: TObject): Texted {
  return { ...compileConverter(schema), check: compileCheck(schema) }
}

function bodyPlan(route: Route): BodyPlan | null {
  if (route.method === 'GET' || route.method === 'DELETE') return null
  const schema = route.body ?? EMPTY_BODY
  const unbounded = unboundedList(schema)
  if (unbounded !== null) throw new Error(`The body of ${route.operation} has a list without a bound at ${unbounded}.`)
  if ((route.bodyLimit ?? 0) > BODY_LIMIT && route.reader === undefined) {
    throw new Error(`The body of ${route.operation} may be large: it needs a reader, so that a thread can read it.`)
  }
  return planBody(route.reader?.schema ?? schema, route.body === undefined || route.bodyOptional === true)
}
