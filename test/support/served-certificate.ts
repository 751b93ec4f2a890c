// The certificate that a listener serves to a client that does not check it.

import type { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

/** @param starttls `smtp`: TLS begins with STARTTLS; null: from the first byte */
export async function servedCertificate(
  port: number,
  servername: string,
  starttls: 'smtp' | null = null,
): Promise<X509Certificate> {
  const socket = connect({ host: '127.0.0.1', port })
  if (starttls !== null) {
    await replyOf(socket)
    for (const line of ['EHLO client.test', 'STARTTLS']) {
      socket.write(`${line}\r\n`)
      await replyOf(socket)
    }
  }
  const tls = connectTls({ socket, servername, rejectUnauthorized: false })
  await once(tls, 'secureConnect')
  const certificate = tls.getPeerX509Certificate()!
  tls.destroy()
  socket.destroy()
  return certificate
}

async function replyOf(socket: Socket): Promise<void> {
  for (let text = ''; !/^\d{3} [^\n]*\n/m.test(text); ) text += String((await once(socket, 'data'))[0])
}
