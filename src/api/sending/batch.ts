// Sending in batches: up to a hundred messages at once, each accepted or refused by itself.

import { type Static, Type } from 'typebox'
import { type ProductError, productError } from '../../base/errors.ts'
import { ERRORS, errorMember } from '../../http/errors.ts'
import { answer, route } from '../../http/route.ts'
import { ErrorIssue, Id, Nullable, Words } from '../../http/schema.ts'
import type { Submitted } from '../../outbound/submit/new-mail.ts'
import { record } from '../schemas/record.ts'
import { Batch, type Read, reader } from './batch-body.ts'

const BODY_LIMIT = 67_108_864

const MessageError = record('MessageError', 'Why a message was not queued: as every error of the API.', {
  code: Type.String(),
  message: Type.String(),
  retryable: Type.Boolean({ description: 'True when the same message may be accepted later.' }),
  param: Type.Optional(Type.String({ description: 'Relative to the message, as `to.email`.' })),
  doc_url: Type.String(),
  errors: Type.Optional(
    Type.Array({ ...ErrorIssue, additionalProperties: false }, { description: 'Fields are relative to the message.' }),
  ),
})

const BatchResult = record('BatchResult', 'What became of one message.', {
  index: Type.Integer({ minimum: 0, description: 'Its place in `messages`.' }),
  message_id: Nullable({ ...Id('email'), description: 'Null when it was not queued.' }),
  status: Words(['queued', 'failed']),
  error: Type.Optional(MessageError),
})

const BatchResults = record('BatchResults', 'What became of every message, in their order.', {
  results: Type.Array(BatchResult),
  summary: record('BatchSummary', 'How many of them.', {
    total: Type.Integer(),
    queued: Type.Integer(),
    failed: Type.Integer(),
  }),
})

export const sendBatch = route({
  method: 'POST',
  path: '/emails/send/batch',
  surface: 'send',
  operation: 'sendBatch',
  tag: 'Sending',
  summary: 'Queues up to 100 messages; one that is wrong does not hinder the others.',
  description:
    'What is wrong with a message is told in its result, in the same form as an error of the API; only what is wrong with the ' +
    'request as a whole is answered with another status. A queued message is on the disk: what becomes of it, recipient by ' +
    'recipient, is told by `GET /emails/logs?message_id=…`. `from` may be left out: a mailbox sends as itself, and leaves a copy in ' +
    'Sent; a root key as the default of one of the sending accounts.',
  as: 'any',
  permission: 'email.send',
  idempotent: true,
  body: Batch,
  bodyLimit: BODY_LIMIT,
  reader: { ...reader, thread: new URL('./batch-body-thread.ts', import.meta.url).href },
  reply: BatchResults,
  async handle({ body, principal, app, request }) {
    const { messages } = body
    const mails = messages.flatMap((one) => ('mail' in one ? [one.mail] : []))
    const present = (submitted: readonly Submitted[]) => presentResults(messages, submitted, app.config.APP_ORIGIN)
    const submitted = await app.outbound.submitter.submit({ ...principal, source: 'batch_api' }, mails, (tx, done) =>
      request.keep(tx, { data: present(done) }),
    )
    // Nothing was done, and the same request may be done later: it is not answered from memory then.
    const wavers = submitted.every(({ kind }) => kind === 'failed') && submitted.some(isRetryable)
    return answer({ data: present(submitted), ...(wavers ? { lasting: false } : {}) })
  },
})

function presentResults(
  messages: readonly Read[],
  submitted: readonly Submitted[],
  appOrigin: string,
): Static<typeof BatchResults> {
  const fates = submitted.values()
  const failed = (index: number, error: ProductError) => {
    return { index, message_id: null, status: 'failed' as const, error: errorMember(error, appOrigin) }
  }
  const results = messages.map((one, index) => {
    if ('refused' in one) return failed(index, productError(one.refused))
    const fate = fates.next().value!
    if (fate.kind === 'failed') return failed(index, fate.error)
    return { index, message_id: fate.emailId, status: 'queued' as const }
  })
  const queued = results.filter(({ status }) => status === 'queued').length
  return { results, summary: { total: results.length, queued, failed: results.length - queued } }
}

function isRetryable(one: Submitted): boolean {
  return one.kind === 'failed' && ERRORS[one.error.code].retryable
}
