// What becomes of a mail once it has been inspected.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from '../../../src/config/load.ts'
import { decide } from '../../../src/inbound/decision.ts'
import type { AcceptedRecipient } from '../../../src/inbound/recipients.ts'
import type { MailTransaction, Peer } from '../../../src/inbound/transaction.ts'
import type { AuthVerdict, MessageTraits } from '../../../src/mime/message.ts'
import { MAX_RECEIVED } from '../../../src/smtp/limits.ts'
import { line } from '../../../src/smtp/replies.ts'
import { factOf } from '../../../src/spam/catalog.ts'
import type { SpamContent } from '../../../src/spam/score.ts'
import type { Inspection } from '../../../src/workers/inspection.ts'

const config = loadConfig({ TRUSTED_ARC: 'list.test' }, 'no-such-file.json')
const peer = { helo: 'mx.out.test', name: { name: 'mx.out.test' } } as Peer
const policy = { mailboxFilter: { mode: 'off', rules: [] }, domainFilter: { mode: 'off', rules: [] } }

function judged(
  verdict: Partial<AuthVerdict>,
  traits: Partial<MessageTraits> = {},
  recipient: object = { policy },
  namesOwnDomain = false,
  settings = config,
  content: SpamContent | null = null,
) {
  const transaction = {
    sender: { address: 'ann@out.test' },
    recipients: [recipient as AcceptedRecipient],
  } as MailTransaction
  const inspection = {
    verdict: {
      spf: 'pass',
      dkim: 'pass',
      dmarc: 'pass',
      fromDomain: 'out.test',
      arc: 'none',
      arcDomain: '',
      ...verdict,
    },
    traits: {
      fromFields: 1,
      fromAddresses: 1,
      hasDate: true,
      hasMessageId: true,
      repeatedFields: [],
      suspectLinks: [],
      ...traits,
    },
    message: { parsed: true, from: [{ email: 'ann@out.test', name: '' }] },
    content,
    scriptOutcomes: [],
  } as unknown as Inspection
  const decision = decide({ ...transaction, inspection, peer }, { config: settings, namesOwnDomain })
  if (decision.refusal) return line(decision.refusal.reply)
  return decision.junk ? 'junk' : 'inbox'
}

test('content alone files to Junk and never refuses', () => {
  const words = {
    facts: [factOf('attachment_program'), factOf('brand_claimed'), factOf('lookalike_domain')],
    hosts: [],
    logOdds: 50,
    slots: [],
  }
  assert.equal(judged({}, {}, { policy }, false, config, words), 'junk')
  assert.equal(judged({}, {}, { policy }, false, config, { facts: [], hosts: [], logOdds: -50, slots: [] }), 'inbox')
  const broken = { fromFields: 2, hasDate: false, hasMessageId: false, repeatedFields: ['to', 'cc'] }
  const failed = { spf: 'fail', dkim: 'fail', dmarc: 'fail', dmarcPolicy: 'quarantine' } as const
  assert.match(judged(failed, broken, { policy }, false, config, null), /^550/, 'the sender and the form can')
})

test('a sender that the filter accepts and that is proven is not filed to Junk by the score', () => {
  const words = { facts: [factOf('attachment_program'), factOf('brand_claimed')], logOdds: 50, slots: [], hosts: [] }
  const accepting = (mode: string, scope = 'mailboxFilter') => ({
    policy: { ...policy, [scope]: { mode, rules: [{ type: 'allow', pattern: '@out.test' }] } },
  })
  const where = (recipient: object, verdict: Partial<AuthVerdict>, isOwn = false) =>
    judged({ fromAligned: true, ...verdict }, {}, recipient, isOwn, config, words)
  assert.equal(where({ policy }, {}), 'junk')
  assert.equal(where(accepting('denylist'), {}), 'inbox')
  assert.equal(where(accepting('denylist', 'domainFilter'), {}), 'inbox')
  assert.equal(where(accepting('off'), {}), 'junk', 'a filter that is off accepts nobody')
  assert.equal(where(accepting('denylist'), { fromAligned: false }), 'junk', 'anybody writes any name')
  assert.equal(where(accepting('denylist'), {}, true), 'junk', 'a domain of this server without proof')
})

