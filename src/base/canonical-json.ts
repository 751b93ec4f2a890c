// Canonical JSON: equal values have equal bytes (docs/design/http.md §7).

/** Sorts keys at every depth, also inside arrays; no spaces; undefined members are left out. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(value)) ?? 'null'
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (value === null || typeof value !== 'object') return value
  const source = value as Record<string, unknown>
  const entries = Object.keys(source)
    .sort()
    .map((key) => [key, sorted(source[key])] as const)
  // A null prototype keeps a foreign "__proto__" an ordinary member.
  const target: Record<string, unknown> = Object.create(null)
  for (const [key, item] of entries) target[key] = item
  return target
}
