// Why a message is where it is: the outcome of its receipt in sentences.

import { Type } from 'typebox'
import { notFound } from '../../../base/errors.ts'
import { answer, route } from '../../../http/route.ts'
import { Id } from '../../../http/schema.ts'
import type { InboundRecord } from '../../../store/log/inbound-log.ts'
import type { MessageDetail } from '../../../store/rows/records.ts'
import { accountOf } from '../../rules/account.ts'
import { senderWarnings, sentence, toneOf } from '../../rules/sender-sentences.ts'
import { type Evidence, presentEvidence } from '../../schemas/evidence.ts'
import { MessageEvidence } from '../../schemas/message-evidence.ts'
import type { Sentence } from '../../schemas/message-view.ts'
import { presentSpam, presentSpamParts } from '../../schemas/spam.ts'

const readEvidence = route({
  method: 'GET',
  path: '/mailbox/messages/{message_id}/evidence',
  docs: {
    operation: 'getMessageEvidence',
    tag: 'Messages',
    summary: 'Get why a message is where it is',
    description:
      'Sentences with a stable code, and the evidence of the inbound log while that is kept (`LOG_RETENTION_DAYS`); null for ' +
      'messages that were not received. To whom the message was forwarded is shown to credentials that may change the mailbox.',
  },
  access: { as: 'mailbox', permission: 'mailbox.read' },
  params: Type.Object({ message_id: Id('message') }),
  reply: { schema: MessageEvidence, etag: true },
  handle({ params: { message_id: id }, principal, app }) {
    const account = accountOf(app, principal)
    const message = app.store.read.messages.get(account, id)
    if (message === undefined) throw notFound('message')
    const row = app.store.log.inbound.ofMessage(account.mailboxId, id, message.receivedAt)
    const isSent = app.store.sending.submissions.byMessage(account, id) !== undefined
    const shown = row === undefined ? null : presentEvidence(row.evidence)
    const evidence = shown && (principal.permissions.includes('mailbox.write') ? shown : { ...shown, forwarding: null })
    const history = app.store.read.messages.senderHistory(account, message)
    const throwAway = app.directory.throwAway.at(account.mailboxId, message.envelope.rcptTo)
    const data: MessageEvidence = {
      message_id: id,
      outcome: row?.status ?? null,
      sentences: isSent
        ? [sentence('sent_here', 'plain', 'This mailbox sent it.')]
        : [
            ...whereabouts(message, row, evidence),
            ...senderWarnings(message, history, throwAway),
            ...spamSentences(message),
          ],
      spam: presentSpam(message.spam),
      evidence,
      untrusted_content: true,
    }
    return answer({ data, version: data })
  },
})

/** Where the message was filed and why, and who it is from. */
function whereabouts(message: MessageDetail, row: InboundRecord | undefined, evidence: Evidence | null): Sentence[] {
  const filed = filedSentence(message, row, evidence)
  const tone = toneOf(message)
  return [...(filed === null ? [] : [filed]), ...(tone === null ? [] : [tone])]
}

function filedSentence(message: MessageDetail, row: InboundRecord | undefined, evidence: Evidence | null) {
  if (row === undefined) return null
  if (evidence?.script?.outcome === 'filed')
    return sentence('filed_by_rule', 'plain', 'A rule of the mailbox filed it.')
  if (row.status !== 'junk')
    return sentence('filed_to_inbox', 'plain', 'Nothing spoke against it: it went to the Inbox.')
  if (message.spam.isSpam) {
    const score = message.spam.score.toFixed(1)
    return sentence('filed_as_spam', 'bad', 'The spam filter put it into Junk, with {score} points.', { score })
  }
  return sentence('filed_to_junk', 'bad', 'It went to Junk: {reason}', { reason: row.detail })
}

/** The tests of the score, the heaviest first. */
function spamSentences({ spam: { parts = [] } }: MessageDetail): Sentence[] {
  return presentSpamParts(parts).map(({ reason, points, detail, sentence: text }) => ({
    code: `spam_${reason}`,
    tone: points > 0 ? 'unsure' : points < 0 ? 'good' : 'plain',
    params: { points: String(points), ...(detail === null ? {} : { detail }) },
    text,
  }))
}

export const evidences = [readEvidence]
