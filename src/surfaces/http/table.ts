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

const NOTHING: Found = { entry: null, params: new Map(), allow: null, open: false }

/** The routes of one listener. */
export class RouteTable {
  // Exact: case matters, and the one trailing slash that is let pass is cut off below.
  readonly #router = new Router({ sensitive: true, strict: true })
  readonly #entries = new Map<string, Entry>()

  constructor(entries: readonly Entry[]) {
    for (const entry of bySpecificity(entries)) {
      const path = entry.path.replace(/\{(\w+)\}/g, ':$1')
      const key = keyOf(entry.route.method, path)
      if (this.#entries.has(key)) throw new Error(`Two routes answer ${entry.route.method} ${entry.path}.`)
      this.#entries.set(key, entry)
      this.#router.register(path, [entry.route.method], () => {})
    }
  }

  /** @param path as it came, not decoded; one trailing slash is as none (decisions §1.10) */
  find(method: string, path: string): Found {
    if (path.includes('//')) return NOTHING
    const plain = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
    const [first, ...others] = this.#router.match(plain, method).path
    if (first === undefined) return NOTHING
    // `/messages/count` also fits `/messages/{id}`; the most literal path is the one that is meant.
    const layers = [first, ...others.filter((layer) => layer.path === first.path)]
    const entries = layers.map((layer) => this.#entries.get(keyOf(layer.methods.at(-1)!, String(layer.path)))!)
    const known = { allow: allowed(entries), open: entries.some((entry) => entry.route.open === true) }
    const at = layers.findIndex((layer) => layer.methods.includes(method))
    if (at === -1) return { ...NOTHING, ...known }
    const params = first.params(plain, first.captures(plain)) as Record<string, string>
    return {
      entry: entries[at]!,
      params: new Map(Object.entries(params).map(([name, text]) => [name, [text]])),
      ...known,
    }
  }
}

function keyOf(method: string, path: string): string {
  return `${method} ${path}`
}

function allowed(entries: readonly Entry[]): string[] {
  const methods = entries.map((entry) => entry.route.method as string)
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS']
}

function bySpecificity(entries: readonly Entry[]): Entry[] {
  // Where paths differ first, a literal segment goes before a parameter.
  const rank = (entry: Entry) =>
    entry.path
      .split('/')
      .map((segment) => (segment.startsWith('{') ? '1' : '0'))
      .join('')
  return entries.toSorted((one, other) => (rank(one) < rank(other) ? -1 : rank(one) > rank(other) ? 1 : 0))
}
