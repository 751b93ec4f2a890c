// The threads of the workers end with the appliance.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { startHouse } from '../support/house.ts'

test('a worker thread that was ended by force after it was done is not logged as one that died', async (t) => {
  await using house = await startHouse({ workers: 'threads' })
  const error = t.mock.method(house.app.log, 'error')
  const warn = t.mock.method(house.app.log, 'warn')
  // Whether the thread ends by itself (0) or is ended (1) is a race; here it is always lost.
  const { emit } = Worker.prototype
  t.mock.method(Worker.prototype, 'emit', function (this: Worker, event: string, ...rest: unknown[]) {
    return emit.call(this, event, ...(event === 'exit' ? [1] : rest))
  })
  await house.close()
  assert.equal(error.mock.callCount() + warn.mock.callCount(), 0)
})
