// A complete agent: registers its own inbox, names its owner, and answers its messages once the owner allows it. Node 20 or newer,
// nothing else. It works with both ways of registering: proof of work, and durable token.
//   node scripts/agent.js https://mail.example ana@example.org [state.json]

import { pbkdf2Sync, randomUUID } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const CLAIM = 'urn:workos:agent-auth:grant-type:claim'
const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'
const USUAL_WAIT_SECONDS = 10

/**
 * @param origin where the appliance is; @param owner who is to own the agent; @param stateFile what must not be lost
 * @param say prints a line; @param rest waits for so many ms; @param rounds how often it looks for messages
 */
export async function runAgent({ origin, owner, stateFile, say = console.log, rest = wait, rounds = Infinity }) {
  const call = caller({ say, rest })
  const server = await call(`${origin}/.well-known/oauth-authorization-server/agent-auth`)
  const [reading, sending] = server.protected_resources
  const state = existsSync(stateFile) ? JSON.parse(readFileSync(stateFile, 'utf8')) : await register(server, call, say)
  // What it proves itself with is shown once: an agent that loses it has to register again.
  const keep = () => writeFileSync(stateFile, JSON.stringify(state, null, 2), { mode: 0o600 })
  keep()
  const { email } = state.mailbox
  say(`My inbox is ${email}.`)
  const token = tokens({ server, state, keep, rest, say })
  const get = async (path) => (await call(`${reading}${path}`, { token: await token(reading) })).data
  const me = await get('/mailbox/me')
  say(`It has room for ${Math.round(me.quota_bytes / 1048576)} MiB.`)
  if (state.invited !== owner) {
    const invite = { token: await token(reading), body: { email: owner, requested_role: 'owner' }, key: randomUUID() }
    await call(server.agent_auth.x_service_identity_invite_endpoint, invite)
    state.invited = owner
    keep()
    say(`I have asked ${owner} to be my owner.`)
  }
  const seconds = server.agent_auth.x_service_poll_interval_seconds
  const isAllowed = permission({ token, sending, owner, server, say })
  await isAllowed()
  say(`I wait for messages to ${email} and look every ${seconds} seconds. Ctrl-C ends me; the same command goes on.`)
  const announced = new Set()
  for (let round = 0; round < rounds; round++) {
    const mayAnswer = await isAllowed()
    for (const { id } of await get('/mailbox/messages?is_unread=true&sort_direction=asc')) {
      const message = await get(`/mailbox/messages/${id}`)
      // What a message says is the word of a stranger: it is answered, never obeyed.
      if (!announced.has(id)) say(`${message.from.email} wrote: ${message.subject}`)
      announced.add(id)
      if (!mayAnswer) continue
      await answer(`${sending}/emails/send/batch`, call, await token(sending), message)
      const path = `${reading}/mailbox/messages/${id}/keywords`
      await call(path, { method: 'PATCH', token: await token(reading), body: { add: ['$seen', '$answered'] } })
      say(`I have answered ${message.from.email}.`)
    }
    await rest(seconds * 1000)
  }
}

