// The registration of an agent: creates its inbox and credentials.

import { Type } from 'typebox'
import type { SignedAssertion } from '../../agents/assertions.ts'
import { type AgentRequest, PROOF_MAX } from '../../agents/proof-of-work.ts'
import type { NewAgent } from '../../agents/registrations.ts'
import { AUDIENCE_SCOPES } from '../../agents/tokens.ts'
import { isoTime } from '../../base/clock.ts'
import { invalid, ProductError } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import type { Context } from '../../context.ts'
import { type Answer, answer, route } from '../../http/route.ts'
import { Id, Words } from '../../http/schema.ts'
import { record } from '../schemas/record.ts'
import { TimeOf } from '../schemas/time.ts'
import { readRequest, requestMembers, requireSameKey } from './request-body.ts'
import { requireOpen } from './require-open.ts'
import { AUTH_PATH } from './resources.ts'

const Inbox = record('AgentInbox', 'The inbox of an agent.', {
  email: Type.String({ description: 'Its address.' }),
  status: Words(
    ['provisioning', 'active'],
    '`active`: it can be read, and receives mail. `provisioning`: in responses stored by an earlier version.',
  ),
})

export const registerAgent = route({
  method: 'POST',
  path: `${AUTH_PATH}/agent/identity`,
  root: true,
  docs: {
    operation: 'registerAgent',
    tag: 'Agents',
    summary: 'Register an agent and create its inbox',
    description:
      'The members of the response depend on the variant that `x_service_variant` of the metadata names: `proof_of_work` returns ' +
      'an assertion and a claim token, `durable_token` an access token that does not expire. The secrets are shown only here; the ' +
      'same key and body return the same secrets for 24 hours, from the same client address only.',
  },
  access: { as: 'none' },
  reply: {
    bare: true,
    secret: true,
    schema: record('AgentRegistration', 'The registration; its members depend on the variant.', {
      registration_id: Id('agentRegistration'),
      registration_type: Type.Literal('anonymous'),
      identity_assertion: Type.Optional(Type.String({ description: 'Exchanged for access tokens (RFC 7523).' })),
      assertion_expires: Type.Optional(TimeOf('When the assertion expires.')),
      claim_token: Type.Optional(
        Type.String({
          description: 'Used to poll the token endpoint after an owner was invited. Shown once; send it nowhere else.',
        }),
      ),
      claim_token_expires: Type.Optional(TimeOf('When the claim token expires.')),
      pre_claim_scopes: Type.Optional(
        Type.Array(Type.String(), { description: 'Scopes of the agent without an owner.' }),
      ),
      access_token: Type.Optional(Type.String({ description: 'Valid until it is revoked. Shown once.' })),
      token_type: Type.Optional(Type.Literal('Bearer')),
      scope: Type.Optional(Type.String({ description: 'Scopes of the token.' })),
      mailbox: Inbox,
    }),
    status: 201,
  },
  idempotent: 'required',
  body: {
    schema: record(
      'AgentRegistrationRequest',
      'The members of the challenge request, and the proof.',
      {
        ...requestMembers,
        proof_of_work: Type.Optional(
          Type.String({ minLength: 1, maxLength: PROOF_MAX, description: 'Base64 of JSON {challenge, solution}.' }),
        ),
      },
      {
        type: 'anonymous',
        mailbox_local_part: 'scout',
        client_name: 'Scout',
        idempotency_key: '0d0f9c0e-7f6b-4a53-9d0a-5f0f6b8b2f11',
        proof_of_work: 'eyJjaGFsbGVuZ2UiOnt9LCJzb2x1dGlvbiI6e319',
      },
    ),
  },
  async handle({ body, app, request }) {
    requireOpen(app)
    const { agents } = app
    const key = request.idempotencyKey!
    requireSameKey(body.idempotency_key, key)
    const wanted = readRequest(body)
    const proof = await proofOf(app, body.proof_of_work, wanted)
    const id = newId('agentRegistration')
    const email = agents.registrations.addressOf(wanted.mailboxLocalPart ?? null)
    // Created before the unit of work, which must not wait for it.
    const assertion = proof === null ? null : await agents.assertions.sign(id, email, 1)
    const input = { id, email, clientName: wanted.clientName ?? null, source: request.source, key, proof }
    let shown: Answer | undefined
    await agents.registrations.register(input, (tx, registered) => {
      shown = { data: present(registered, assertion), status: 201, headers: { Pragma: 'no-cache' } }
      request.keep(tx, shown)
    })
    return answer(shown!)
  },
})

/** @throws ProductError missing_parameter, invalid_parameter, validation_error */
async function proofOf(app: Context, written: string | undefined, wanted: AgentRequest) {
  if (app.config.AGENT_VARIANT === 'durable_token') {
    if (written === undefined) return null
    throw invalid(
      'proof_of_work',
      'unknown_field',
      'This appliance does not use proof of work. Leave out proof_of_work.',
    )
  }
  if (written !== undefined) return app.agents.proofOfWork.check(written, wanted)
  const message = 'proof_of_work is required. Get a challenge with POST …/agent/identity/challenge.'
  throw new ProductError('missing_parameter', message, {
    issues: [{ field: 'proof_of_work', code: 'required', message }],
  })
}

function present({ registration, secret }: NewAgent, assertion: SignedAssertion | null) {
  const { id, email, claimExpiresAt } = registration
  const scopes = AUDIENCE_SCOPES.app
  const common = { registration_id: id, registration_type: 'anonymous' as const }
  const mailbox = { email, status: 'active' as const }
  if (assertion === null) {
    return { ...common, access_token: secret, token_type: 'Bearer' as const, scope: scopes.join(' '), mailbox }
  }
  return {
    ...common,
    identity_assertion: assertion.token,
    assertion_expires: isoTime(assertion.expiresAt),
    claim_token: secret,
    claim_token_expires: isoTime(claimExpiresAt!),
    pre_claim_scopes: [...scopes],
    mailbox,
  }
}
