// The JSON of data: that of frozen data is written and encoded once, that of rendered data is composed by its creator.

// As with tags (etag.ts): a frozen object never changes.
const known = new WeakMap<object, Buffer>()

/** Data as the JSON that its creator has composed from known parts; the data itself is made only where it is checked. */
export class RenderedJson<T = unknown> {
  readonly json: Buffer
  readonly data: () => T

  /** @param json of what `data` returns */
  constructor(json: Buffer, data: () => T) {
    this.json = json
    this.data = data
  }
}

export function isFrozen(data: unknown): data is object {
  return typeof data === 'object' && data !== null && Object.isFrozen(data)
}

/** The data itself, where it was rendered. */
export function dataOf(data: unknown): unknown {
  return data instanceof RenderedJson ? data.data() : data
}

/** The JSON of data: in UTF-8 for rendered data and for frozen data, for which it is kept. */
export function jsonOf(data: unknown): string | Buffer {
  if (data instanceof RenderedJson) return data.json
  if (!isFrozen(data)) return JSON.stringify(data)
  const before = known.get(data)
  if (before !== undefined) return before
  const json = Buffer.from(JSON.stringify(data))
  known.set(data, json)
  return json
}
