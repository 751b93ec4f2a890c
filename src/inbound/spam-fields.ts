// The header fields that tell the spam score of a received message (docs/design/spam.md §8).

import { withFields } from '../mime/inserted-fields.ts'
import type { SpamScore } from '../spam/score.ts'
import type { Inspection } from '../workers/inspection.ts'

/** Reasons that are written; the others have fewer points. */
const REASONS_MAX = 10

/** The message with its score in the header. A message above 1 MiB is stored without: all of it would have to be read again. */
export function withSpamFields(
  inspection: Inspection,
  { score, isSpam }: { score: SpamScore; isSpam: boolean },
): Inspection {
  const fields = spamFields(score, isSpam)
  const changed = withFields(inspection, fields)
  if (changed === null) return inspection
  const edited = inspection.edited?.map((content) => withFields(content, fields) ?? content)
  return edited === undefined ? changed : { ...changed, edited }
}

/** One reason a line, the heaviest first; without those that have no points. */
export function spamFields({ score, parts }: Pick<SpamScore, 'score' | 'parts'>, isSpam: boolean): string {
  const reasons = parts
    .filter(({ points }) => points !== 0)
    .slice(0, REASONS_MAX)
    .map(({ reason, points }) => `${reason}=${points}`)
  const flag = isSpam ? 'X-Spam-Flag: YES\r\n' : ''
  const list = reasons.length === 0 ? '' : `X-Spam-Reasons: ${reasons.join(',\r\n ')}\r\n`
  return `X-Spam-Score: ${score}\r\n${flag}${list}`
}
