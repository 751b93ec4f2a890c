// Whether a port can be listened on, found out by listening on it for a moment.

import { createServer } from 'node:net'

/** The code with which listening fails, such as EADDRINUSE or EACCES; null when it works. */
export function bindError(port: number, host: string): Promise<string | null> {
  return new Promise((done) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => done(error.code ?? 'error'))
    server.listen({ port, host, exclusive: true }, () => server.close(() => done(null)))
  })
}
