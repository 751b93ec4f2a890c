// The invitation of a person to own an agent.

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
  docs: {
    operation: 'inviteAgentOwner',
    tag: 'Agents',
    summary: 'Invite a person to own this agent',
    description:
      'The person receives a message with a link the agent never sees. Accepting it makes the person the owner; allowing the ' +
      'agent to send is a second, separate decision. The response is the same when the person has blocked invitations.',
  },
  access: { as: 'mailbox', permission: 'mailbox.read' },
  reply: {
    bare: true,
    schema: record('OwnerInvite', 'The invitation.', {
      invite_id: Id('ownerInvite'),
      status: Words(['pending']),
      expires_at: TimeOf('When the invitation expires.'),
    }),
    status: 202,
  },
  idempotent: 'required',
  body: {
    schema: record(
      'OwnerInviteRequest',
      'The person to invite.',
      {
        email: Type.String({
          minLength: 3,
          maxLength: 254,
          description: 'Email address of the person.',
          examples: ['ana@example.org'],
        }),
        requested_role: Type.Literal('owner', { description: 'The role the person is invited to.' }),
        idempotency_key: requestMembers.idempotency_key,
      },
      { email: 'ana@example.org', requested_role: 'owner' },
    ),
  },
  async handle({ body, principal, app, request }) {
    const { agent } = principal
    if (agent === undefined) {
      throw new ProductError(
        'insufficient_permissions',
        'This path needs a token of an agent. Register with POST /agent/identity.',
      )
    }
    requireSameKey(body.idempotency_key, request.idempotencyKey!)
    const invite = await app.agents.invites.send(agent.registrationId, body.email)
    const data = { invite_id: invite.id, status: 'pending', expires_at: isoTime(invite.expiresAt) }
    return answer({ data, status: 202, headers: { Pragma: 'no-cache' } })
  },
})
