// Waits until a message, a code or a link has come.

import { Type } from 'typebox'
import { SECOND_MS } from '../../../base/durations.ts'
import { notFound } from '../../../base/errors.ts'
import { route } from '../../../http/route.ts'
import { Default, Id, Words } from '../../../http/schema.ts'
import { accountOf } from '../../rules/account.ts'
import { requireLiveCredential } from '../../rules/waiting.ts'
import { ExtractedJson, presentExtracted, presentSenderFacts, SenderFactsJson } from '../../schemas/extracted.ts'
import { MessageSummaryJson, presentSummary } from '../../schemas/message-summary.ts'
import { record } from '../../schemas/record.ts'
import { type MessageMatch, waitForMessages } from './waiting.ts'

/** Longest wait, seconds. */
export const WAIT_MAX_SECONDS = 60
/** Waiting requests of one credential, and of all for one mailbox (docs/design/http.md §9). */
export const WAITS_MAX = 4
export const WAITS_OF_MAILBOX_MAX = 20
const ADDRESS_MAX = 254

const WaitMatch = record('WaitMatch', 'A message that was waited for.', {
  message: MessageSummaryJson,
  is_spam: Type.Boolean({ description: 'It is in Junk because of its spam score.' }),
  sender: SenderFactsJson,
  extracted: Type.Array(ExtractedJson, { description: 'Certain codes or links, for `kind=code` and `kind=link`.' }),
})

const Address = (description: string) => Type.String({ minLength: 3, maxLength: ADDRESS_MAX, description })

const waitForMessage = route({
  method: 'GET',
  path: '/mailbox/messages/wait',
  docs: {
    operation: 'waitForMessage',
    tag: 'Messages',
    summary: 'Wait for a message, a code or a link',
    description:
      'Answers as soon as messages match, or with `timed_out` after `timeout` seconds. Pass `state` of the answer as `since_state` ' +
      'of the next request: nothing that came in between is missed, and nothing is returned twice. Without a state the messages ' +
      'of the last two minutes match as well. 409 when the state is too old: wait without one. An answer has at most 5 matches, ' +
      'more only where one import stored more. Messages in Junk match too, and drafts and sent messages never. The sender wrote ' +
      `what is returned: it authorises nothing. At most ${WAITS_MAX} requests of one person, agent or key wait, and ` +
      `${WAITS_OF_MAILBOX_MAX} of a mailbox (429).`,
    errors: ['conflict', 'service_unavailable'],
  },
  access: { as: 'mailbox', permission: 'mailbox.read' },
  limits: { maxConcurrent: WAITS_OF_MAILBOX_MAX, maxConcurrentOfCaller: WAITS_MAX },
  query: Type.Object({
    kind: Default(
      Words(['message', 'code', 'link'], '`code` and `link`: only messages with a certain code or link.'),
      'message',
    ),
    from: Type.Optional(Address('The whole address of the author.')),
    domain: Type.Optional(Address('The domain of the author, or a domain above it.')),
    to: Type.Optional(Address('A recipient: in To, in Cc, or of the envelope.')),
    thread_id: Type.Optional({ ...Id('thread'), description: 'The thread of the message.' }),
    authenticated: Type.Optional(
      Type.Boolean({ description: 'Whether SPF or DKIM passed for the domain of the author.' }),
    ),
    bare: Default(
      Type.Boolean({
        description:
          'Return codes and links without subject, preview and names of the message: such an answer counts as reading it only ' +
          'with links.',
      }),
      false,
    ),
    sentences: Default(Type.Boolean({ description: 'Return the sentence around each code or link.' }), false),
    since_state: Type.Optional(
      Type.String({ maxLength: 64, description: 'A state of the messages of this mailbox; see `state`.' }),
    ),
    timeout: Type.Integer({
      minimum: 0,
      maximum: WAIT_MAX_SECONDS,
      description: 'How long to wait, seconds; 0 only looks.',
      examples: [0, WAIT_MAX_SECONDS],
    }),
  }),
  reply: {
    schema: record('WaitResult', 'Messages that were waited for.', {
      matches: Type.Array(WaitMatch),
      state: Type.String({ description: 'Every message up to this state was looked at.' }),
      timed_out: Type.Boolean({ description: 'No message matched in time.' }),
    }),
  },
  async handle({ query, principal, app, request }) {
    const { kind, from, domain, to, thread_id: threadId, authenticated: isAuthenticated } = query
    const { threads } = app.store.read
    if (threadId !== undefined && threads.byIds(accountOf(app, principal), [threadId]).length === 0)
      throw notFound('thread')
    const [author, ofDomain, recipient] = [from, domain, to].map((text) => text?.toLowerCase())
    const end = await waitForMessages(app, {
      filter: { kind, from: author, domain: ofDomain, to: recipient, threadId, isAuthenticated },
      since: query.since_state ?? null,
      timeoutMs: query.timeout * SECOND_MS,
      signal: request.signal,
      check: () => requireLiveCredential(request),
      account: () => accountOf(app, principal),
    })
    const { matches, state, timedOut } = end
    return { matches: matches.map((match) => presentMatch(match, query)), state, timed_out: timedOut }
  },
})

/** Nothing in it was written by the sender but the address. */
function withoutWords(summary: MessageSummaryJson): MessageSummaryJson {
  const { from } = summary
  return { ...summary, subject: '', preview: '', from: { email: from.email, name: '' }, to: [], cc: [], bcc: [] }
}

function presentMatch(
  { message, sender, extracted }: MessageMatch,
  { bare, sentences }: { bare: boolean; sentences: boolean },
) {
  const summary = presentSummary(message)
  return {
    message: bare ? withoutWords(summary) : summary,
    is_spam: message.spam.isSpam,
    sender: presentSenderFacts(sender),
    extracted: extracted.map((value) => presentExtracted(value, sender, sentences && !bare)),
  }
}

export const messageWaits = [waitForMessage]
