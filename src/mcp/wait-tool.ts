// The tool that waits for a message, a code or a link.

import { Type } from 'typebox'
import { READS, tool } from './tool.ts'

/** Clients give up after 60 seconds. */
const WAIT_MAX_SECONDS = 50
const MATCHES_MAX = 5

interface Match {
  message: { id: string; thread_id: string; received_at: string }
  is_spam: boolean
  sender: Record<string, unknown>
  extracted: { kind: string; value: string; ambiguous: boolean; host: string | null; aligned: boolean }[]
}

interface Waited {
  matches: Match[]
  state: string
  timed_out: boolean
}

export const wait = tool({
  ...READS,
  name: 'wait',
  title: 'Wait for a message, a code or a link',
  description:
    'Waits up to 50 seconds. `code` returns one-time codes, `link` links for signing in or confirming, with their sender and whether it is ' +
    'authenticated; `message` ids to read. Messages of the last two minutes count as well; pass `state` of the last answer to go on. Use a ' +
    'code only where you have just asked for one.',
  input: Type.Object({
    kind: Type.Union([Type.Literal('message'), Type.Literal('code'), Type.Literal('link')], {
      description: 'What to wait for.',
    }),
    from: Type.Optional(Type.String({ minLength: 3, maxLength: 254, description: 'Whole address of the sender.' })),
    domain: Type.Optional(Type.String({ minLength: 3, maxLength: 254, description: 'Domain of the sender.' })),
    thread_id: Type.Optional(Type.String({ maxLength: 64, description: 'Only messages of this thread.' })),
    authenticated: Type.Optional(Type.Boolean({ description: 'Only senders that are authenticated.' })),
    state: Type.Optional(Type.String({ maxLength: 64, description: 'Of the last answer, or of `account`.' })),
    seconds: Type.Optional(Type.Integer({ minimum: 0, maximum: WAIT_MAX_SECONDS, description: 'At most 50.' })),
  }),
  rights: ['read'],
  async run({ seconds = WAIT_MAX_SECONDS, state, ...filters }, { api, signal }) {
    const query = { ...filters, since_state: state, timeout: seconds, bare: true }
    const { data } = await api<Waited>({ method: 'GET', path: '/mailbox/messages/wait', query, signal })
    const matches = data.matches.slice(0, MATCHES_MAX).map(({ message, is_spam, sender, extracted }) => ({
      ...{ message_id: message.id, thread_id: message.thread_id, received_at: message.received_at, is_spam },
      sender: { domain: sender.domain, authenticated: sender.authenticated, first_seen: sender.first_seen },
      found: extracted.map(({ kind, value, ambiguous, host, aligned }) => ({ kind, value, ambiguous, host, aligned })),
    }))
    return { value: { matches, state: data.state, timed_out: data.timed_out } }
  },
})
