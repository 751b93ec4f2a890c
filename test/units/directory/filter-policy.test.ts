// What the sender filters of a recipient say, of the envelope alone and of the whole mail.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FilterPolicy, judgeEnvelope, judgeMail, policyKey } from '../../../src/directory/filter-policy.ts'
import type { FilterRule, FilterState } from '../../../src/directory/filters.ts'
import type { AuthVerdict, ParsedMail } from '../../../src/mime/message.ts'

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

test('an envelope sender is refused at once where no From field can change it', () => {
  assert.equal(judgeEnvelope(policy(denylist(deny('spam.test'))), SPAM)?.scope, 'mailbox')
  assert.equal(judgeEnvelope(policy(off, denylist(deny('@spam.test'))), SPAM)?.scope, 'domain')
  assert.equal(judgeEnvelope(policy(allowlist(deny('spam.test'), allow('out.test'))), SPAM)?.accept, false)
})

test('otherwise the mail has to be seen', () => {
  assert.equal(judgeEnvelope(policy(off), SPAM), null)
  assert.equal(judgeEnvelope(policy(denylist(deny('other.test'))), SPAM), null)
  assert.equal(judgeEnvelope(policy(denylist(deny('spam.test'), allow('out.test'))), SPAM), null)
  assert.equal(judgeEnvelope(policy(allowlist(allow('out.test'))), SPAM), null, 'the From field may be allowed')
  assert.equal(judgeEnvelope(policy(denylist(deny('x.test')), denylist(deny('spam.test'))), SPAM), null)
  assert.equal(judgeEnvelope(policy({ ...denylist(deny('spam.test')), mode: 'off' }), SPAM), null)
  assert.equal(judgeEnvelope(policy(denylist(deny('spam.test'))), ''), null)
})

test('what is refused at once is refused after DATA too, whatever the From field', () => {
  const filters = [
    off,
    denylist(deny('spam.test')),
    allowlist(deny('spam.test'), allow('out.test')),
    denylist(allow('out.test')),
  ]
  for (const mailboxFilter of filters) {
    for (const domainFilter of filters) {
      const both = policy(mailboxFilter, domainFilter)
      if (judgeEnvelope(both, SPAM) === null) continue
      for (const email of ['ann@out.test', 'win@spam.test', 'x@y.test']) {
        const mail = { from: [{ email, name: '' }] } as ParsedMail
        assert.equal(judgeMail(both, SPAM, mail, { dmarc: 'pass' } as AuthVerdict).accept, false)
      }
    }
  }
})

test('a From that could not be authenticated passes no allowlist', () => {
  const mail = { from: [{ email: 'ann@out.test', name: '' }] } as ParsedMail
  const judge = (dmarc: AuthVerdict['dmarc']) =>
    judgeMail(policy(allowlist(allow('out.test'))), SPAM, mail, { dmarc } as AuthVerdict).accept
  assert.equal(judge('pass'), true)
  assert.equal(judge('none'), true)
  assert.equal(judge('fail'), false)
  assert.equal(judge('permerror'), false)
})

test('policies are equal when the same filters hold, whatever is switched off', () => {
  const hidden = { mode: 'off', rules: [deny('x.test')] } as const
  assert.equal(policyKey(policy(off)), policyKey(policy({ ...hidden, rules: [...hidden.rules] })))
  assert.notEqual(policyKey(policy(denylist(deny('a.test')))), policyKey(policy(off, denylist(deny('a.test')))))
  assert.notEqual(policyKey(policy(denylist(deny('a.test')))), policyKey(policy(denylist(deny('b.test')))))
})
