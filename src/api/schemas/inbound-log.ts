// A row of the inbound log: one recipient of one received message.

import { type Static, Type } from 'typebox'
import { presenterOf } from '../../http/present.ts'
import { Id, Nullable, Words } from '../../http/schema.ts'
import type { InboundRecord, InboundRow } from '../../store/log/inbound-log.ts'
import { AuthResult } from './auth-result.ts'
import { Evidence, presentEvidence } from './evidence.ts'
import { record } from './record.ts'
import { TimeOf } from './time.ts'

export const InboundStatus = Words(
  ['stored', 'junk', 'refused', 'deferred', 'duplicate', 'discarded', 'forwarded'],
  '`stored`: in the Inbox, or where the Sieve script filed it; `junk`: in Junk; `duplicate`: already stored; `discarded`: ' +
    'discarded by the Sieve script, or an automatic message without a recipient that cannot be bounced; `deferred`: the sender ' +
    'will retry; `forwarded`: sent on to other addresses, without a copy here.',
)

export const InboundReason = Words([
  'unknown_recipient',
  'mailbox_suspended',
  'address_paused',
  'mailbox_full',
  'sender_filtered',
  'script_refused',
  'dmarc_reject',
  'spam',
  'bad_bytes',
  'too_large',
  'rate_limited',
  'temporary_failure',
  'not_a_report',
])

const InboundAuthentication = record('InboundAuthentication', 'Results of sender authentication.', {
  spf: AuthResult,
  dkim: AuthResult,
  dmarc: AuthResult,
  arc: AuthResult,
})

export const InboundLogJson = record(
  'InboundLog',
  'One recipient of a message received for a domain of the team, accepted or not.',
  {
    id: Id('inboundLog'),
    status: InboundStatus,
    reason: Nullable(InboundReason),
    detail: Type.String({ maxLength: 300, description: 'The text of the SMTP reply.' }),
    smtp_reply: Type.String({ description: 'The reply line: code, enhanced code, text.' }),
    mail_from: Type.String({ description: 'Envelope sender; "" for bounces.' }),
    rcpt_to: Type.String({ description: 'Envelope recipient.' }),
    header_from: Nullable(
      Type.String({ description: 'From field; null when the message was rejected before its content.' }),
    ),
    subject: Nullable(Type.String()),
    remote_address: Type.String({ description: 'IP address of the sending host.' }),
    remote_name: Nullable(Type.String({ description: 'Its host name, when forward and reverse DNS match.' })),
    helo: Type.String({ description: 'The name in its EHLO or HELO.' }),
    tls: Nullable(Type.String({ description: 'TLS version and cipher; null for plain text.' })),
    size_bytes: Nullable(Type.Integer({ minimum: 0 })),
    authentication: Nullable(InboundAuthentication),
    spam_score: Nullable(Type.Number()),
    mailbox_id: Nullable(Id('mailbox')),
    message_id: Nullable(Id('message')),
    created_at: TimeOf('When the outcome was known.'),
  },
  {
    id: 'ilog_0a1b2c3d4e5f6g7h8i9j0k1l',
    status: 'refused',
    reason: 'sender_filtered',
    detail: 'This mailbox does not take mail from you',
    smtp_reply: '550 5.7.1 This mailbox does not take mail from you',
    mail_from: 'offers@spam.example',
    rcpt_to: 'ana@shop.example',
    header_from: 'offers@spam.example',
    subject: 'You have won',
    remote_address: '192.0.2.7',
    remote_name: null,
    helo: 'mail.spam.example',
    tls: 'TLSv1.3 TLS_AES_256_GCM_SHA384',
    size_bytes: 4310,
    authentication: { spf: 'pass', dkim: 'none', dmarc: 'none', arc: 'none' },
    spam_score: 1.2,
    mailbox_id: 'mbx_0a1b2c3d4e5f6g7h8i9j0k1l',
    message_id: null,
    created_at: '2030-01-02T03:04:05.000Z',
  },
)
export type InboundLogJson = Static<typeof InboundLogJson>

export const InboundLogDetail = record('InboundLogDetail', 'An inbound log row with its evidence.', {
  ...InboundLogJson.properties,
  evidence: Evidence,
})
export type InboundLogDetail = Static<typeof InboundLogDetail>

export const presentInbound = presenterOf<InboundRow>()(InboundLogJson)

export const presentInboundDetail = presenterOf<InboundRecord>()(InboundLogDetail, {
  evidence: ({ evidence }) => presentEvidence(evidence),
})
