// How the bytes of a body become the input of a handler: the same on the listener's thread and, for large bodies, on another one.

import type { TObject, TSchema } from 'typebox'
import { canonicalJson } from '../base/canonical-json.ts'
import { ProductError } from '../base/errors.ts'
import { sha256 } from '../base/secrets.ts'
import { readJsonObject } from './json.ts'
import { type Check, closed, compileCheck, wrongBody } from './validate.ts'

export interface BodyPlan {
  check: Check
  optional: boolean
  /** Names of the known members. */
  members: readonly string[]
  /** Members with a default value. */
  defaults: readonly [name: string, value: unknown][]
}

/**
 * Builds the input of `handle` from a validated body, here or in a thread. The result must be cloneable, with long content as
 * bytes with a buffer of their own, which is transferred without a copy.
 */
export interface BodyReader<R = unknown> {
  /** Schema of the validation before `read`: less strict than the documented one where `read` validates parts itself. */
  schema: TObject
  /** @throws ProductError for rules a schema cannot express */
  read(body: Record<string, unknown>): R
}

export function planBody(schema: TObject, optional: boolean): BodyPlan {
  const members = Object.keys(schema.properties)
  return { check: compileCheck(() => closed(schema)), optional, members, defaults: defaultsOf(schema) }
}

/** Members of an object with a default, and their values. */
function defaultsOf(schema: TObject): [name: string, value: unknown][] {
  return Object.entries(schema.properties as Record<string, TSchema & { default?: unknown }>)
    .filter(([, member]) => member.default !== undefined)
    .map(([name, member]) => [name, member.default])
}

/** @throws ProductError 400 for a body that is not a JSON object or lacks members, 422 for one that breaks a rule */
export function readPlanned(plan: BodyPlan, bytes: Buffer): Record<string, unknown> {
  if (bytes.length === 0 && plan.optional) return withDefaults(plan, {})
  const body = withDefaults(plan, bytes.length === 0 ? {} : readJsonObject(bytes))
  if (!plan.check.passes(body)) throw wrongBody(plan.check.issues(body))
  if (bytes.length === 0)
    throw new ProductError(
      'missing_parameter',
      'A JSON body is required. Send one with Content-Type: application/json.',
      { param: 'body' },
    )
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
