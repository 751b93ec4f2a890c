// Which refusals speak of the envelope sender, and which only sound like it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refusesSender } from '../../../src/reports/sender-refusal.ts'

function said(text: string): boolean {
  const [, code, enhanced] = /^(\d{3})(?: (\d\.\d+\.\d+))?/.exec(text)!
  return refusesSender({ smtpCode: Number(code), enhancedCode: enhanced ?? null, text })
}

test('servers that check who owns a sender say so in their own words', () => {
  for (const text of [
    '553 5.7.1 <b+1@bounce.x.test>: Sender address rejected: not owned by user ann@x.test',
    '553 5.7.1 <b+1@bounce.x.test>: Sender address rejected: not logged in',
    '550 5.1.8 <b+1@bounce.x.test>: Sender address rejected: Domain not found',
    '550 5.7.60 SMTP; Client does not have permissions to send as this sender',
    '554 5.2.252 SendAsDenied; ann@x.test not allowed to send as b@y.test',
    '550 not local sender over smtp',
    '501 mail from address must be same as authorization user',
    '553 Mail from must equal authorized user',
    '553 Relaying disallowed as b@y.test',
    '553 Sender is not allowed to relay emails',
    '550 5.7.1 Sender not allowed',
    '550 The from address does not match a verified Sender Identity.',
    '550 You are not allowed to send from this address',
    '501 5.1.7 Bad sender address syntax',
  ]) {
    assert.equal(said(text), true, text)
  }
})

test('what is about the recipient, the content or the moment is none', () => {
  for (const text of [
    '550 5.1.1 <bob@x.test>: Recipient address rejected: User unknown',
    '554 5.7.1 <bob@x.test>: Relay access denied',
    '550 5.7.133 RESOLVER.RST.SenderNotAuthenticatedForGroup; sender not authenticated for group',
    '550 5.7.1 RESOLVER.RST.NotAuthorized; sender not authorized for this recipient',
    '550 5.7.1 Sender is not allowed to post to this list',
    '550 5.7.1 Message rejected as spam',
    '451 4.1.8 <b@y.test>: Sender address rejected: Domain not found',
    '552 5.2.2 Mailbox full',
  ]) {
    assert.equal(said(text), false, text)
  }
})

test('a long reply takes no time', () => {
  assert.equal(said(`550 ${'sender address '.repeat(20_000)}`), false)
})
