// Which routes a request of HTTPS reaches, by the host name it names (docs/design/internet.md §4).

import type { IncomingMessage, ServerResponse } from 'node:http'
import { ProductError } from '../base/errors.ts'
import type { Config } from '../config/config.ts'
import { SEND_PATH } from '../config/origins.ts'

export type Handler = (req: IncomingMessage, res: ServerResponse) => void

export interface HostHandlers {
  app: Handler
  send: Handler
  /** Documents at names below domains, by the first label: `autoconfig`. */
  documents: ReadonlyMap<string, Handler>
  /** Whether a name is a domain that is served. */
  isDomain(name: string): boolean
  /** Answers with an error. */
  refuse(req: IncomingMessage, res: ServerResponse, refusal: { status: number; error: ProductError }): void
}

/** RFC 9110 §15.5.20: not configured for the authority of the request. */
const MISDIRECTED = 421

export function byHost(config: Pick<Config, 'APP_ORIGIN' | 'SEND_ORIGIN'>, handlers: HostHandlers): Handler {
  const { app, send, documents, isDomain, refuse } = handlers
  const hosts = new Map([
    [new URL(config.SEND_ORIGIN).hostname, send],
    [new URL(config.APP_ORIGIN).hostname, app],
  ])
  return (req, res) => {
    const host = hostOf(req)
    const cut = host.indexOf('.')
    const document = cut > 0 && isDomain(host.slice(cut + 1)) ? documents.get(host.slice(0, cut)) : undefined
    const handler = hosts.get(host) ?? document
    if (handler !== undefined) return handler(req, res)
    const error = new ProductError('not_found', 'This server does not serve this name. Check the host of the URL.')
    refuse(req, res, { status: MISDIRECTED, error })
  }
}

/** The Sending API below a path, where both APIs have one origin. */
export function withSendPath(app: Handler, send: Handler): Handler {
  return (req, res) => {
    const url = req.url ?? ''
    if (!url.startsWith(`${SEND_PATH}/`)) return app(req, res)
    req.url = url.slice(SEND_PATH.length)
    return send(req, res)
  }
}

/** The host of a request without its port, lower case. */
export function hostOf({ headers }: IncomingMessage): string {
  return (headers.host ?? '').replace(/:\d*$/, '').toLowerCase()
}
