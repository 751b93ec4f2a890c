// Finds the route of a method and a path.

import Router from '@koa/router'
import type { Entry } from './entry.ts'

/** What a method and a path lead to. */
export interface Found {
  entry: Entry | null
  /** Values of the path's parameters, as texts. */
  params: ReadonlyMap<string, readonly string[]>
  /** Methods the path knows; null when the path itself is unknown. */
  allow: readonly string[] | null
  /** True when pages of every origin may read what lies there. */
  open: boolean
}

/** What one path holds. */
interface Place {
  /** In the form of the router: parameters as `:name`. */
  path: string
  entries: Map<string, Entry>
  allow: string[]
  open: boolean
}

const NO_PARAMS: Found['params'] = new Map()
const NOTHING: Found = { entry: null, params: NO_PARAMS, allow: null, open: false }

/** The routes of one listener. */
export class RouteTable {
  /** Paths without parameters, which need no pattern. */
  readonly #literal = new Map<string, Place>()
  readonly #patterned = new Map<string, Place>()
  // Exact: case matters, and the one trailing slash that is let pass is cut off below.
  readonly #router = new Router({ sensitive: true, strict: true })

  constructor(entries: readonly Entry[]) {
    for (const place of placesOf(entries)) {
      if (!place.path.includes(':')) {
        this.#literal.set(place.path, place)
        continue
      }
      this.#patterned.set(place.path, place)
      this.#router.register(place.path, [...place.entries.keys()], () => {})
    }
  }

  /** @param path as it came, not decoded; one trailing slash is as none (decisions §1.10) */
  find(method: string, path: string): Found {
    if (path.includes('//')) return NOTHING
    const plain = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
    const place = this.#literal.get(plain)
    if (place !== undefined) return foundAt(place, method, NO_PARAMS)
    const [layer] = this.#router.match(plain, method).path
    if (layer === undefined) return NOTHING
    const params = layer.params(plain, layer.captures(plain)) as Record<string, string>
    const texts = new Map(Object.entries(params).map(([name, text]) => [name, [text]]))
    return foundAt(this.#patterned.get(String(layer.path))!, method, texts)
  }
}

function foundAt(place: Place, method: string, params: Found['params']): Found {
  // Every GET route also answers HEAD (decisions §1.10).
  const entry = place.entries.get(method === 'HEAD' ? 'GET' : method) ?? null
  return { entry, params, allow: place.allow, open: place.open }
}

/** Where several paths fit, the first is meant: at the first difference a literal segment goes before a parameter. */
function placesOf(entries: readonly Entry[]): Place[] {
  const places = new Map<string, Place>()
  for (const entry of entries) {
    const path = entry.path.replace(/\{(\w+)\}/g, ':$1')
    const place = places.get(path) ?? { path, entries: new Map<string, Entry>(), allow: [], open: false }
    const { method, open } = entry.route
    if (place.entries.has(method)) throw new Error(`Two routes answer ${method} ${entry.path}.`)
    place.entries.set(method, entry)
    place.open ||= open === true
    places.set(path, place)
  }
  for (const place of places.values()) place.allow = allowed([...place.entries.keys()])
  const rank = ({ path }: Place) => path.split('/').map((segment) => (segment.startsWith(':') ? '1' : '0'))
  return [...places.values()].toSorted((one, other) => (rank(one).join() < rank(other).join() ? -1 : 1))
}

function allowed(methods: string[]): string[] {
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS']
}
