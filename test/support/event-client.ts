// A client of Server-Sent Events: reads frames from the connection.

import type { Json, TestAppliance } from './appliance.ts'

export interface Frame {
  /** "" for a frame without an event. */
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

  /** Returns when the response headers have arrived. */
  static async open(appliance: TestAppliance, key: string, query = '', headers: Record<string, string> = {}) {
    const url = `${appliance.origin}/api/v1/mailbox/events?${query}`
    return EventClient.at(url, { authorization: `Bearer ${key}`, ...headers })
  }

  /** The same at another address. */
  static async at(url: string, headers: Record<string, string>): Promise<EventClient> {
    const stop = new AbortController()
    const response = await fetch(url, { headers: { accept: 'text/event-stream', ...headers }, signal: stop.signal })
    return new EventClient(response, stop)
  }

  /** Opens a stream and skips the first frames. @returns it with its first id */
  static async follow(appliance: TestAppliance, key: string, query = ''): Promise<{ client: EventClient; id: string }> {
    const client = await EventClient.open(appliance, key, query)
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

  /** The next frame of that name; those before are skipped. */
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
