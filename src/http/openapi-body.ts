// Request bodies of the OpenAPI document.

import type { TSchema } from 'typebox'
import { exampleOf } from './openapi-examples.ts'
import type { Route } from './route.ts'
import { closed } from './validate.ts'

type Json = Record<string, unknown>

/** Content of a body that is not JSON. */
export const BYTES = { schema: { type: 'string', format: 'binary' }, example: 'Hello Ana' }

/** @param optional whether the body may be left out */
export function bodyOf(one: Route, optional: boolean): Json {
  const schema = describeDefaults(plain(closed(one.body!)))
  const type = one.form === true ? 'application/x-www-form-urlencoded' : 'application/json'
  const described = { schema, example: exampleOf(schema as Json) }
  return { required: !optional, content: { [type]: described, ...(one.raw && { '*/*': BYTES }) } }
}

/**
 * A schema whose members with a default are optional, with the default in their description. Type generators take a member with the
 * keyword `default` for required, and callers would have to send it.
 */
function describeDefaults(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(describeDefaults)
  if (node === null || typeof node !== 'object') return node
  const { default: value, ...rest } = node as Json
  const mapped = Object.entries(rest).map(([name, member]) => [
    name,
    name === 'examples' ? member : describeDefaults(member),
  ])
  const schema = Object.fromEntries(mapped) as Json
  const properties = (rest.properties ?? {}) as Record<string, { default?: unknown }>
  if (Array.isArray(schema.required)) {
    schema.required = schema.required.filter((name: string) => properties[name]?.default === undefined)
  }
  if (value === undefined) return schema
  const said = `Default: ${typeof value === 'string' ? value : JSON.stringify(value)}.`
  return { ...schema, description: schema.description === undefined ? said : `${schema.description} ${said}` }
}

/** A schema as plain JSON. */
export function plain(schema: TSchema): Json {
  return JSON.parse(JSON.stringify(schema)) as Json
}
