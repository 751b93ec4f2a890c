// A complete agent: registers its own inbox, names its owner, and answers its mail once she allows it. Node 20 or newer, nothing else.
//   node scripts/agent.js https://mail.example ana@example.org [state.json]

import { pbkdf2Sync, randomUUID } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const CLAIM = 'urn:workos:agent-auth:grant-type:claim'

/** @param origin where the appliance is; @param owner who is to own the agent; @param stateFile what must not be lost */
export async function runAgent({ origin, owner, stateFile, say = console.log, rest = wait, rounds = Infinity }) {
  const server = await (await fetch(`${origin}/.well-known/oauth-authorization-server/agent-auth`)).json()
  const [reading, sending] = server.protected_resources
  const state = existsSync(stateFile) ? JSON.parse(readFileSync(stateFile, 'utf8')) : await register(server)
  // The claim token is shown once: whoever loses it has to register anew.
  const keep = () => writeFileSync(stateFile, JSON.stringify(state, null, 2), { mode: 0o600 })
  keep()
  say(`My inbox is ${state.mailbox.email}.`)
  const token = tokens(server, state, keep, rest)
  const get = async (path) => (await call(`${reading}${path}`, { token: await token(reading) })).data
  const me = await get('/mailbox/me')
  say(`It has room for ${Math.round(me.quota_bytes / 1048576)} MiB.`)
  if (state.invited !== owner) {
    const body = { email: owner, requested_role: 'owner' }
    await call(server.agent_auth.x_service_identity_invite_endpoint, {
      token: await token(reading),
      body,
      key: randomUUID(),
    })
    state.invited = owner
    keep()
    say(`I have asked ${owner} to be my owner.`)
  }
  for (let round = 0; round < rounds; round++) {
    const unread = await get('/mailbox/messages?is_unread=true&sort_direction=asc')
    for (const { id } of unread) {
      const message = await get(`/mailbox/messages/${id}`)
      // What a mail says is the word of a stranger: it is answered, never obeyed.
      say(`${message.from.email} wrote: ${message.subject}`)
      if (!(await answer(sending, token, message))) continue
      const path = `${reading}/mailbox/messages/${id}/keywords`
      await call(path, { method: 'PATCH', token: await token(reading), body: { add: ['$seen', '$answered'] } })
      say(`I have answered ${message.from.email}.`)
    }
    await rest(server.agent_auth.x_service_poll_interval_seconds * 1000)
  }
}

/** Does the work, and gets an inbox for it. */
async function register(server) {
  const { agent_auth: auth } = server
  const wish = { type: 'anonymous', client_name: 'Example agent', idempotency_key: randomUUID() }
  const { challenge } = await call(auth.x_service_identity_challenge_endpoint, { body: wish })
  const proof = Buffer.from(JSON.stringify({ challenge, solution: solve(challenge.parameters) })).toString('base64')
  return call(auth.identity_endpoint, { body: { ...wish, proof_of_work: proof }, key: wish.idempotency_key })
}

/** Counts up until the key begins as it has to. */
function solve({ nonce, salt, cost, keyLength, keyPrefix }) {
  const password = Buffer.concat([Buffer.from(nonce, 'hex'), Buffer.alloc(4)])
  for (let counter = 0; ; counter++) {
    password.writeUInt32BE(counter, password.length - 4)
    const derivedKey = pbkdf2Sync(password, Buffer.from(salt, 'hex'), cost, keyLength, 'sha256').toString('hex')
    if (derivedKey.startsWith(keyPrefix)) return { counter, derivedKey }
  }
}

/** A token for a resource, kept until a minute before it is over; null for sending that nobody allows yet. */
function tokens(server, state, keep, rest) {
  const kept = new Map()
  return async function token(resource) {
    const known = kept.get(resource)
    if (known !== undefined && known.until > Date.now()) return known.token
    const isReading = resource === server.protected_resources[0]
    const credential = isReading ? { assertion: state.identity_assertion } : { claim_token: state.claim_token }
    const form = { grant_type: isReading ? JWT_BEARER : CLAIM, resource, ...credential }
    const response = await fetch(server.token_endpoint, { method: 'POST', body: new URLSearchParams(form) })
    const answer = await response.json()
    if (response.ok) {
      // A newer assertion lives longer, and comes along with the token that sends.
      if (answer.identity_assertion !== undefined) state.identity_assertion = answer.identity_assertion
      keep()
      kept.set(resource, { token: answer.access_token, until: Date.now() + (answer.expires_in - 60) * 1000 })
      return answer.access_token
    }
    if (answer.error === 'authorization_pending') return null
    if (answer.retry_after === undefined) throw new Error(`${answer.error}: ${answer.error_description}`)
    await rest(answer.retry_after * 1000)
    return token(resource)
  }
}

/** @returns false while the owner does not allow it */
async function answer(sending, token, message) {
  const credential = await token(sending)
  if (credential === null) return false
  const reply = {
    to: { email: message.from.email },
    subject: message.subject.startsWith('Re:') ? message.subject : `Re: ${message.subject}`,
    text_body: 'Thank you for your mail. I am a program; a person owns me and reads along.\n',
  }
  const id = message.internet_message_id
  if (id !== null) reply.custom_headers = { 'In-Reply-To': `<${id}>`, References: `<${id}>` }
  const { data } = await call(`${sending}/emails/send/batch`, { token: credential, body: { messages: [reply] } })
  const [result] = data.results
  if (result.status === 'failed') throw new Error(result.error.message)
  return true
}

async function call(url, { method, token, body, key }) {
  const headers = { 'content-type': 'application/json' }
  if (token) headers.authorization = `Bearer ${token}`
  if (key) headers['idempotency-key'] = key
  const sent = body === undefined ? undefined : JSON.stringify(body)
  const response = await fetch(url, { method: method ?? (sent === undefined ? 'GET' : 'POST'), headers, body: sent })
  const answer = await response.json()
  if (!response.ok) throw new Error(`${response.status} ${answer.error.code}: ${answer.error.message}`)
  return answer
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [origin, owner, stateFile = 'agent.json'] = process.argv.slice(2)
  if (owner === undefined) {
    console.error('node scripts/agent.js https://mail.example ana@example.org [state.json]')
    process.exit(2)
  }
  await runAgent({ origin, owner, stateFile }).catch(({ message }) => {
    console.error(`${message}\n${stateFile} holds who this agent is: without that file it registers anew.`)
    process.exitCode = 1
  })
}
