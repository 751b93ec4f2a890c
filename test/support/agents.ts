// An agent client: requests a challenge, solves it with ALTCHA's library, registers, and exchanges its credentials.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type Challenge, solveChallenge } from 'altcha-lib'
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2'
import type { Json, Reply, TestAppliance } from './appliance.ts'

/** Settings for a proof of work that is quick to compute. */
export const EASY_WORK = { POW_COST: '10', AGENT_MAILBOX_DOMAIN: 'agents.mailstead.test' }

export const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
export const CLAIM = 'urn:workos:agent-auth:grant-type:claim'
export const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'
export const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'

/** Solves a challenge and encodes the proof. */
export async function proofOf(challenge: Json): Promise<string> {
  const solution = await solveChallenge({ challenge: challenge as Challenge, deriveKey })
  return Buffer.from(JSON.stringify({ challenge, solution })).toString('base64')
}

/** A client of the authorization server. */
export class AgentClient {
  readonly appliance: TestAppliance

  constructor(appliance: TestAppliance) {
    this.appliance = appliance
  }

  post(path: string, body: object, options: { key?: string; token?: string } = {}): Promise<Reply> {
    const { key, token } = options
    const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key }
    return this.appliance.call('POST', `${this.appliance.origin}/agent-auth${path}`, token ?? null, body, headers)
  }

  /** A form as OAuth clients send it. */
  form(path: string, members: Record<string, string> | string): Promise<Reply> {
    const body = typeof members === 'string' ? members : new URLSearchParams(members).toString()
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    return this.appliance.call('POST', `${this.appliance.origin}/agent-auth${path}`, null, body, type)
  }

  token(members: Record<string, string>): Promise<Reply> {
    return this.form('/oauth2/token', members)
  }

  revoke(token: string): Promise<Reply> {
    return this.form('/oauth2/revoke', { token, token_type_hint: 'access_token' })
  }

  /** A proof for exactly this request. */
  async proof(request: object): Promise<string> {
    const reply = await this.post('/agent/identity/challenge', request)
    assert.equal(reply.status, 200, JSON.stringify(reply.body))
    return proofOf(reply.body.challenge)
  }

  /** Registers with a proof of work; waits for its inbox. @returns the members of the response */
  async register(members: Record<string, string> = {}): Promise<Json> {
    const request = { type: 'anonymous', ...members }
    const reply = await this.post(
      '/agent/identity',
      { ...request, proof_of_work: await this.proof(request) },
      { key: randomUUID() },
    )
    assert.equal(reply.status, 201, JSON.stringify(reply.body))
    await this.appliance.settle()
    return reply.body
  }

  /** A token for reading, for an assertion. */
  async readToken(assertion: string): Promise<string> {
    const reply = await this.token({ grant_type: JWT_BEARER, assertion })
    assert.equal(reply.status, 200, JSON.stringify(reply.body))
    return reply.body.access_token
  }

  invite(token: string, email: string, key = randomUUID()): Promise<Reply> {
    return this.post('/agent/identity/invite', { email, requested_role: 'owner' }, { key, token })
  }

  claim(token: string, members: Record<string, string> = {}): Promise<Reply> {
    return this.token({ grant_type: CLAIM, claim_token: token, ...members })
  }

  send(token: string, message: object): Promise<Reply> {
    return this.appliance.call('POST', `${this.appliance.sendOrigin}/api/v1/emails/send/batch`, token, {
      messages: [message],
    })
  }
}
