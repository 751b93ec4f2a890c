// Addresses in mailto URIs of strangers.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressIn } from '../../../web/src/base/mailto.ts'

test('the address of a mailto URI has no fields and no escapes, and broken escapes stay', () => {
  assert.equal(addressIn('mailto:out@list.example?subject=leave'), 'out@list.example')
  assert.equal(addressIn('MAILTO:out%2B7@list.example'), 'out+7@list.example')
  assert.equal(addressIn('mailto:50%off@list.example'), '50%off@list.example')
})
