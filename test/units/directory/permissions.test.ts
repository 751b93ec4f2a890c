// Wildcards, roles and which permissions a key may grant.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  allows,
  isPermission,
  isSubset,
  MAILBOX_SCOPES,
  PERMISSIONS,
  ROLES,
} from '../../../src/directory/names/permissions.ts'

test('a permission is granted by itself or by a wildcard over it', () => {
  const cases: [granted: string[], needed: string, expected: boolean][] = [
    [['domain.read'], 'domain.read', true],
    [['domain.read'], 'domain.create', false],
    [['domain.*'], 'domain.create', true],
    [['mailbox.*'], 'mailbox.admin.read', true],
    [['mailbox.admin.*'], 'mailbox.read', false],
    [['domain.*'], 'domains.read', false],
    [['domain'], 'domain.read', false],
    [['*'], 'domain.read', false],
    [['.*'], 'domain.read', false],
    [[], 'domain.read', false],
  ]
  for (const [granted, needed, expected] of cases)
    assert.equal(allows(granted, needed), expected, `${granted} ${needed}`)
})

test('roles have the permissions of the specification', () => {
  const reading = PERMISSIONS.filter((permission) => permission.endsWith('.read'))
  assert.ok(PERMISSIONS.every((permission) => allows(ROLES['root:full'], permission)))
  assert.deepEqual(
    PERMISSIONS.filter((permission) => allows(ROLES['root:readonly'], permission)),
    reading,
  )
  assert.ok(reading.includes('mailbox.admin.read'))
  const hooks = PERMISSIONS.filter((permission) => permission.startsWith('webhook.'))
  assert.deepEqual(
    PERMISSIONS.filter((permission) => allows(ROLES['root:webhook_admin'], permission)),
    hooks,
  )
  assert.ok(!allows(ROLES['root:full'], 'mailbox.read'), 'a root key has no mailbox scope')
  assert.equal(MAILBOX_SCOPES.length, 4)
})

test('valid permission names', () => {
  for (const name of ['domain.read', 'domain.*', 'mailbox.admin.*', 'mailbox.*', 'email.send'])
    assert.ok(isPermission(name), name)
  for (const name of ['*', '.*', 'domain', 'domain.', 'domain.write', 'nothing.*', '', '__proto__', 'mailbox.read']) {
    assert.ok(!isPermission(name), name)
  }
})

test('a key cannot grant more than it has', () => {
  assert.ok(isSubset(['domain.read', 'logs.read'], ROLES['root:readonly']))
  assert.ok(!isSubset(['domain.create'], ROLES['root:readonly']))
  assert.ok(isSubset(['mailbox.admin.*'], ['mailbox.*']))
  assert.ok(!isSubset(['mailbox.*'], ['mailbox.admin.*']))
  assert.ok(isSubset(ROLES['root:webhook_admin'], ROLES['root:full']))
  // Every verb of today is less than all verbs of every day.
  assert.ok(!isSubset(['logs.*'], ['logs.read']))
})
