// The upper limit: smtp-server alone, which reads and discards every message and reports their number on request.

import process from 'node:process'
import { SMTPServer } from 'smtp-server'

let count = 0
const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['AUTH', 'STARTTLS'],
  disableReverseLookup: true,
  logger: false,
  onData(stream, _session, done) {
    stream.on('data', () => {})
    stream.on('end', () => {
      count++
      done()
    })
  },
})
server.listen(0, '127.0.0.1', () => {
  process.send!({ port: (server.server.address() as { port: number }).port })
})
process.on('message', () => process.send!({ count }))
process.on('SIGTERM', () => process.exit(0))
