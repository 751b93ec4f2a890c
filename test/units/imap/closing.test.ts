// The end of a connection: what was written is sent, and a client that does not read is not waited for.

import assert from 'node:assert/strict'
import { Duplex } from 'node:stream'
import { test } from 'node:test'
import { CLOSING_MS } from '../../../src/base/lifecycle.ts'
import { destroyWhenSent } from '../../../src/imap/session/closing.ts'
import { ManualClock } from '../../support/clock.ts'

/** A stream whose client reads nothing until `read` is called. */
function unread(): { stream: Duplex; read: () => void } {
  let done = () => {}
  const stream = new Duplex({
    read() {},
    write(_chunk, _encoding, callback) {
      done = callback
    },
  })
  stream.end('* BYE\r\n')
  return { stream, read: () => done() }
}

test('a client that reads gets everything', async () => {
  const { stream, read } = unread()
  destroyWhenSent(stream, new ManualClock())
  assert.equal(stream.destroyed, false)
  const closed = new Promise((resolve) => stream.once('close', resolve))
  read()
  await closed
  assert.equal(stream.writableFinished, true)
})

test('a client that does not read is cut off after some seconds', () => {
  const clock = new ManualClock()
  const { stream } = unread()
  destroyWhenSent(stream, clock)
  clock.advance(CLOSING_MS - 1)
  assert.equal(stream.destroyed, false)
  clock.advance(1)
  assert.equal(stream.destroyed, true)
})
