// The proof-of-work challenge for the registration of an agent; the server stores no challenges.

import { Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import { conflict, notFound } from '../../base/errors.ts'
import { answer, route } from '../../http/route.ts'
import { record } from '../schemas/record.ts'
import { TimeOf } from '../schemas/time.ts'
import { readRequest, requestMembers } from './request-body.ts'
import { requireOpen } from './require-open.ts'
import { AUTH_PATH } from './resources.ts'

const Hex = (description: string) => Type.String({ pattern: '^[0-9a-f]+$', description })

const Challenge = record('AgentChallenge', 'An ALTCHA v2 proof-of-work challenge with the signature of this server.', {
  parameters: record('AgentChallengeParameters', 'The parameters of the challenge.', {
    algorithm: Type.Literal('PBKDF2/SHA-256'),
    cost: Type.Integer({ minimum: 1, description: 'PBKDF2 iterations of one attempt.' }),
    data: record('AgentChallengeData', 'The request the proof is bound to.', {
      purpose: Type.Literal('agent_registration'),
      request_hash: Hex('SHA-256 of the canonical JSON of the members of this request.'),
    }),
    expiresAt: Type.Integer({ description: 'Unix second at which the challenge expires.' }),
    keyLength: Type.Integer({ description: 'Bytes of the derived key.' }),
    keyPrefix: Hex('Required prefix of the derived key, in hex.'),
    nonce: Hex('The password is these bytes and the counter as four bytes, big-endian.'),
    salt: Hex('The salt.'),
  }),
  signature: Hex('HMAC-SHA-256 over the canonical JSON of `parameters`.'),
})

export const createChallenge = route({
  method: 'POST',
  path: `${AUTH_PATH}/agent/identity/challenge`,
  root: true,
  docs: {
    operation: 'createAgentChallenge',
    tag: 'Agents',
    summary: 'Create a proof-of-work challenge for a registration',
    description:
      'Count up from 0 until PBKDF2 derives a key with the required prefix; send `{challenge, solution: {counter, derivedKey}}` ' +
      'as base64 of JSON in `proof_of_work` of the registration, together with exactly the same members. A challenge expires ' +
      'after ten minutes and can be used for one registration.',
    // The other variant requires no proof of work.
    errors: ['not_found'],
  },
  access: { as: 'none' },
  reply: {
    bare: true,
    schema: record('AgentChallengeAnswer', 'The challenge, and how its proof is sent.', {
      challenge: Challenge,
      expires_at: TimeOf('When the challenge expires.'),
      payload_field: Type.Literal('proof_of_work', {
        description: 'Member of the registration that carries the proof.',
      }),
      proof_format: Type.Literal('base64_json', { description: 'Encoding of the proof.' }),
    }),
  },
  limits: { throttle: { times: 20, seconds: 60 } },
  body: {
    schema: record('AgentChallengeRequest', 'The requested inbox.', requestMembers, {
      type: 'anonymous',
      mailbox_local_part: 'scout',
      client_name: 'Scout',
      idempotency_key: '0d0f9c0e-7f6b-4a53-9d0a-5f0f6b8b2f11',
    }),
  },
  handle({ body, app }) {
    const { agents } = app
    if (app.config.AGENT_VARIANT !== 'proof_of_work') throw notFound('path')
    requireOpen(app)
    const request = readRequest(body)
    const { mailboxLocalPart } = request
    // Reported before the client computes the proof; the registration checks again.
    if (
      mailboxLocalPart !== undefined &&
      !agents.registrations.isFree(agents.registrations.addressOf(mailboxLocalPart))
    ) {
      throw conflict('The address is in use. Choose another one.', 'mailbox_local_part')
    }
    const { parameters, signature, expiresAt } = agents.proofOfWork.challenge(request, agents.registrations.isBusy())
    return answer({
      data: {
        challenge: { parameters, signature },
        expires_at: isoTime(expiresAt),
        payload_field: 'proof_of_work',
        proof_format: 'base64_json',
      },
      headers: { Pragma: 'no-cache' },
    })
  },
})
