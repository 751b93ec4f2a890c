// The stop of the appliance: no client keeps its ports, however stuck its connection is.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { CLOSING_MS, CUT_MS } from '../../src/base/lifecycle.ts'
import { startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { eventually } from '../support/eventually.ts'
import { logInImap } from '../support/imap.ts'

const STEP_MS = 500

/** Connects, waits for a greeting where one is expected, and sends text. */
async function stuck(port: number, text: string, greeting?: RegExp): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' })
  socket.on('error', () => {})
  await once(socket, 'connect')
  let received = ''
  while (greeting !== undefined && !greeting.test(received)) received += String((await once(socket, 'data'))[0])
  socket.write(text)
  return socket
}

test('stuck connections of all listeners are cut within the time of a stop', async () => {
  const clock = new ManualClock()
  const appliance = await startAppliance({ clock })
  const { ports } = appliance
  const team = await appliance.team()
  await team.domain('acme.test')
  const mailbox = await team.mailbox('ada@acme.test')
  const sockets = [
    // Before TLS, and in the middle of it.
    ...(await Promise.all([ports.imaps, ports.submissions].map((port) => stuck(port, '')))),
    await stuck(ports.imaps, '\x16\x03\x01'),
    // Commands, headers and bodies that do not end.
    await stuck(ports.imap, 'a NO', /^\* OK/),
    await stuck(ports.managesieve, 'CAPABI', /OK/),
    await stuck(ports.submission, 'EHLO x', /^220/),
    await stuck(ports.smtp, 'EHLO x.test\r\nMAIL FR', /^220/),
    await stuck(ports.app, 'GET /healthz HTTP/1.1\r\nHos'),
    await stuck(ports.app, 'POST /api/v1/emails HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{'),
    await stuck(ports.app, 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'),
  ]
  const idle = await logInImap(appliance, mailbox)
  await idle.run('SELECT INBOX')
  idle.write('i IDLE\r\n')
  const literal = await logInImap(appliance, mailbox)
  literal.write('a APPEND INBOX {1000+}\r\nFrom')
  const secure = connectTls({ port: ports.imaps, host: '127.0.0.1', rejectUnauthorized: false }).on('error', () => {})
  await once(secure, 'data')
  const closing = appliance.close()
  // The checks of the test before the stop take as long as the machine lets them: time begins when the stop is announced.
  while ((await idle.response())?.startsWith('* BYE') === false);
  let [passed, isOver] = [0, false]
  const over = () => {
    isOver = true
  }
  closing.then(over, over)
  await eventually(() => {
    // No later time is needed: connections that did not end by then would keep the ports for ever.
    if (passed < CLOSING_MS + 2 * CUT_MS) clock.advance(STEP_MS)
    passed += STEP_MS
    return isOver
  })
  await closing
  for (const port of [ports.app, ports.imaps, ports.imap, ports.smtp, ports.managesieve]) {
    const socket = connect({ port, host: '127.0.0.1' })
    await assert.rejects(once(socket, 'connect'), { code: 'ECONNREFUSED' })
  }
  for (const socket of [...sockets, secure]) socket.destroy()
  for (const client of [idle, literal]) client.close()
})
