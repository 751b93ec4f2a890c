// How the bytes of a body become what a handler gets: the same on the listener's thread and, where they are many, on another.

import type { TObject, TSchema } from 'typebox'
import { canonicalJson } from '../base/canonical-json.ts'
import { ProductError } from '../base/errors.ts'
import { sha256 } from '../base/secrets.ts'
import { readJsonObject } from './json.ts'
import { type Check, closed, compileCheck, wrongBody } from './validate.ts'

export interface BodyPlan {
  check: Check
  optional: boolean
  /** Names of the members there are. */
  members: readonly string[]
  /** Members with a value for when they are left out. */
  defaults: readonly [name: string, value: unknown][]
}

/**
 * Makes what `handle` gets out of a checked body, here or in a thread. What it gives must be fit to be cloned, with long content as
 * bytes of their own memory, which change threads without a copy.
 */
export interface BodyReader<R = unknown> {
  /** What is checked before: less than what is described, where parts are judged by `read` itself. */
  schema: TObject
  /** @throws ProductError for what no schema can say */
  read(body: Record<string, unknown>): R
}

export function planBody(schema: TObject, optional: boolean): BodyPlan {
  const members = Object.keys(schema.properties)
  return { check: compileCheck(closed(schema)), optional, members, defaults: defaultsOf(schema) }
}

/** Members of an object that carry a default, as it is when they are left out. */
export function defaultsOf(schema: TObject): [name: string, value: unknown][] {
  return Object.entries(schema.properties as Record<string, TSchema & { default?: unknown }>)
    .filter(([, member]) => member.default !== undefined)
    .map(([name, member]) => [name, member.default])
}

/** @throws ProductError 400 for a body that is no JSON object or lacks members, 422 for one that breaks a rule */
export function readPlanned(plan: BodyPlan, bytes: Buffer): Record<string, unknown> {
  if (bytes.length === 0 && plan.optional) return withDefaults(plan, {})
  const body = withDefaults(plan, bytes.length === 0 ? {} : readJsonObject(bytes))
  if (!plan.check.passes(body)) throw wrongBody(plan.check.issues(body))
  if (bytes.length === 0) throw new ProductError('missing_parameter', 'A JSON body is required.', { param: 'body' })
  return body
}

/** Equal for equal bodies, whatever the order of their members. */
export function digestOf(body: object): Uint8Array {
  return sha256(canonicalJson(body))
}

function withDefaults(plan: BodyPlan, body: Record<string, unknown>): Record<string, unknown> {
  for (const [name, value] of plan.defaults) if (!Object.hasOwn(body, name)) body[name] = structuredClone(value)
  return body
}
