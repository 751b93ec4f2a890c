// An agent of the demo: a program that registers an inbox for itself, and asks the owner of the team to be its owner as well.

import { randomUUID } from 'node:crypto'
import { JWT_BEARER, proofOf } from '../../test/support/agents.ts'
import type { Json } from '../../test/support/appliance.ts'

/**
 * Registers an agent and asks a person.
 * @param origin of the API
 * @param settle resolves when the inbox is made
 * @throws Error with the answer of the server
 */
export async function inviteOwner(
  origin: string,
  { name, email }: { name: string; email: string },
  settle: () => Promise<void>,
): Promise<void> {
  const post = async (path: string, body: object, token?: string): Promise<Json> => {
    const reply = await fetch(`${origin}/agent-auth${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'idempotency-key': randomUUID(),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(body),
    })
    if (!reply.ok) throw new Error(`POST ${path} answered ${reply.status}: ${await reply.text()}`)
    return reply.json()
  }
  const wanted = { type: 'anonymous', client_name: name }
  const { challenge } = await post('/agent/identity/challenge', wanted)
  const made = await post('/agent/identity', { ...wanted, proof_of_work: await proofOf(challenge) })
  await settle()
  const form = new URLSearchParams({ grant_type: JWT_BEARER, assertion: made.identity_assertion })
  const reply = await fetch(`${origin}/agent-auth/oauth2/token`, { method: 'POST', body: form })
  const { access_token: token } = (await reply.json()) as Json
  await post('/agent/identity/invite', { email, requested_role: 'owner' }, token)
}
