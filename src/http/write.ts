// Writes a response to its connection: texts through Node's own response, streams through Koa.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import type Koa from 'koa'

/** A text; one in parts is written without being joined. */
export type Text = string | Buffer | readonly [start: string, middle: Buffer, end: string]

/** Statuses of responses without content (RFC 9110 §15). */
const EMPTY = new Set([204, 205, 304])
/** Longer texts are encoded before they are written, characters: Node reserves three bytes for each character of a string. */
const ENCODED_FROM = 4096

/** The length of a text, bytes. */
export function byteLength(text: Text): number {
  if (typeof text === 'string') return Buffer.byteLength(text)
  if (Buffer.isBuffer(text)) return text.length
  const [start, middle, end] = text as [string, Buffer, string]
  return Buffer.byteLength(start) + middle.length + Buffer.byteLength(end)
}

/** A text as one piece of bytes. */
export function bytesOf(text: Text): Buffer {
  if (typeof text === 'string') return Buffer.from(text)
  if (Buffer.isBuffer(text)) return text
  const [start, middle, end] = text as [string, Buffer, string]
  return Buffer.concat([Buffer.from(start), middle, Buffer.from(end)])
}

/** Sends a response whose status and other headers are set. @param lengthBytes of the text */
export function writeText(res: ServerResponse, text: Text, lengthBytes: number): void {
  if (EMPTY.has(res.statusCode)) {
    writeEmpty(res)
    return
  }
  // The client may have left meanwhile.
  const isWritten = isWritable(res)
  if (isWritten) res.setHeader('Content-Length', lengthBytes)
  if (!isWritten || res.req.method === 'HEAD') res.end()
  else if (typeof text === 'string') res.end(text.length >= ENCODED_FROM ? Buffer.from(text) : text)
  else if (Buffer.isBuffer(text)) res.end(text)
  else writeParts(res, text as [string, Buffer, string])
}

/** One system call for all parts. */
function writeParts(res: ServerResponse, [start, middle, end]: [string, Buffer, string]): void {
  res.cork()
  res.write(start)
  res.write(middle)
  res.end(end)
}

/** Sends a response without content. */
export function writeEmpty(res: ServerResponse): void {
  res.removeHeader('Content-Type')
  res.removeHeader('Content-Length')
  res.end()
}

function isWritable({ writableEnded, destroyed, socket, req }: ServerResponse): boolean {
  // A response of HTTP/2 has no socket once its stream is closed.
  if (socket == null) return !writableEnded && req.httpVersionMajor === 1 && !destroyed
  return !writableEnded && !destroyed && socket.writable
}

interface StreamedResponse {
  status: number
  body: Readable
}

/** Sends streams; Koa ends them with their connection. */
export class StreamWriter {
  readonly #responses = new WeakMap<IncomingMessage, StreamedResponse>()
  readonly #handle: (req: IncomingMessage, res: ServerResponse) => Promise<void>

  /** @param failed receives errors of a stream or of its connection */
  constructor(koa: Koa, failed: (error: unknown) => void) {
    koa.use(({ req, response }) => {
      const { status, body } = this.#responses.get(req)!
      response.status = status
      response.body = body
    })
    koa.on('error', failed)
    this.#handle = koa.callback()
  }

  /** Sends a response whose headers are set. */
  write(req: IncomingMessage, res: ServerResponse, response: StreamedResponse): void {
    this.#responses.set(req, response)
    void this.#handle(req, res)
  }
}
