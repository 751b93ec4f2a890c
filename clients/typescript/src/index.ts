// Client of the Mailstead API: requests and answers are typed by the OpenAPI document the appliance publishes.

import createFetchClient, { type Client } from 'openapi-fetch'
import { ORIGIN_PATHS, type paths, SENDING_PATHS } from './generated/api.ts'

export { type Answer, type Attempts, MailsteadError, retry, unwrap } from './errors.ts'
export type { components, ErrorCode, operations, paths } from './generated/api.ts'
export { type ListAnswer, listAll, type NextPage } from './pages.ts'

const API_BASE = '/api/v1'
const METHODS = ['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH', 'TRACE'] as const

export interface ClientOptions {
  /** Origin of the Management and Mailbox API, such as `https://mail.example.com`. */
  baseUrl: string
  /** Origin of the Sending API, such as `https://send.mail.example.com`, for agents: their sending tokens are accepted there only. */
  sendUrl?: string
  /** A root key (`srk_…`), a mailbox key (`smk_…`) or an access token. */
  key: string
  /** Sends the requests in place of the global `fetch`. */
  fetch?: (request: Request) => Promise<Response>
}

/** One method per HTTP method: `client.GET('/mailbox/messages', { params: { query: { q: 'is:unread' } } })`. */
export type MailsteadClient = Client<paths>

/** @throws Error when a URL is not an absolute one */
export function createClient(options: ClientOptions): MailsteadClient {
  const base = originOf(options.baseUrl)
  const send = options.sendUrl === undefined ? undefined : originOf(options.sendUrl)
  const client = createFetchClient<paths>({
    headers: { Authorization: `Bearer ${options.key}` },
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
  })
  for (const method of METHODS) {
    const call = client[method] as (path: string, init?: object) => Promise<unknown>
    const routed = (path: string, init?: object) => call(path, { baseUrl: serverOf(path, base, send), ...init })
    Object.assign(client, { [method]: routed })
  }
  return client
}

/**
 * The header that makes a repetition safe: the appliance performs the request once and answers repetitions with the first answer.
 * Create it once per message, not once per attempt.
 */
export function idempotencyKey(key: string = crypto.randomUUID()): { 'Idempotency-Key': string } {
  return { 'Idempotency-Key': key }
}

function originOf(url: string): string {
  return new URL(url).origin
}

function serverOf(path: string, base: string, send: string | undefined): string {
  if (ORIGIN_PATHS.has(path)) return base
  return (SENDING_PATHS.has(path) ? (send ?? base) : base) + API_BASE
}
