// Moves the named schemas of an OpenAPI document into its components, so that each is defined once and has a name in generated clients.

import { canonicalJson } from '../base/canonical-json.ts'

type Json = Record<string, unknown>

interface Document extends Json {
  paths: Json
  webhooks?: Json
  components: { schemas: Json } & Json
}

/** Examples are data: a member "title" in them is not the title of a schema. */
const DATA = new Set(['example', 'examples'])

/**
 * Replaces every schema that has a `title` by a reference to `components.schemas`.
 * @throws Error when two schemas have one title
 */
export function liftSchemas(document: Document): Json {
  const lifted = new Map<string, unknown>()
  const paths = lift(document.paths, lifted) as Json
  const webhooks = document.webhooks === undefined ? {} : { webhooks: lift(document.webhooks, lifted) as Json }
  const schemas = { ...document.components.schemas, ...Object.fromEntries([...lifted].sort(byName)) }
  return onlyUsed({ ...document, paths, ...webhooks, components: { ...document.components, schemas } })
}

/** Removes unused responses and headers. */
function onlyUsed(document: Document): Json {
  const components: Json = { ...document.components }
  // Headers are used by responses: check those that remain.
  for (const kind of ['responses', 'headers']) {
    const text = JSON.stringify({ ...document, components })
    const named = Object.entries((components[kind] ?? {}) as Json)
    const used = named.filter(([name]) => text.includes(`"#/components/${kind}/${name}"`))
    if (named.length > 0) components[kind] = Object.fromEntries(used)
  }
  return { ...document, components }
}

function lift(value: unknown, lifted: Map<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map((item) => lift(item, lifted))
  if (value === null || typeof value !== 'object') return value
  const members = Object.entries(value).map(([name, member]) => {
    return [name, DATA.has(name) ? member : lift(member, lifted)] as const
  })
  const schema = Object.fromEntries(members) as Json
  return typeof schema.title === 'string' && 'type' in schema ? refer(schema.title, schema, lifted) : schema
}

function refer(title: string, schema: Json, lifted: Map<string, unknown>): Json {
  const { type } = schema
  const isNullable = Array.isArray(type) && type.includes('null')
  const plain = isNullable ? { ...schema, type: type.find((one) => one !== 'null') } : schema
  const known = lifted.get(title)
  if (known !== undefined && canonicalJson(known) !== canonicalJson(plain)) {
    throw new Error(`Two schemas are called ${title}.`)
  }
  lifted.set(title, plain)
  const ref = { $ref: `#/components/schemas/${title}` }
  return isNullable ? { anyOf: [ref, { type: 'null' }] } : ref
}

function byName([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1
}
