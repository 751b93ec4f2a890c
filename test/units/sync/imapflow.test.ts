// What is used of imapflow beyond its public methods is there: an upgrade that changes it fails here, not at somebody's account.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { ImapFlow } from 'imapflow'

test('imapflow is pinned, and has the members that the channel uses', () => {
  const { dependencies } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))
  assert.match(dependencies.imapflow, /^\d/)
  const client = new ImapFlow({ logger: false }) as unknown as Record<string, unknown>
  for (const name of ['exec', 'write', 'throttleWait', 'close']) assert.equal(typeof client[name], 'function', name)
  assert.equal(typeof client.untaggedHandlers, 'object')
  const { streamer } = client as unknown as { streamer: Record<string, unknown> }
  for (const name of ['push', '_transform']) assert.equal(typeof streamer[name], 'function', name)
  for (const name of ['lineBytes', 'responseBytes']) assert.equal(typeof streamer[name], 'number', name)
})
