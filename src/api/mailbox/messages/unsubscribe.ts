// Leaving the mailing list of a message by one click (RFC 8058).

import { Type } from 'typebox'
import { conflict, notFound } from '../../../base/errors.ts'
import { route } from '../../../http/route.ts'
import { Id, Nullable } from '../../../http/schema.ts'
import { writableAccountOf } from '../../rules/account.ts'
import { mailingListOf } from '../../rules/mailing-list.ts'
import { record } from '../../schemas/record.ts'
import { WRITERS } from './message-edit.ts'

/** At a time, for a credential: each may wait ten seconds for the server of a stranger. */
const AT_ONCE = 2
const UNSUBSCRIBED = '$unsubscribed'

const Unsubscribed = record('ListUnsubscribed', 'What the server of the list answered.', {
  accepted: Type.Boolean(),
  host: Type.String({ description: 'Of the address that was asked.' }),
  problem: Nullable(Type.String({ description: 'Why it was not accepted, one sentence; null when it was.' })),
})

export const unsubscribe = route({
  method: 'POST',
  path: '/mailbox/messages/{message_id}/unsubscribe',
  docs: {
    operation: 'cancelListSubscription',
    tag: 'Messages',
    summary: 'Leave the mailing list of a message by one click',
    description:
      'Sends the POST of RFC 8058 to the https address in List-Unsubscribe, from this server, without anything of the reader and ' +
      'without following redirects. The message then has the keyword `$unsubscribed`. 409 for a message without List-Unsubscribe-Post, ' +
      'and for one of a sender that DMARC does not prove: an answer would tell strangers that the address is read.',
    errors: ['conflict'],
  },
  access: { as: 'mailbox', permission: WRITERS },
  limits: { maxConcurrent: AT_ONCE },
  params: Type.Object({ message_id: Id('message') }),
  reply: { schema: Unsubscribed },
  async handle({ params: { message_id: id }, principal, app }) {
    const account = writableAccountOf(app, principal)
    const { messages } = app.store.read
    const message = messages.get(account, id)
    if (message === undefined) throw notFound('message')
    const list = mailingListOf((await messages.headers(account, id)) ?? [])
    if (list?.https == null || !list.oneClick)
      throw conflict('The message does not say how its list is left by one click.')
    if (message.authentication.dmarc !== 'pass')
      throw conflict('Nothing proves who sent the message: asking would tell strangers that the address is read.')
    const problem = await app.unsubscriptions.end(list.https)
    if (problem === null) await app.store.edit.messages.change(account, [id], { keywords: { add: [UNSUBSCRIBED] } })
    return { accepted: problem === null, host: new URL(list.https).hostname, problem }
  },
})
