// Every move of a sending account's state, and what may be done in each (docs/design/sending.md §2).

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ProviderStatus, ProviderType } from '../../../src/outbound/model/records.ts'
import type { Stage } from '../../../src/outbound/model/transport.ts'
import {
  type AllowedActions,
  activated,
  allowedActions,
  checked,
  countsAsFailure,
  reconnected,
} from '../../../src/outbound/providers/status.ts'

const ALL: ProviderStatus[] = ['active', 'inactive', 'error', 'pending']
const STAGES: Stage[] = ['dns', 'connect', 'tls', 'greeting', 'auth', 'sender', 'recipient', 'data', 'api']
const DAY = 86_400_000

/** The states in which an account may be asked for something. */
function statesFor(type: ProviderType, action: keyof AllowedActions, more: object = {}): ProviderStatus[] {
  const account = { type, statusReason: null, hasRefreshToken: true, remoteAccountId: null, ...more }
  return ALL.filter((status) => allowedActions({ ...account, status })[action])
}

test('what may be done with each kind of account in each state', () => {
  for (const type of ['smtp', 'gmail_api', 'outlook_api'] as const) {
    assert.deepEqual([statesFor(type, 'update'), statesFor(type, 'delete')], [ALL, ALL])
    assert.deepEqual(statesFor(type, 'activate'), ['inactive', 'error'])
    assert.deepEqual(statesFor(type, 'deactivate'), ['active', 'error', 'pending'])
    assert.deepEqual(statesFor(type, 'test'), ALL)
  }
  const owned = { remoteAccountId: 'racc_a' }
  assert.deepEqual([statesFor('smtp', 'update', owned), statesFor('smtp', 'delete', owned)], [[], []])
  assert.deepEqual(statesFor('smtp', 'test', owned), ALL)
  assert.deepEqual([statesFor('amazon_ses', 'update'), statesFor('amazon_ses', 'delete')], [[], []])
  assert.deepEqual(statesFor('amazon_ses', 'activate'), ['inactive'])
  assert.deepEqual(statesFor('amazon_ses', 'deactivate'), ['active'])
  assert.deepEqual(statesFor('amazon_ses', 'test'), ALL)
})

test('the shared account the operator has closed is not opened by the team', () => {
  assert.deepEqual(statesFor('amazon_ses', 'activate', { statusReason: 'The operator has not enabled it.' }), [])
})

test('a connected account is tested only while it is connected', () => {
  const lost = { hasRefreshToken: false }
  assert.deepEqual([statesFor('gmail_api', 'test', lost), statesFor('outlook_api', 'test', lost)], [[], []])
  assert.deepEqual([statesFor('smtp', 'test', lost), statesFor('amazon_ses', 'test', lost)], [ALL, ALL])
})

test('activating trusts a test of the last day for an account that was switched off, and nothing else', () => {
  const now = 10 * DAY
  const to = (status: ProviderStatus, at: number | null) => activated({ type: 'smtp', status }, at, now)
  assert.equal(to('inactive', now - DAY), 'active')
  assert.equal(to('inactive', now - DAY - 1), 'pending')
  assert.equal(to('inactive', null), 'pending')
  assert.equal(to('error', now), 'pending')
  assert.equal(activated({ type: 'amazon_ses', status: 'inactive' }, null, now), 'active')
})

test('a changed connection is checked again, unless the account is inactive', () => {
  assert.deepEqual(ALL.map(reconnected), ['pending', 'inactive', 'pending', 'pending'])
})

test('a check moves everything but what is switched off', () => {
  const after = (success: boolean, stage: Stage) => ALL.map((status) => checked(status, { success, stage }))
  for (const stage of STAGES) assert.deepEqual(after(true, stage), ['active', 'inactive', 'active', 'active'], stage)
  for (const stage of STAGES.filter((stage) => stage !== 'recipient' && stage !== 'data')) {
    assert.deepEqual(after(false, stage), ['error', 'inactive', 'error', 'error'], stage)
  }
})

test('a refused recipient or message does not count against the account', () => {
  for (const stage of ['recipient', 'data'] as const) {
    assert.deepEqual(
      ALL.map((status) => checked(status, { success: false, stage })),
      ALL,
    )
  }
  assert.deepEqual(STAGES.filter(countsAsFailure), ['dns', 'connect', 'tls', 'greeting', 'auth'])
})