const failing = { spf: 'fail', dkim: 'none', dmarc: 'fail', dmarcPolicy: 'reject' } as const

test('a From domain that asks for refusal gets it, unless a trusted forwarder sealed the mail', () => {
  assert.match(judged(failing), /^550 5\.7\.1 .*DMARC.*out\.test/)
  assert.equal(judged({ ...failing, arc: 'pass', arcDomain: 'list.test' }), 'inbox')
  assert.match(judged({ ...failing, arc: 'pass', arcDomain: 'stranger.test' }), /^550/)
  assert.match(judged({ ...failing, arc: 'fail', arcDomain: 'list.test' }), /^550/)
})

test('a DNS that failed refuses nothing', () => {
  assert.equal(judged({ spf: 'temperror', dkim: 'temperror', dmarc: 'temperror', dmarcPolicy: '' }), 'inbox')
})

test('a policy of reject that cannot be decided yet lets nothing in and refuses nothing for ever', () => {
  const open = { spf: 'fail', dkim: 'temperror', dmarc: 'temperror', dmarcPolicy: 'reject' } as const
  assert.match(judged(open), /^451 4\.7\.0 .*out\.test/)
  assert.equal(judged({ ...open, arc: 'pass', arcDomain: 'list.test' }), 'inbox')
})

test('what goes to Junk whatever the threshold is: an unclear author, and an own domain without proof', () => {
  const mild = loadConfig({ TRUSTED_ARC: 'list.test', SPAM_JUNK_SCORE: '14' }, 'no-such-file.json')
  const unclear = { dmarc: 'permerror', authorProblem: 'There is not exactly one From field.' } as const
  assert.equal(judged(unclear, {}, { policy }, false, mild), 'junk')
  assert.equal(judged({ ...unclear, arc: 'pass', arcDomain: 'list.test' }, {}, { policy }, false, mild), 'junk')
  assert.equal(judged({ dmarc: 'none' }, {}, { policy }, true, mild), 'junk')
  assert.equal(judged({ dmarc: 'none', arc: 'pass', arcDomain: 'list.test' }, {}, { policy }, true, mild), 'inbox')
  const friends = { mode: 'allowlist', rules: [{ type: 'allow', pattern: 'out.test' }] }
  assert.equal(judged({}, {}, { policy: { ...policy, mailboxFilter: friends } }), 'inbox')
  assert.match(
    judged({ ...unclear, dmarc: 'temperror' }, {}, { policy: { ...policy, mailboxFilter: friends } }),
    /^550 5\.7\.1 /,
  )
})

test('a mail that has passed too many hosts loops', () => {
  assert.match(judged({}, { receivedCount: MAX_RECEIVED + 2 }), /^554 5\.4\.6 /)
  assert.equal(judged({}, { receivedCount: MAX_RECEIVED + 1 }), 'inbox')
})

test('filters refuse, and say nothing of themselves', () => {
  const mailboxFilter = { mode: 'allowlist', rules: [{ type: 'allow', pattern: 'friend.test' }] }
  assert.match(
    judged({}, {}, { policy: { ...policy, mailboxFilter } }),
    /^550 5\.7\.1 The recipient does not take mail/,
  )
})

test('points lead to Junk, many to a refusal', () => {
  const bad = { spf: 'fail', dkim: 'fail', dmarc: 'fail', dmarcPolicy: 'none' } as const
  assert.equal(judged(bad), 'junk')
  const worse = {
    fromFields: 2,
    fromAddresses: 2,
    hasDate: false,
    hasMessageId: false,
    repeatedFields: ['subject', 'to'],
    suspectLinks: ['192.0.2.1', 'bit.ly'],
    mismatchedLinks: 1,
    htmlOnly: true,
  }
  assert.match(judged(bad, worse), /^550 5\.7\.1 .*spam/)
})
