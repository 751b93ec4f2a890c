// The spam score as clients see it: what counted, in sentences.

import { Type } from 'typebox'
import { Nullable } from '../../http/schema.ts'
import { sentenceOf } from '../../spam/catalog.ts'
import type { MessageSpam } from '../../store/rows/records.ts'
import { record } from './record.ts'

export const SpamPart = record('SpamPart', 'A test of the spam score.', {
  reason: Type.String({ description: 'Stable name.' }),
  points: Type.Number({ description: 'Negative when it speaks for the message.' }),
  detail: Nullable(
    Type.String({ description: 'The part of the message that shows it, such as a host or a file name.' }),
  ),
  sentence: Type.String({ description: 'The reason for people.' }),
})

export const Spam = record('Spam', 'The spam score of the message at receipt, for this mailbox.', {
  score: Type.Number({ description: '`SPAM_JUNK_SCORE` (5) files to Junk.' }),
  probability: Nullable(
    Type.Number({ minimum: 0, maximum: 1, description: 'That it is spam; null for messages of earlier versions.' }),
  ),
  is_spam: Type.Boolean(),
  reasons: Type.Array(Type.String(), { description: 'Names of the tests, the heaviest first.' }),
  evidence: Type.Array(SpamPart, { description: 'The tests with points and sentences, the heaviest first.' }),
})

export function presentSpam({ score, probability, parts = [], isSpam, reasons }: MessageSpam) {
  return { score, probability: probability ?? null, is_spam: isSpam, reasons, evidence: presentSpamParts(parts) }
}

/** @param parts as they were stored; those of earlier versions have no detail */
export function presentSpamParts(parts: readonly { reason: string; points: number; detail?: string | null }[]) {
  return parts.map(({ reason, points, detail = null }) => ({
    reason,
    points,
    detail,
    sentence: sentenceOf(reason, points),
  }))
}
