// What a refusal means: for good or for now, whose fault, and whether to write there again.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { classifyReply, type ReplyStage } from '../../../src/reports/reply-class.ts'

/** A reply as it is written on the wire, in the words of {@link classifyReply}. */
function read(line: string, stage: ReplyStage | null = null) {
  const match = /^(\d{3})? ?(\d\.\d{1,3}\.\d{1,3})? ?(.*)$/.exec(line)!
  const smtpCode = match[1] === undefined ? null : Number(match[1])
  return classifyReply({ smtpCode, enhancedCode: match[2] ?? null, text: match[3]! }, stage)
}

test('bounces: type, subtype, and suppression', () => {
  const rows: [string, string, string, boolean][] = [
    // The codes of docs/design/sending.md §8.
    ['550 5.1.1 User unknown', 'permanent', 'no_such_user', true],
    ['550 5.1.1', 'permanent', 'no_such_user', true],
    ['550 5.1.2 Host unknown', 'permanent', 'domain_not_found', true],
    ['550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found', 'permanent', 'no_such_user', true],
    ['556 5.1.10 The domain takes no mail (null MX)', 'permanent', 'domain_not_found', true],
    ['550 5.2.1 The email account that you tried to reach is disabled', 'permanent', 'general', true],
    // Servers that say it in words only.
    ['550 No such user here', 'permanent', 'no_such_user', true],
    ['550 5.0.0 <a@b.test>... User unknown', 'permanent', 'no_such_user', true],
    [
      '550 <a@b.test>: Recipient address rejected: User unknown in local recipient table',
      'permanent',
      'no_such_user',
      true,
    ],
    ['550 Unrouteable address', 'permanent', 'domain_not_found', true],
    // Well-known servers that mean it, whatever code they choose.
    ['550 5.4.1 Recipient address rejected: Access denied', 'permanent', 'no_such_user', true],
    ['550 5.4.1 All recipient addresses rejected : Access denied', 'permanent', 'no_such_user', true],
    [
      '554 30 Sorry, your message cannot be delivered. This mailbox is disabled (554.30).',
      'permanent',
      'general',
      true,
    ],
    ['554 delivery error: dd This mailbox is disabled (554.30). - mta4', 'permanent', 'general', true],
    ["The address couldn't be found, or is unable to receive mail.", 'permanent', 'no_such_user', false],
    ['an MX or SRV record indicated no SMTP service', 'permanent', 'domain_not_found', false],
    // The sender's doing.
    ['554 5.7.9 mta1.mail.yahoo.com did not like our final DATA: Message not accepted', 'transient', 'policy', false],
    [
      '554 Message rejected: Email address is not verified. The following identities failed the check in region X',
      'transient',
      'policy',
      false,
    ],
    ['550 5.1.7 No such domain', 'transient', 'policy', false],
    ['421 This mailbox is disabled', 'transient', 'general', false],
    // Nobody is there, but docs/design/sending.md §8 does not name the code, or the words may mean something else.
    ['550 Requested action not taken: mailbox unavailable', 'permanent', 'no_such_user', false],
    ['550 Your address is not valid here', 'permanent', 'no_such_user', false],
    ['553 mx.house.test does not exist', 'permanent', 'domain_not_found', false],
    ['550 5.1.6 Destination mailbox has moved', 'permanent', 'no_such_user', false],
    ['550 5.4.4 Unable to route', 'permanent', 'domain_not_found', false],
    // Codes of dead addresses that servers send for what may pass.
    ['550 5.1.1 <a@b.test> user is over quota', 'transient', 'mailbox_full', false],
    ['550 5.2.1 The user is receiving mail at a rate that prevents additional messages', 'transient', 'general', false],
    ['550 5.1.1 Service unavailable; client host blocked using zen.spamhaus.org', 'transient', 'policy', false],
    // A soft bounce never suppresses, whatever its words.
    ['450 4.1.1 User unknown in local recipient table', 'transient', 'no_such_user', false],
    ['421 User unknown', 'transient', 'no_such_user', false],
    ['552 5.2.2 Mailbox full', 'transient', 'mailbox_full', false],
    ['552 5.3.4 Message too big for system', 'transient', 'content_rejected', false],
    ['554 5.7.1 Relay access denied', 'transient', 'policy', false],
    ['550 5.7.26 This mail has been blocked because the sender is unauthenticated', 'transient', 'policy', false],
    ['550 High probability of spam', 'transient', 'content_rejected', false],
    ['550 5.7.1 Message contains a virus', 'transient', 'content_rejected', false],
    ['550 Account is locked', 'transient', 'general', false],
    ['4.4.7 Delivery time expired', 'transient', 'expired', false],
    ['554 The recipient is on our suppression list', 'permanent', 'suppressed_by_provider', false],
    // Nobody says why.
    ['550', 'undetermined', 'general', false],
    ['554 5.0.0 Nyaan', 'undetermined', 'general', false],
  ]
  for (const [line, type, subType, suppress] of rows) {
    const found = read(line)
    assert.deepEqual([found.type, found.subType, found.suppress], [type, subType, suppress], line)
  }
})

