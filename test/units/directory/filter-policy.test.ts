// The decisions of a recipient's sender filters, on the envelope alone and on the message.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  evaluateEnvelope,
  evaluateMessage,
  type FilterPolicy,
  policyKey,
} from '../../../src/directory/domains/filter-policy.ts'
import type { FilterRule, FilterState } from '../../../src/directory/domains/filters.ts'
import type { AuthVerdict, ParsedMessage } from '../../../src/mime/message.ts'

const off: FilterState = { mode: 'off', rules: [] }
const deny = (pattern: string): FilterRule => ({ type: 'deny', pattern })
const allow = (pattern: string): FilterRule => ({ type: 'allow', pattern })
const denylist = (...rules: FilterRule[]): FilterState => ({ mode: 'denylist', rules })
const allowlist = (...rules: FilterRule[]): FilterState => ({ mode: 'allowlist', rules })

const policy = (mailboxFilter: FilterState, domainFilter: FilterState = off): FilterPolicy => ({
  mailboxFilter,
  domainFilter,
})

const SPAM = 'win@spam.test'

test('an envelope sender is refused before DATA where no From header can change it', () => {
  assert.equal(evaluateEnvelope(policy(denylist(deny('spam.test'))), SPAM)?.scope, 'mailbox')
  assert.equal(evaluateEnvelope(policy(off, denylist(deny('@spam.test'))), SPAM)?.scope, 'domain')
  assert.equal(evaluateEnvelope(policy(allowlist(deny('spam.test'), allow('out.test'))), SPAM)?.accept, false)
})

test('otherwise the decision needs the message', () => {
  assert.equal(evaluateEnvelope(policy(off), SPAM), null)
  assert.equal(evaluateEnvelope(policy(denylist(deny('other.test'))), SPAM), null)
  assert.equal(evaluateEnvelope(policy(denylist(deny('spam.test'), allow('out.test'))), SPAM), null)
  assert.equal(evaluateEnvelope(policy(allowlist(allow('out.test'))), SPAM), null, 'the From field may be allowed')
  assert.equal(evaluateEnvelope(policy(denylist(deny('x.test')), denylist(deny('spam.test'))), SPAM), null)
  assert.equal(evaluateEnvelope(policy({ ...denylist(deny('spam.test')), mode: 'off' }), SPAM), null)
  assert.equal(evaluateEnvelope(policy(denylist(deny('spam.test'))), ''), null)
})

test('a sender refused before DATA is refused after DATA too, for any From header', () => {
  const filters = [
    off,
    denylist(deny('spam.test')),
    allowlist(deny('spam.test'), allow('out.test')),
    denylist(allow('out.test')),
  ]
  for (const mailboxFilter of filters) {
    for (const domainFilter of filters) {
      const both = policy(mailboxFilter, domainFilter)
      if (evaluateEnvelope(both, SPAM) === null) continue
      for (const email of ['ann@out.test', 'win@spam.test', 'x@y.test']) {
        const mail = { from: [{ email, name: '' }] } as ParsedMessage
        assert.equal(evaluateMessage(both, SPAM, mail, { dmarc: 'pass' } as AuthVerdict).accept, false)
      }
    }
  }
})

test('an unauthenticated From passes no allowlist', () => {
  const mail = { from: [{ email: 'ann@out.test', name: '' }] } as ParsedMessage
  const judge = (dmarc: AuthVerdict['dmarc']) =>
    evaluateMessage(policy(allowlist(allow('out.test'))), SPAM, mail, { dmarc } as AuthVerdict).accept
  assert.equal(judge('pass'), true)
  assert.equal(judge('none'), true)
  assert.equal(judge('fail'), false)
  assert.equal(judge('permerror'), false)
})

test('policies are equal when the same filters apply, regardless of rules that are off', () => {
  const hidden = { mode: 'off', rules: [deny('x.test')] } as const
  assert.equal(policyKey(policy(off)), policyKey(policy({ ...hidden, rules: [...hidden.rules] })))
  assert.notEqual(policyKey(policy(denylist(deny('a.test')))), policyKey(policy(off, denylist(deny('a.test')))))
  assert.notEqual(policyKey(policy(denylist(deny('a.test')))), policyKey(policy(denylist(deny('b.test')))))
})
