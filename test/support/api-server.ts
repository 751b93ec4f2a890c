// A small fake HTTP API: it records requests, and injects faults.

import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A received request. */
export interface ApiRequest {
  method: string
  path: string
  query: URLSearchParams
  headers: IncomingHttpHeaders
  body: Buffer
}

export interface Answer {
  status: number
  headers?: Record<string, string>
  /** Sent as JSON; a text as it is; left out for an empty body. */
  body?: unknown
}

/** A fault of the next matching request: another response, no response, or a connection lost after the work was done. */
export type Fault = Answer | 'hang up' | 'lose the answer'

export interface ApiServer extends AsyncDisposable {
  /** `http://127.0.0.1:<port>` */
  origin: string
  requests: ApiRequest[]
  /** Injects a fault into the next request whose path contains this text. */
  fail(path: string, fault: Fault): void
}

export async function startApi(answer: (asked: ApiRequest) => Answer): Promise<ApiServer> {
  const asked: ApiRequest[] = []
  const faults: { path: string; fault: Fault }[] = []
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const url = new URL(request.url!, 'http://stand-in')
    const one = {
      method: request.method!,
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      body: Buffer.concat(parts),
    }
    asked.push(one)
    const at = faults.findIndex(({ path }) => one.path.includes(path))
    const fault = at < 0 ? undefined : faults.splice(at, 1)[0]!.fault
    if (fault === 'hang up') return request.socket.destroy()
    if (typeof fault === 'object') return send(response, fault)
    const made = answer(one)
    if (fault === 'lose the answer') return request.socket.destroy()
    send(response, made)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: asked,
    fail: (path, fault) => faults.push({ path, fault }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function send(response: ServerResponse, { status, headers = {}, body }: Answer): void {
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(text)
}