test('a server that took the recipient and then calls it unknown may be a filter', () => {
  assert.equal(read('550 Unknown user', 'data').type, 'undetermined')
  assert.equal(read('550 Unknown user', 'data').suppress, false)
  assert.equal(read('550 5.1.1 Unknown user', 'data').suppress, true)
  // A report that quotes a reply without a code, and does not say to what: it may be that filter's.
  assert.equal(read('550 Unknown user', 'unknown').type, 'undetermined')
  assert.equal(read('550 5.0.0 Unknown user', 'unknown').suppress, true)
  assert.equal(read('Unknown user', 'unknown').suppress, true)
})

test('deferrals: why', () => {
  const rows: [string, string][] = [
    ['451 4.7.1 Greylisted, please come back later', 'greylisted'],
    ['450 4.2.0 <a@b.test>: Recipient address rejected: Greylisting in effect', 'greylisted'],
    ['452 4.2.2 Mailbox full', 'mailbox_full'],
    ['452 Account is over quota', 'mailbox_full'],
    ['421 4.7.0 Too many connections from your host', 'throttled'],
    ['450 4.2.1 The user you are trying to contact is receiving mail too quickly', 'throttled'],
    ['421 4.7.28 Our system has detected an unusual rate: rate limited', 'throttled'],
    ['452 4.5.3 Too many recipients', 'throttled'],
    ['4.4.1 No answer from host', 'network'],
    ['4.4.2 Connection timed out', 'network'],
    ['4.4.3 Name server failure', 'dns'],
    ['Name service error for name=b.test type=MX: Host not found, try again', 'dns'],
    ['451 4.3.0 Temporary failure', 'transient'],
    ['450', 'transient'],
  ]
  for (const [line, cause] of rows) assert.equal(read(line).cause, cause, line)
})

test('for good or for now: the reply code decides, the enhanced code where there is none', () => {
  assert.equal(read('550 4.2.2 Mailbox full').permanent, true)
  assert.equal(read('450 5.1.1 User unknown').permanent, false)
  assert.equal(read('5.1.1 User unknown').permanent, true)
  assert.equal(read('4.2.2 Mailbox full').permanent, false)
  assert.equal(read('Mailbox full').permanent, false)
})

test('whether the message or its recipient was rejected', () => {
  const rows: [string, string][] = [
    ['554 5.6.0 Message content rejected', 'content'],
    ['554 5.7.1 Spam', 'content'],
    ['550 5.7.1 Not authorised', 'content'],
    ['552 Message size exceeds fixed limit', 'content'],
    ['552 5.2.2 Mailbox full', 'recipient'],
    ['550 5.7.1 User unknown', 'recipient'],
    ['554 5.1.1 User unknown', 'recipient'],
    ['554 No', 'recipient'],
  ]
  for (const [line, about] of rows) assert.equal(read(line, 'data').about, about, line)
})
