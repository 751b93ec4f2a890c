// The ceiling: smtp-server alone, which reads every mail and throws it away.

import process from 'node:process'
import { SMTPServer } from 'smtp-server'

const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['AUTH', 'STARTTLS'],
  disableReverseLookup: true,
  logger: false,
  onData(stream, _session, done) {
    stream.on('data', () => {})
    stream.on('end', () => done())
  },
})
server.listen(0, '127.0.0.1', () => {
  process.send!({ port: (server.server.address() as { port: number }).port })
})
process.on('SIGTERM', () => process.exit(0))
