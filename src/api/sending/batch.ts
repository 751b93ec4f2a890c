// Sending in batches: up to 100 messages, each accepted or rejected independently.

import { type Static, Type } from 'typebox'
import { entryFile } from '../../base/entry.ts'
import { ProductError, plainError, productError } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import type { Principal } from '../../directory/names/principal.ts'
import { ERRORS, errorMember } from '../../http/errors.ts'
import { answer, route } from '../../http/route.ts'
import { ErrorIssue, Id, Nullable, Words } from '../../http/schema.ts'
import type { Submitted } from '../../outbound/model/new-message.ts'
import { withSendingMemory } from '../mailbox/sending/sending-memory.ts'
import type { ReadMail } from '../schemas/new-mail.ts'
import { record } from '../schemas/record.ts'
import { Batch, type Read, reader } from './batch-body.ts'
import { loadContent } from './stored-content.ts'

const BODY_LIMIT = 67_108_864

const MessageError = record('MessageError', 'Why a message was not queued: an error of the API.', {
  code: Type.String(),
  message: Type.String(),
  retryable: Type.Boolean({ description: 'True when the same message can succeed later.' }),
  param: Type.Optional(Type.String({ description: 'Relative to the message, such as `to.email`.' })),
  doc_url: Type.String(),
  errors: Type.Optional(
    Type.Array({ ...ErrorIssue, additionalProperties: false }, { description: 'Fields are relative to the message.' }),
  ),
})

const BatchResult = record('BatchResult', 'The result of one message.', {
  index: Type.Integer({ minimum: 0, description: 'Index in `messages`.' }),
  message_id: Nullable({ ...Id('email'), description: 'Null when it was not queued.' }),
  status: Words(['queued', 'held', 'failed'], '`held`: waits for the approval of a person.'),
  error: Type.Optional(MessageError),
})

const BatchResults = record('BatchResults', 'The results of all messages, in their order.', {
  results: Type.Array(BatchResult),
  summary: record('BatchSummary', 'Counts of the results.', {
    total: Type.Integer(),
    queued: Type.Integer({ description: 'Accepted messages, held ones too.' }),
    failed: Type.Integer(),
  }),
})

export const sendBatch = route({
  method: 'POST',
  path: '/emails/send/batch',
  surface: 'both',
  docs: {
    operation: 'sendBatch',
    tag: 'Sending',
    summary: 'Queue up to 100 messages independently of each other',
    description:
      'An error of one message is in its result, in the form of an API error; only an error of the request as a whole has another ' +
      'status. A queued message is on disk; `GET /emails/logs?message_id=…` shows the outcome for each recipient. `from` is ' +
      'optional: a mailbox sends as itself and stores a copy in Sent; a root key sends as the default address of one of the ' +
      'sending accounts.',
  },
  access: { as: 'any', permission: 'email.send' },
  idempotent: true,
  body: {
    schema: Batch,
    limit: BODY_LIMIT,
    reader: { ...reader, thread: entryFile(new URL('./batch-body-thread.ts', import.meta.url)).href },
  },
  reply: { schema: BatchResults },
  async handle({ body, principal, app, request }) {
    const { messages } = body
    const named = messages.filter((one) => 'mail' in one)
    return withSendingMemory(app, principal, named, async () => {
      const read = await Promise.all(messages.map((one) => ('mail' in one ? withContent(app, principal, one) : one)))
      const messagesToSend = read.flatMap((one) => ('mail' in one ? [one.mail] : []))
      const present = (submitted: readonly Submitted[]) => presentResults(read, submitted, app.config.APP_ORIGIN)
      const submitted = await app.outbound.submit.submitter.submit(
        { ...principal, source: 'batch_api' },
        messagesToSend,
        (tx, done) => request.keep(tx, { data: present(done) }),
      )
      // No message was accepted and a retry can succeed: the response is not stored for replay.
      const canRetry = submitted.every(({ kind }) => kind === 'failed') && submitted.some(isRetryable)
      return answer({ data: present(submitted), ...(canRetry ? { lasting: false } : {}) })
    })
  },
})

function presentResults(
  messages: readonly Read[],
  submitted: readonly Submitted[],
  appOrigin: string,
): Static<typeof BatchResults> {
  const outcomes = submitted.values()
  const failed = (index: number, error: ProductError) => {
    return { index, message_id: null, status: 'failed' as const, error: errorMember(error, appOrigin) }
  }
  const results = messages.map((one, index) => {
    if ('refused' in one) return failed(index, productError(one.refused))
    const outcome = outcomes.next().value!
    if (outcome.kind === 'failed') return failed(index, outcome.error)
    const status = outcome.state === 'held' ? ('held' as const) : ('queued' as const)
    return { index, message_id: outcome.emailId, status }
  })
  const queued = results.filter(({ status }) => status !== 'failed').length
  return { results, summary: { total: results.length, queued, failed: results.length - queued } }
}

/** The message with the content it names, or why it cannot be loaded. */
async function withContent(app: Context, principal: Principal, message: ReadMail): Promise<Read> {
  try {
    return { ...message, mail: await loadContent(app, principal, message) }
  } catch (error) {
    if (error instanceof ProductError) return { refused: plainError(error) }
    throw error
  }
}

function isRetryable(one: Submitted): boolean {
  return one.kind === 'failed' && ERRORS[one.error.code].retryable
}
