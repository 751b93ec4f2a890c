// An https webhook receiver that records requests, and responds as a test configures.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { selfSigned } from '../../src/config/certificate.ts'

/** A received request. */
export interface WebhookRequest {
  path: string
  headers: Record<string, string>
  /** The raw body. */
  body: Buffer
}

type Answer = (received: WebhookRequest, response: ServerResponse, request: IncomingMessage) => void

export interface Hook extends AsyncDisposable {
  port: number
  /** File with the certificate, for EXTRA_CA_FILE. */
  caFile: string
  requests: WebhookRequest[]
  /** `https://<host>:<port><path>` */
  url(path?: string): string
  /** Sets the response; 200 with "ok" by default. */
  answer(how: Answer): void
  /** Resolves with the next request. */
  next(): Promise<WebhookRequest>
}

/** @param host name in the certificate; its A record must be 127.0.0.1 */
export async function startHook(host = 'hooks.test'): Promise<Hook> {
  const folder = await mkdtemp(join(tmpdir(), 'mailstead-hook-'))
  const now = Date.now()
  const { cert, key } = await selfSigned(host, now - 86_400_000, now + 86_400_000)
  const caFile = join(folder, 'hook.pem')
  await writeFile(caFile, cert)
  const requests: WebhookRequest[] = []
  const waiting: ((one: WebhookRequest) => void)[] = []
  let answer: Answer = (_told, response) => response.end('ok')
  const server = createServer({ cert, key }, async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
    const one = { path: request.url ?? '', headers, body: Buffer.concat(parts) }
    requests.push(one)
    waiting.shift()?.(one)
    answer(one, response, request)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    caFile,
    requests,
    url: (path = '/') => `https://${host}:${port}${path}`,
    answer(how) {
      answer = how
    },
    next: () => new Promise((resolve) => waiting.push(resolve)),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await rm(folder, { recursive: true, force: true })
    },
  }
}
