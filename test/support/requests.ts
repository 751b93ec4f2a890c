// Requests generated from the list of routes: paths and bodies with the ids of one owner, and bodies that request as much as possible.

import { ID_PREFIX, type IdKind, newId } from '../../src/base/ids.ts'
import { PERMISSIONS } from '../../src/directory/names/permissions.ts'
import type { Route } from '../../src/http/route.ts'
import { sample } from '../api/samples.ts'
import type { Json, TestAppliance } from './appliance.ts'

/** Returns the id to use for a kind. */
export type Ids = (kind: IdKind) => string

export const unknownIds: Ids = (kind) => newId(kind)

const KIND_OF = new Map(Object.entries(ID_PREFIX).map(([kind, prefix]) => [prefix, kind as IdKind]))
/** Enum values tried for one member. */
const VALUES_MAX = 8

/** The kinds of the ids in the path of a route, by parameter. */
export function kindsOf({ params }: Route): Map<string, IdKind> {
  const fields = Object.entries((params?.properties ?? {}) as Record<string, { 'x-id'?: IdKind }>)
  return new Map(fields.flatMap(([name, field]) => (field['x-id'] === undefined ? [] : [[name, field['x-id']]])))
}

/** The path of a route; parameters that are not ids get an unknown secret. */
export function pathOf(route: Route, ids: Ids): string {
  const kinds = kindsOf(route)
  return route.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const kind = kinds.get(name)
    return kind === undefined ? 'x'.repeat(43) : ids(kind)
  })
}

/** Where the paths of a route begin. */
export function baseOf({ origin, sendOrigin, ports }: TestAppliance, { surface, root }: Route): string {
  if (surface === 'operator') return `http://127.0.0.1:${ports.operator}/operator/v1`
  const own = surface === 'send' ? sendOrigin : origin
  return root === true ? own : `${own}/api/v1`
}

/** Parameters that a query cannot do without beside one of them, with a value of each: `&state=x`. */
export function requiredQuery({ query }: Route, values: ReadonlyMap<string, string> = new Map(), beside = ''): string {
  const { required = [], properties = {} } = (query ?? {}) as unknown as {
    required?: string[]
    properties?: Record<string, { default?: unknown; enum?: string[]; minimum?: number }>
  }
  const names = required.filter((name) => name !== beside && properties[name]!.default === undefined)
  const textOf = (name: string) => values.get(name) ?? properties[name]!.enum?.[0] ?? properties[name]!.minimum ?? 'x'
  return names.map((name) => `&${name}=${textOf(name)}`).join('')
}

/** Bodies of a route: the smallest one, and each with another value, more permissions or a person at a domain. */
export function bodiesOf({ body: schema }: Route, ids: Ids, domain = 'people.example'): Json[] {
  if (schema === undefined) return [undefined]
  const example = withIds(sample(schema), ids)
  const bodies: Json[] = []
  const add = (members: Json) => bodies.push({ ...members, ...freshAddresses(members, 'people.example') })
  add(example)
  const least = bodies[0]
  for (const [name, field] of Object.entries<Json>(schema.properties)) {
    for (const value of (field.enum ?? []).slice(0, VALUES_MAX)) add({ ...least, [name]: value })
    if (/email$/.test(name) && field.type === 'string')
      bodies.push({ ...least, ...freshAddresses({ [name]: '' }, domain) })
    if (name === 'permissions' && field.items?.enum === undefined) {
      const { role: _, ...rest } = least
      for (const permissions of [['team.*', 'apikey.*'], PERMISSIONS.slice(0, 50), ['mailbox.*']]) {
        add({ ...rest, permissions })
      }
    }
  }
  return bodies
}

let persons = 0

/** Another person each time: an earlier request must not affect this one. */
function freshAddresses(members: Json, domain: string): Json {
  const names = Object.keys(members ?? {}).filter((name) => /email$/.test(name))
  return Object.fromEntries(names.map((name) => [name, `p${++persons}@${domain}`]))
}

/** The same with every id of an example replaced. */
function withIds(value: unknown, ids: Ids): Json {
  const text = JSON.stringify(value)
  return JSON.parse(
    text.replace(/"([a-z]+_)[a-z0-9]{24}"/g, (whole, prefix: string) => {
      const kind = KIND_OF.get(prefix as never)
      return kind === undefined ? whole : JSON.stringify(ids(kind))
    }),
  )
}
