// A client of Server-Sent Events, as far as tests need one: it reads frames off the wire.

import type { Json, TestHouse } from './house.ts'

export interface Frame {
  /** "" for a frame that only sets something. */
  event: string
  id: string | null
  data: Json
  retry: number | null
}

export class EventClient implements AsyncDisposable {
  readonly response: Response
  readonly #reader: ReadableStreamDefaultReader<string>
  readonly #stop: AbortController
  #text = ''

  private constructor(response: Response, stop: AbortController) {
    this.response = response
    this.#stop = stop
    this.#reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  }

  /** Returns when the head of the answer is there. */
  static async open(house: TestHouse, key: string, query = '', headers: Record<string, string> = {}) {
    const stop = new AbortController()
    const response = await fetch(`${house.origin}/api/v1/mailbox/events?${query}`, {
      headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream', ...headers },
      signal: stop.signal,
    })
    return new EventClient(response, stop)
  }

  /** Opens a stream and leaves the frames of its beginning behind. @returns it with the id it begins at */
  static async follow(house: TestHouse, key: string, query = ''): Promise<{ client: EventClient; id: string }> {
    const client = await EventClient.open(house, key, query)
    await client.next()
    return { client, id: (await client.next())!.id! }
  }

  /** The next frame; null at the end of the stream. */
  async next(): Promise<Frame | null> {
    for (;;) {
      const end = this.#text.indexOf('\n\n')
      if (end !== -1) {
        const frame = this.#text.slice(0, end)
        this.#text = this.#text.slice(end + 2)
        return read(frame)
      }
      const { value, done } = await this.#reader.read()
      if (done) return null
      this.#text += value
    }
  }

  /** The next frame of that name; those before are left behind. */
  async until(event: string): Promise<Frame> {
    for (let frame = await this.next(); frame !== null; frame = await this.next())
      if (frame.event === event) return frame
    throw new Error(`The stream ended before ${event}.`)
  }

  /** Everything up to the end of the stream. */
  async rest(): Promise<Frame[]> {
    const frames: Frame[] = []
    for (let frame = await this.next(); frame !== null; frame = await this.next()) frames.push(frame)
    return frames
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#reader.cancel().catch(() => {})
  }
}

function read(text: string): Frame {
  const fields = new Map(
    text.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
  )
  const data = fields.get('data')
  return {
    event: fields.get('event') ?? '',
    id: fields.get('id') ?? null,
    data: data === undefined ? null : JSON.parse(data),
    retry: fields.has('retry') ? Number(fields.get('retry')) : null,
  }
}
