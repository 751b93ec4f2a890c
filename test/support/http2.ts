// Requests over HTTP/2, as a browser sends them.

import { once } from 'node:events'
import { type ClientHttp2Session, connect, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http2'

export interface Http2Reply {
  status: number
  headers: IncomingHttpHeaders
  text: string
}

export interface Http2Client extends AsyncDisposable {
  session: ClientHttp2Session
  request(headers: OutgoingHttpHeaders, body?: string | Uint8Array): Promise<Http2Reply>
}

/** @param host what the client asks for by name; the connection goes to loopback, and its certificate is not checked */
export async function http2Client(port: number, host: string): Promise<Http2Client> {
  const session = connect(`https://${host}:${port}`, { host: '127.0.0.1', servername: host, rejectUnauthorized: false })
  session.on('error', () => {})
  await once(session, 'connect')
  return {
    session,
    async request(headers, body) {
      const stream = session.request({ ':method': body === undefined ? 'GET' : 'POST', ...headers })
      stream.setEncoding('utf8')
      stream.end(body)
      const [reply] = (await once(stream, 'response')) as [IncomingHttpHeaders & { ':status': number }]
      let text = ''
      for await (const part of stream) text += part
      return { status: reply[':status'], headers: reply, text }
    },
    async [Symbol.asyncDispose]() {
      if (session.destroyed) return
      session.close()
      await once(session, 'close')
    },
  }
}
