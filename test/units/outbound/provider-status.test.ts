// Every move of a sending account's state, and what may be done in each (decisions §3.2).

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { activated, allowedActions, checked, reconnected } from '../../../src/outbound/providers/status.ts'
import type { ProviderStatus } from '../../../src/outbound/records.ts'

const ALL: ProviderStatus[] = ['active', 'inactive', 'error', 'pending']
const DAY = 86_400_000

test('what may be done with each kind of account in each state', () => {
  const may = (type: 'smtp' | 'gmail_api' | 'amazon_ses', action: 'update' | 'delete' | 'activate' | 'deactivate') =>
    ALL.filter((status) => allowedActions({ type, status, hasRefreshToken: true })[action])
  for (const type of ['smtp', 'gmail_api'] as const) {
    assert.deepEqual([may(type, 'update'), may(type, 'delete')], [ALL, ALL])
    assert.deepEqual(may(type, 'activate'), ['inactive', 'error'])
    assert.deepEqual(may(type, 'deactivate'), ['active', 'error', 'pending'])
  }
  assert.deepEqual([may('amazon_ses', 'update'), may('amazon_ses', 'delete')], [[], []])
  assert.deepEqual([may('amazon_ses', 'activate'), may('amazon_ses', 'deactivate')], [['inactive'], ['active']])
})

test('a connected account is tested only while it is connected', () => {
  const test = (hasRefreshToken: boolean, type: 'smtp' | 'outlook_api' | 'amazon_ses') =>
    allowedActions({ type, status: 'error', hasRefreshToken }).test
  assert.deepEqual([test(false, 'outlook_api'), test(true, 'outlook_api')], [false, true])
  assert.deepEqual([test(false, 'smtp'), test(false, 'amazon_ses')], [true, true])
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

test('a changed connection is checked anew, unless the account is switched off', () => {
  assert.deepEqual(ALL.map(reconnected), ['pending', 'inactive', 'pending', 'pending'])
})

test('a check moves everything but what is switched off', () => {
  assert.deepEqual(
    ALL.map((status) => checked(status, true)),
    ['active', 'inactive', 'active', 'active'],
  )
  assert.deepEqual(
    ALL.map((status) => checked(status, false)),
    ['error', 'inactive', 'error', 'error'],
  )
})
