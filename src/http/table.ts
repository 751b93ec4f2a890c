// Finds the route of a method and a path.

import Router from '@koa/router'
import type { PreparedRoute } from './prepared-route.ts'

/** The result for a method and a path. */
export interface RouteMatch {
  entry: PreparedRoute | null
  /** Values of the path's parameters, as texts. */
  params: ReadonlyMap<string, readonly string[]>
  /** Methods of the path; null when the path itself is unknown. */
  allow: readonly string[] | null
  /** True when pages of every origin may read the path. */
  open: boolean
}

/** The routes of one path. */
interface RoutePath {
  /** In the form of the router: parameters as `:name`. */
  path: string
  entries: Map<string, PreparedRoute>
  allow: string[]
  open: boolean
}

/** The end of a path that stands for itself and everything below it. */
const REST = '/{rest*}'
/** The base of an API, such as `/me/v1`: an unknown path below it is no page. */
const VERSION = /^v\d+$/
const NO_PARAMS: RouteMatch['params'] = new Map()
/** The result for an unknown path. */
export const NO_MATCH: RouteMatch = { entry: null, params: NO_PARAMS, allow: null, open: false }

/** The routes of one listener. */
export class RouteTable {
  /** Paths without parameters, which need no pattern. */
  readonly #literal = new Map<string, RoutePath>()
  /** Those of them whose case does not matter, by the path in lower case. */
  readonly #anyCase = new Map<string, RoutePath>()
  readonly #patterned = new Map<string, RoutePath>()
  /** Paths that end with `{rest*}`, by what precedes it: they take what no other path does, except below another's base. */
  readonly #rest = new Map<string, RoutePath>()
  // Case-sensitive; the one permitted trailing slash is removed below.
  readonly #router = new Router({ sensitive: true, strict: true })
  readonly #looseRouter = new Router({ sensitive: false, strict: true })

  constructor(entries: readonly PreparedRoute[]) {
    for (const routePath of pathsOf(entries)) {
      if (routePath.path.endsWith(REST)) {
        this.#rest.set(routePath.path.slice(0, -REST.length), routePath)
        continue
      }
      if (!routePath.path.includes(':')) {
        this.#literal.set(routePath.path, routePath)
        const isAnyCase = [...routePath.entries.values()].some(({ route }) => route.anyCase === true)
        if (isAnyCase) this.#anyCase.set(routePath.path.toLowerCase(), routePath)
        continue
      }
      const isAnyCase = [...routePath.entries.values()].some(({ route }) => route.anyCase === true)
      const router = isAnyCase ? this.#looseRouter : this.#router
      this.#patterned.set(routePath.path, routePath)
      router.register(routePath.path, [...routePath.entries.keys()], () => {})
    }
  }

  /** @param path as received, not decoded; one trailing slash is ignored (docs/design/http.md §10) */
  find(method: string, path: string): RouteMatch {
    if (path.includes('//')) return NO_MATCH
    const plain = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
    const routePath = this.#literal.get(plain) ?? this.#anyCase.get(plain.toLowerCase())
    if (routePath !== undefined) return matchAt(routePath, method, NO_PARAMS)
    const layer = this.#router.match(plain, method).path[0] ?? this.#looseRouter.match(plain, method).path[0]
    if (layer === undefined) return this.#findRest(method, plain)
    const params = layer.params(plain, layer.captures(plain)) as Record<string, string>
    const texts = new Map(Object.entries(params).map(([name, text]) => [name, [text]]))
    return matchAt(this.#patterned.get(String(layer.path))!, method, texts)
  }

  #findRest(method: string, path: string): RouteMatch {
    const [, first, base] = /^\/([^/]+)\/?([^/]*)/.exec(path) ?? []
    const routePath = first === undefined || VERSION.test(base!) ? undefined : this.#rest.get(`/${first}`)
    return routePath === undefined ? NO_MATCH : matchAt(routePath, method, NO_PARAMS)
  }
}

function matchAt(routePath: RoutePath, method: string, params: RouteMatch['params']): RouteMatch {
  // Every GET route also answers HEAD (docs/design/http.md §10).
  const entry = routePath.entries.get(method === 'HEAD' ? 'GET' : method) ?? null
  return { entry, params, allow: routePath.allow, open: routePath.open }
}

/** Where several paths match, a literal segment wins over a parameter at the first difference. */
function pathsOf(entries: readonly PreparedRoute[]): RoutePath[] {
  const paths = new Map<string, RoutePath>()
  for (const entry of entries) {
    const path = entry.path.replace(/\{(\w+)\}/g, ':$1')
    const routePath = paths.get(path) ?? { path, entries: new Map<string, PreparedRoute>(), allow: [], open: false }
    const { method, open } = entry.route
    if (routePath.entries.has(method)) throw new Error(`Two routes answer ${method} ${entry.path}.`)
    routePath.entries.set(method, entry)
    routePath.open ||= open === true
    paths.set(path, routePath)
  }
  for (const routePath of paths.values()) routePath.allow = allowed([...routePath.entries.keys()])
  const rank = ({ path }: RoutePath) => path.split('/').map((segment) => (segment.startsWith(':') ? '1' : '0'))
  return [...paths.values()].toSorted((one, other) => (rank(one).join() < rank(other).join() ? -1 : 1))
}

function allowed(methods: string[]): string[] {
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS']
}
