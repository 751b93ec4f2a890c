// The upper limit: smtp-server alone, which reads and discards every message and reports on request how many recipients there were, and how
// many of them had a signed message.

import process from 'node:process'
import { SMTPServer } from 'smtp-server'

/** A signed message begins with this field. */
const FIELD = 'DKIM-Signature:'
let count = 0
let signed = 0
const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['AUTH', 'STARTTLS'],
  disableReverseLookup: true,
  logger: false,
  onData(stream, { envelope }, done) {
    let start = ''
    stream.on('data', (bytes: Buffer) => {
      if (start.length < FIELD.length) start += bytes.toString('latin1', 0, FIELD.length)
    })
    stream.on('end', () => {
      const recipients = envelope.rcptTo.length
      count += recipients
      if (start.startsWith(FIELD)) signed += recipients
      done()
    })
  },
})
server.listen(0, '127.0.0.1', () => {
  process.send!({ port: (server.server.address() as { port: number }).port })
})
process.on('message', () => process.send!({ count, signed }))
process.on('SIGTERM', () => process.exit(0))
