// An agent as a stranger writes one: it asks for work, does it with ALTCHA's own library, registers, and trades what it got.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type Challenge, solveChallenge } from 'altcha-lib'
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2'
import type { Json, Reply, TestHouse } from './house.ts'

/** Settings that make the work of a test small. */
export const EASY_WORK = { POW_COST: '10', AGENT_MAILBOX_DOMAIN: 'agents.mailstead.test' }

export const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
export const CLAIM = 'urn:workos:agent-auth:grant-type:claim'
export const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'
export const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'

/** Solves a challenge and writes the proof. */
export async function proofOf(challenge: Json): Promise<string> {
  const solution = await solveChallenge({ challenge: challenge as Challenge, deriveKey })
  return Buffer.from(JSON.stringify({ challenge, solution })).toString('base64')
}

/** What the authorization server is asked. */
export class AgentClient {
  readonly house: TestHouse

  constructor(house: TestHouse) {
    this.house = house
  }

  post(path: string, body: object, options: { key?: string; token?: string } = {}): Promise<Reply> {
    const { key, token } = options
    const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key }
    return this.house.call('POST', `${this.house.origin}/agent-auth${path}`, token ?? null, body, headers)
  }

  /** A form as OAuth clients send it. */
  form(path: string, members: Record<string, string> | string): Promise<Reply> {
    const body = typeof members === 'string' ? members : new URLSearchParams(members).toString()
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    return this.house.call('POST', `${this.house.origin}/agent-auth${path}`, null, body, type)
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

  /** Registers with a proof of work; its inbox is set up. @returns the members of the answer */
  async register(members: Record<string, string> = {}): Promise<Json> {
    const request = { type: 'anonymous', ...members }
    const reply = await this.post(
      '/agent/identity',
      { ...request, proof_of_work: await this.proof(request) },
      { key: randomUUID() },
    )
    assert.equal(reply.status, 201, JSON.stringify(reply.body))
    await this.house.settle()
    return reply.body
  }

  /** A token that reads, for an assertion. */
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
    return this.house.call('POST', `${this.house.sendOrigin}/api/v1/emails/send/batch`, token, { messages: [message] })
  }
}
