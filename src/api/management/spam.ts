// What the spam filter does for a team: caught, corrected, learned.

import { type Static, Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import { DAY_MS } from '../../base/durations.ts'
import type { Context } from '../../context.ts'
import { route } from '../../http/route.ts'
import { Nullable, Words } from '../../http/schema.ts'
import { sentenceOf } from '../../spam/catalog.ts'
import type { SpamFigures } from '../../store/log/inbound-log.ts'
import { record } from '../schemas/record.ts'
import { TimeOf } from '../schemas/time.ts'

const DAYS = ['7', '30', '90'] as const
const LISTED = 10
const Count = (description: string) => Type.Integer({ minimum: 0, description })

const SpamReport = record('SpamReport', 'What the spam filter does for the team.', {
  since: TimeOf('Start of the range of `received`, `junk`, `refused`, `reasons` and `senders`.'),
  received: Count('Messages stored, those in Junk included.'),
  junk: Count('Messages in Junk.'),
  refused: Count('Messages refused for their sender and form, or by the DMARC policy of their author.'),
  missed: Count('Messages that people called spam, and the filter had not.'),
  mistaken: Count('Messages that people called good, and the filter had put in Junk.'),
  labels: Type.Array(
    record('SpamLabelCount', 'Messages that people labeled, by how.', {
      source: Words(
        ['mail_program', 'api', 'answer', 'kept'],
        '`api`: by the API and the pages. `kept`: read and kept; learned for comparison.',
      ),
      label: Words(['spam', 'ham'], '`ham`: a good message.'),
      messages: Count('How many.'),
      corrected: Count('Of them, those that contradict the filter.'),
    }),
  ),
  reasons: Type.Array(
    record('SpamReasonCount', 'A test that spoke against messages in Junk.', {
      reason: Type.String({ description: 'Stable name.' }),
      sentence: Type.String({ description: 'The reason for people.' }),
      messages: Count('How many.'),
    }),
    { description: 'The most frequent ones first, at most 10.' },
  ),
  senders: Type.Array(
    record('SpamSenderCount', 'A domain that authors of messages in Junk claim.', {
      domain: Type.String(),
      messages: Count('How many.'),
    }),
    { description: 'The most frequent ones first, at most 10.' },
  ),
  model: Nullable(
    record('SpamModel', 'What the mailboxes of the team have learned.', {
      mailboxes: Count('Mailboxes with a model of their own.'),
      spam: Count('Messages learned as spam.'),
      ham: Count('Messages learned as good.'),
      trained_at: TimeOf('When one was learned last.'),
    }),
  ),
  junk_score: Type.Number({ description: 'Score from which a message goes to Junk: `SPAM_JUNK_SCORE`.' }),
  ham_loss: Type.Number({
    description: 'Share of good messages that may go to Junk by their words: `SPAM_JUNK_HAM_LOSS`.',
  }),
})

const readSpamReport = route({
  method: 'GET',
  path: '/inbound/spam',
  docs: {
    operation: 'getSpamReport',
    tag: 'Inbound log',
    summary: 'Get what the spam filter has caught, what people corrected, and what was learned',
    description: 'The figures of messages are those of the inbound log, which is kept for `LOG_RETENTION_DAYS`.',
  },
  access: { as: 'team', permission: 'logs.read' },
  query: Type.Object({ days: Type.Optional(Words(DAYS, 'Days of the range; default 30.')) }),
  reply: { schema: SpamReport },
  async handle({ query: { days = '30' }, principal: { teamId }, app }): Promise<Static<typeof SpamReport>> {
    const since = app.clock.now() - Number(days) * DAY_MS
    const figures = await app.store.log.inbound.spamFigures(teamId, since, LISTED)
    return { since: isoTime(since), ...caught(figures), ...learned(app, teamId), ...limits(app) }
  },
})

function caught({ totals, reasons, senders }: SpamFigures) {
  const sum = (isMeant: (row: SpamFigures['totals'][number]) => boolean) =>
    totals.filter(isMeant).reduce((total, { messages }) => total + messages, 0)
  return {
    received: sum(({ status }) => status === 'stored' || status === 'junk'),
    junk: sum(({ status }) => status === 'junk'),
    refused: sum(({ status, reason }) => status === 'refused' && (reason === 'spam' || reason === 'dmarc_reject')),
    reasons: reasons.map(({ reason, messages }) => ({ reason, sentence: sentenceOf(reason, 1), messages })),
    senders,
  }
}

function learned({ directory, store }: Context, teamId: string) {
  const counts = store.spam.learning.labelCounts(directory.mailboxes.quotas(teamId).keys())
  const corrected = (isSpam: boolean) =>
    counts.reduce((sum, label) => sum + (label.isSpam === isSpam ? label.corrected : 0), 0)
  const model = store.spam.models.learnedBy(teamId)
  return {
    missed: corrected(true),
    mistaken: corrected(false),
    labels: counts.map(({ source, isSpam, count, corrected: contradicting }) => ({
      ...{ source, label: isSpam ? ('spam' as const) : ('ham' as const) },
      ...{ messages: count, corrected: contradicting },
    })),
    model: model && {
      ...{ mailboxes: model.mailboxes, spam: model.spam, ham: model.ham },
      trained_at: isoTime(model.trainedAt),
    },
  }
}

function limits({ config }: Context) {
  return { junk_score: config.SPAM_JUNK_SCORE, ham_loss: config.SPAM_JUNK_HAM_LOSS }
}

export const spamReports = [readSpamReport]
