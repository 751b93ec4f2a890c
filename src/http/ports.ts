// Checks before anything else starts that ports can be listened on.

import { createServer, type Server } from 'node:net'

/** An address to listen on, and its setting. */
export interface ListenAddress {
  setting: string
  host: string
  /** 0 takes any free port. */
  port: number
}

/** Host and port of `host:port`, the host without brackets. */
export function splitHostPort(text: string): { host: string; port: number } {
  const cut = text.lastIndexOf(':')
  return { host: text.slice(0, cut).replace(/^\[|\]$/g, ''), port: Number(text.slice(cut + 1)) }
}

/** An unavailable address: `code`, `address` and `port` are those of Node's error. */
export class PortError extends Error {
  readonly setting: string

  constructor(setting: string, cause: Error) {
    super(cause.message, { cause })
    this.name = 'PortError'
    this.setting = setting
  }
}

/**
 * Listens on all of them at once, which also finds two settings with the same port, and closes them again.
 * @throws PortError for the first unavailable one
 */
export async function checkPorts(addresses: readonly ListenAddress[]): Promise<void> {
  const servers: Server[] = []
  try {
    for (const { setting, host, port } of addresses) {
      if (port === 0) continue
      const server = createServer()
      await listen(server, port, host).catch((error: Error) => {
        throw new PortError(setting, error)
      })
      servers.push(server)
    }
  } finally {
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  }
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, host, exclusive: true }, () => resolve())
  })
}
