// Binds the TCP ports of the listeners for mail servers and mail programs.

import { once } from 'node:events'
import type { Server } from 'node:net'
import { ProductError } from '../base/errors.ts'

/** A port with the settings it comes from. */
interface ListenOptions {
  /** As the error names it: `IMAP`. */
  protocol: string
  port: number
  host: string
  /** Names of the settings of port and host. */
  settings: readonly [port: string, host: string]
}

/** @throws ProductError service_unavailable when the port cannot be opened, naming the settings */
export async function listen(server: Server, { protocol, port, host, settings }: ListenOptions): Promise<void> {
  try {
    server.listen(port, host)
    await once(server, 'listening')
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? String(cause)
    const text = `The ${protocol} port ${port} of ${host} cannot be opened (${reason}). Check ${settings.join(' and ')}.`
    throw new ProductError('service_unavailable', text, { cause })
  }
}

/** The TCP port a server listens on; 0 before, and without a server. */
export function portOf(server: Server | null | undefined): number {
  return (server?.address() as { port: number } | null | undefined)?.port ?? 0
}
