// Server-Sent Events of a mailbox (docs/design/mailbox.md §12).

import { Type } from 'typebox'
import type { Context } from '../../../context.ts'
import type { MailboxPrincipal } from '../../../directory/names/principal.ts'
import { type RequestFacts, route, stream } from '../../../http/route.ts'
import { CommaList, Default, Words } from '../../../http/schema.ts'
import { type EndReason, PING, pingSeconds } from '../../../http/sse-stream.ts'
import { CHANGE_TYPES, type ChangeType } from '../../../store/rows/records.ts'
import { accountOf } from '../../rules/account.ts'
import { EventStream } from './event-stream.ts'

/** Concurrent streams of one person or credential, and of all that read one mailbox (docs/design/http.md §9). */
export const STREAMS_MAX = 5
export const STREAMS_OF_MAILBOX_MAX = 50
const EVERY_TYPE = '*'

export const readEvents = route({
  method: 'GET',
  path: '/mailbox/events',
  docs: {
    operation: 'streamMailboxEvents',
    tag: 'Mailbox',
    summary: 'Stream the events of the mailbox as Server-Sent Events',
    description:
      '`state` {mailbox_id, changed: {type: state}} lists the types that changed, at most every 250 ms. To resume, send its `id` ' +
      'in Last-Event-ID; the stream then begins with the difference. `message.received` {mailbox_id, message_id, thread_id, ' +
      'folder_ids, from, subject, preview, is_spam, untrusted_content} and `submission.updated` {id, status} describe single ' +
      'changes while the client keeps up; a slow client receives `state` only. `remote.progress` {remote_account_id, status, ' +
      'messages_total, messages_done} follows the outside accounts of the mailbox, at most once a second. `ping` {interval} is sent after a time without ' +
      'other events. `end` {reason: max_duration, credential_revoked, mailbox_suspended, shutdown} is the last event: a stream ' +
      `lasts at most one hour. At most ${STREAMS_MAX} streams of one person, agent or key, and ${STREAMS_OF_MAILBOX_MAX} of a mailbox, are ` +
      'open at a time (429).',
  },
  access: { as: 'mailbox', permission: 'mailbox.read', gate: 'events' },
  query: Type.Object({
    types: Default(
      {
        ...CommaList(Words([...CHANGE_TYPES, EVERY_TYPE]), CHANGE_TYPES.length + 1),
        description: 'Comma list of the types to watch; `*` for all.',
      },
      [EVERY_TYPE],
    ),
    ping: Default(
      Type.Integer({
        description: `Seconds without an event after which a \`ping\` is sent; limited to ${PING.least} to ${PING.most}, 0 means ${PING.usual}.`,
      }),
      PING.usual,
    ),
    close_after: Default(Words(['state', 'no'], '`state` ends the stream after the first event `state`.'), 'no'),
  }),
  reply: {
    types: ['text/event-stream'],
    stream: true,
    schema: Type.String({
      description: 'Frames of the event stream format of the HTML standard (Server-Sent Events).',
      examples: [
        'event: state\nid: m1ka.f1a0.t1ka.s9z.i2.q1ka\ndata: {"mailbox_id":"mbx_…","changed":{"messages":"m1ka"}}\n\n',
      ],
    }),
  },
  limits: { maxConcurrent: STREAMS_OF_MAILBOX_MAX, maxConcurrentOfCaller: STREAMS_MAX },
  handle({ query, principal, app, request }) {
    const account = accountOf(app, principal)
    const options = {
      types: typesOf(query.types),
      pingSeconds: pingSeconds(query.ping),
      closeAfterState: query.close_after === 'state',
      reading: (messages: readonly string[]) => noteReading(app, principal, messages),
      refused: () => refusal(app, principal, request),
    }
    return stream({
      // Proxies buffer responses without this header.
      headers: { 'X-Accel-Buffering': 'no' },
      open: () => EventStream.open(app, account, options, request.lastEventId),
    })
  },
})

function typesOf(names: readonly string[]): ReadonlySet<ChangeType> {
  const isAll = names.length === 0 || names.includes(EVERY_TYPE)
  return new Set(CHANGE_TYPES.filter((type) => isAll || names.includes(type)))
}

/** See http/program-guard.ts. */
async function noteReading(app: Context, principal: MailboxPrincipal, messages: readonly string[]): Promise<void> {
  const { policies, reads } = app.outbound.held
  if (principal.person !== undefined || !policies.isUnder(principal.mailboxId)) return
  await reads.note(principal, { messages, threads: [] })
}

async function refusal(app: Context, principal: MailboxPrincipal, request: RequestFacts): Promise<EndReason | null> {
  const status = await request.credentialStatus()
  if (status === 'suspended') return 'mailbox_suspended'
  const mailbox = app.directory.mailboxes.byId(principal.mailboxId)
  if (status === 'out' || mailbox === undefined || mailbox.status === 'deleted') return 'credential_revoked'
  return mailbox.status === 'suspended' ? 'mailbox_suspended' : null
}
