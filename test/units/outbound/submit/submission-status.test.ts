// How far a submission has come, for every mix of deliveries.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DeliveryStatus } from '../../../../src/outbound/model/records.ts'
import { submissionStatus } from '../../../../src/outbound/model/submission-status.ts'

const NOW = 1_000_000
const at = (sendAt: number, canceledAt: number | null = null) => ({ sendAt, canceledAt })
const of = (...statuses: DeliveryStatus[]) =>
  statuses.map((status) => ({ status, attempts: status === 'pending' ? 0 : 1 }))

type Progress = ReturnType<typeof of>[number] & { statusReason?: string }
const cases: [what: string, submission: ReturnType<typeof at>, deliveries: Progress[], status: string][] = [
  ['waits for its time', at(NOW + 1), of('pending', 'pending'), 'scheduled'],
  ['may leave', at(NOW), of('pending'), 'queued'],
  ['was tried', at(0), [{ status: 'pending', attempts: 1 }], 'sending'],
  ['has left for some', at(0), of('sent', 'pending'), 'sending'],
  ['has failed for some', at(0), of('failed', 'pending'), 'sending'],
  [
    'was refused for some before its time',
    at(NOW + 1),
    [{ status: 'rejected', attempts: 0 }, ...of('pending')],
    'scheduled',
  ],
  ['waits for a person', at(0), [{ status: 'pending', attempts: 0, statusReason: 'held: x' }], 'held'],
  ['has left', at(0), of('sent', 'sent'), 'sent'],
  ['has left for some only', at(0), of('sent', 'failed', 'rejected'), 'partially_sent'],
  ['has failed', at(0), of('failed', 'rejected'), 'failed'],
  ['was called off', at(NOW + 1, NOW), of('failed'), 'canceled'],
]

for (const [what, submission, deliveries, status] of cases) {
  test(`a submission that ${what} is ${status}`, () => {
    const all = deliveries.map((one) => ({ statusReason: null, ...one }))
    assert.equal(submissionStatus(submission, all, NOW), status)
  })
}
