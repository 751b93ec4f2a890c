// Child process: TLS connections and nothing else, the baseline of what a connection takes.

import process from 'node:process'
import { createServer } from 'node:tls'
import { selfSigned } from '../src/config/certificate.ts'

const DAY_MS = 86_400_000
const { cert, key } = await selfSigned('localhost', Date.now() - DAY_MS, Date.now() + DAY_MS)
const server = createServer({ cert, key, noDelay: true }, (socket) => {
  socket.on('error', () => {})
  socket.resume()
  socket.write('* OK ready\r\n')
})
server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as { port: number }).port }))
process.on('SIGTERM', () => process.exit(0))
