// The JSON of data: that of frozen data is written and encoded once.

// As with tags (etag.ts): a frozen object never changes.
const known = new WeakMap<object, Buffer>()

export function isFrozen(data: unknown): data is object {
  return typeof data === 'object' && data !== null && Object.isFrozen(data)
}

/** The JSON of data: in UTF-8 for frozen data, for which it is kept. */
export function jsonOf(data: unknown): string | Buffer {
  if (!isFrozen(data)) return JSON.stringify(data)
  return known.get(data) ?? keepJson(data, Buffer.from(JSON.stringify(data)))
}

/** Keeps the JSON of frozen data that its creator has composed from known parts. @returns the same bytes */
export function keepJson(data: object, json: Buffer): Buffer {
  known.set(data, json)
  return json
}
