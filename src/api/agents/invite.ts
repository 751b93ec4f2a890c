// An agent names the person who is to own it.

import { Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import { ProductError } from '../../base/errors.ts'
import { answer, route } from '../../http/route.ts'
import { Id, Words } from '../../http/schema.ts'
import { record } from '../schemas/record.ts'
import { TimeOf } from '../schemas/time.ts'
import { requestMembers, requireSameKey } from './request-body.ts'
import { AUTH_PATH } from './resources.ts'

export const inviteOwner = route({
  method: 'POST',
  path: `${AUTH_PATH}/agent/identity/invite`,
  root: true,
  operation: 'inviteAgentOwner',
  tag: 'Agents',
  summary: 'Sends a person the invitation to become the owner of this agent.',
  description:
    'The person gets a mail with a link the agent never sees. Accepting makes her the owner; allowing the agent to send is a second, ' +
    'separate decision of hers. The answer is the same for people who do not want to be asked.',
  as: 'mailbox',
  permission: 'mailbox.read',
  bare: true,
  idempotent: 'required',
  body: record(
    'OwnerInviteRequest',
    'Who is asked.',
    {
      email: Type.String({
        minLength: 3,
        maxLength: 254,
        description: 'Address of the person.',
        examples: ['ana@example.org'],
      }),
      requested_role: Type.Literal('owner', { description: 'What she is asked to become.' }),
      idempotency_key: requestMembers.idempotency_key,
    },
    { email: 'ana@example.org', requested_role: 'owner' },
  ),
  reply: record('OwnerInvite', 'The invitation.', {
    invite_id: Id('ownerInvite'),
    status: Words(['pending']),
    expires_at: TimeOf('When it ends undecided.'),
  }),
  status: 202,
  async handle({ body, principal, app, request }) {
    const { agent } = principal
    if (agent === undefined) {
      throw new ProductError('insufficient_permissions', 'This takes a token of an agent.')
    }
    requireSameKey(body.idempotency_key, request.idempotencyKey!)
    const invite = await app.agents.invites.send(agent.registrationId, body.email)
    const data = { invite_id: invite.id, status: 'pending', expires_at: isoTime(invite.expiresAt) }
    return answer({ data, status: 202, headers: { Pragma: 'no-cache' } })
  },
})