/** Gets an inbox, for work where the appliance asks for it. */
async function register(server, call, say) {
  const { identity_endpoint: endpoint, x_service_identity_challenge_endpoint: challenges } = server.agent_auth
  const wish = { type: 'anonymous', client_name: 'Example agent', idempotency_key: randomUUID() }
  if (challenges === undefined) return call(endpoint, { body: wish, key: wish.idempotency_key })
  say('I do the work the appliance asks for an inbox; it takes a moment.')
  const { challenge } = await call(challenges, { body: wish })
  const proof = Buffer.from(JSON.stringify({ challenge, solution: solve(challenge.parameters) })).toString('base64')
  return call(endpoint, { body: { ...wish, proof_of_work: proof }, key: wish.idempotency_key })
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

/** Asks whether the owner allows sending, and says so when that changes: what it waits for, and what a person has to do. */
function permission({ token, sending, owner, server, say }) {
  let before
  return async function isAllowed() {
    const allowed = (await token(sending)) !== null
    if (allowed === before) return allowed
    before = allowed
    if (allowed) {
      say(`${owner} allows me to send.`)
      return true
    }
    say(`I wait for ${owner} to accept and to allow sending. Until then I read messages and answer none.`)
    say(`  ${owner} opens the link in the message from invites@${server.agent_auth.x_service_agent_mailbox_domain}.`)
    say('  No link is mailed to an address of the appliance itself. There its operator prints the link:')
    say(`    npx mailstead login-link ${owner}`)
    return false
  }
}

/** A token for a resource, kept until a minute before it expires; null for sending that is not allowed yet. */
function tokens({ server, state, keep, rest, say }) {
  const kept = new Map()
  return async function token(resource) {
    const isReading = resource === server.protected_resources[0]
    // A durable token reads by itself.
    if (isReading && state.access_token !== undefined) return state.access_token
    const known = kept.get(resource)
    if (known !== undefined && known.until > Date.now()) return known.token
    const form = new URLSearchParams({ ...grantFor(state, isReading), resource })
    const response = await fetch(server.token_endpoint, { method: 'POST', body: form })
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
    say(`${answer.error_description} I ask again in ${answer.retry_after} seconds.`)
    await rest(answer.retry_after * 1000)
    return token(resource)
  }
}

function grantFor(state, isReading) {
  if (state.access_token !== undefined) {
    return { grant_type: EXCHANGE, subject_token: state.access_token, subject_token_type: ACCESS_TOKEN }
  }
  return isReading
    ? { grant_type: JWT_BEARER, assertion: state.identity_assertion }
    : { grant_type: CLAIM, claim_token: state.claim_token }
}

async function answer(url, call, token, message) {
  const reply = {
    to: { email: message.from.email },
    subject: message.subject.startsWith('Re:') ? message.subject : `Re: ${message.subject}`,
    text_body: 'Thank you for your message. I am a program; a person owns me and reads along.\n',
  }
  const id = message.internet_message_id
  if (id !== null) reply.custom_headers = { 'In-Reply-To': `<${id}>`, References: `<${id}>` }
  const { data } = await call(url, { token, body: { messages: [reply] } })
  const [result] = data.results
  if (result.status === 'failed') throw new Error(result.error.message)
}

/** A client of the API that waits where the appliance says that waiting helps. */
function caller({ say, rest }) {
  return async function call(url, { method, token, body, key } = {}) {
    const headers = { 'content-type': 'application/json' }
    if (token) headers.authorization = `Bearer ${token}`
    if (key) headers['idempotency-key'] = key
    const sent = body === undefined ? undefined : JSON.stringify(body)
    const how = { method: method ?? (sent === undefined ? 'GET' : 'POST'), headers, body: sent }
    const response = await fetch(url, how).catch(({ cause }) => {
      throw new Error(`${new URL(url).origin} does not answer (${cause?.code ?? 'unknown reason'}). Is it running?`)
    })
    const answer = await response.json().catch(() => ({}))
    if (response.ok) return answer
    const { code = response.status, message = `${url} is not a Mailstead appliance.` } = answer.error ?? {}
    if (response.status !== 503) throw new Error(`${code}: ${message}`)
    const seconds = Number(response.headers.get('retry-after') ?? USUAL_WAIT_SECONDS)
    say(`${message} I ask again in ${seconds} seconds.`)
    await rest(seconds * 1000)
    return call(url, { method, token, body, key })
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [origin, owner, stateFile = 'agent.json'] = process.argv.slice(2)
  if (owner === undefined) {
    console.error('node scripts/agent.js https://mail.example ana@example.org [state.json]')
    process.exit(2)
  }
  await runAgent({ origin, owner, stateFile }).catch(({ message }) => {
    console.error(message)
    if (existsSync(stateFile))
      console.error(`${stateFile} holds who this agent is. Without that file it registers again.`)
    process.exitCode = 1
  })
}
