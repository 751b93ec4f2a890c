// Every operation of the OpenAPI documents, called with the example the document has, and its answer checked by the document;
// what takes an Idempotency-Key, fifty times at once; what has a tag, with that tag (docs/design/http.md §7).

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { DAY_MS } from '../../src/base/durations.ts'
import { MAILBOX_SCOPES } from '../../src/directory/names/permissions.ts'
import type { Outcome } from '../../src/outbound/model/records.ts'
import { AccountStates } from '../../src/sync/accounts/accounts-state.ts'
import { ServerError } from '../../src/sync/model/server.ts'
import { EASY_WORK, JWT_BEARER, proofOf } from '../support/agents.ts'
import { type Json, startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { startHook } from '../support/hook.ts'
import { certificateFor, startMailServer } from '../support/mail-server.ts'
import { sendingContextOf } from '../support/sending-appliance.ts'
import { type Operation, type Own, operationsOf, Walker } from '../support/walker.ts'
import { data, etagOf, failure, receive, success } from './expect.ts'

const hook = await startHook()
const server = await startMailServer({ ...(await certificateFor('smtp.example.com')), size: 10_000_000 })
const clock = new ManualClock()
const appliance = await startAppliance({
  clock,
  fetchesPrivate: true,
  zone: {
    'hooks.test': { A: ['127.0.0.1'] },
    'smtp.example.com': { A: ['127.0.0.1'] },
    'list.test': { TXT: ['v=spf1 ip4:127.0.0.1 -all'] },
    '_dmarc.list.test': { TXT: ['v=DMARC1; p=none'] },
  },
  // An account that is tried again changes in the middle of a check.
  openServer: () => Promise.reject(new ServerError('delay', 'Tomorrow again.', { retryAfterMs: DAY_MS })),
  env: {
    ...EASY_WORK,
    ...{ SES_ACCESS_KEY_ID: 'AKIAEXAMPLE', SES_SECRET_ACCESS_KEY: 'secret' },
    ...{ GOOGLE_CLIENT_ID: 'id', GOOGLE_CLIENT_SECRET: 'secret' },
    ...{ ALLOW_PRIVATE_WEBHOOKS: 'true', ALLOW_PRIVATE_SMTP_HOSTS: 'true', EXTRA_CA_FILE: hook.caFile },
  },
})
after(async () => {
  await appliance.close()
  await hook[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

const documents = await Promise.all(
  [appliance.origin, appliance.sendOrigin].map(
    async (origin) => (await appliance.call('GET', `${origin}/api/v1/openapi.json`)).body,
  ),
)
/** Answered to an owner in a browser alone, and refused to every key: test/me/member-access.test.ts. */
const IN_A_BROWSER = new Set(['createMemberSignInLink'])
const operations = documents.flatMap(operationsOf).filter(({ operationId }) => !IN_A_BROWSER.has(operationId))
const walker = new Walker(appliance)
const team = await appliance.team()
/** Of the mailbox the story makes, and of the agent. */
const secrets = { mailbox: '', mailboxId: '', mailboxKey: '', agent: '', assertion: '', proof: '' }
const agentRequest = { mailbox_local_part: 'scout', client_name: 'Scout', idempotency_key: randomUUID() }

/** A message of the mailbox that leaves tomorrow. @returns its id */
async function laterEmail(): Promise<string> {
  const mail = { to: 'eve@customer.test', subject: 'Later', text_body: 'Later.' }
  const send_at = new Date(clock.now() + 86_400_000).toISOString()
  const url = `${appliance.sendOrigin}/api/v1/emails/send`
  return (await appliance.call('POST', url, secrets.mailbox, { ...mail, send_at })).body.data.message_id
}

/** A delivery that waits for its next attempt, or failed, as the log has it. */
async function deliveryOf(outcome: Outcome): Promise<Own> {
  const { accepted, deliveries, transitions } = sendingContextOf(appliance.app, team.id)
  const [delivery] = await deliveries(
    await accepted([`${outcome.kind}@else.test`], { id: null, email: 'news@again.test' }),
  )
  await appliance.app.db.write((tx) => transitions.apply(tx, delivery!.n, outcome, null))
  walker.know('/emails/logs', delivery!.id)
  return { key: team.key }
}

/** A key of the mailbox that is the account, which was made with it. */
async function keyOfMirror(): Promise<Own> {
  const [{ mailbox_id: id }] = data<[Json]>(await appliance.get('/remote-accounts', team.key))
  const key = data<Json>(await appliance.call('POST', `/mailboxes/${id}/api-keys`, team.key, { name: 'x' }), 201)
  return { key: key.key }
}

/** A removal of an outside account that waits for a decision. */
async function holdRemoval(): Promise<Own> {
  const [{ id }] = data<[Json]>(await appliance.get('/remote-accounts', team.key))
  const { db, clock: own, sync } = appliance.app
  const states = new AccountStates({ db, clock: own, announcements: sync.announcements })
  const held = { folders: ['Old'], messages: 2000, since: clock.now(), isConfirmed: false }
  await db.write((tx) => states.holdRemoval(tx, sync.accounts.getIn(tx, team.id, id)!, 'here', held))
  return {}
}

const REPLY = { smtpCode: 451, enhancedCode: '4.7.1', text: 'greylisted' }
const waitingDelivery = () =>
  deliveryOf({ kind: 'deferred', reply: REPLY, cause: 'greylisted', nextAt: clock.now() + 3_600_000 })

async function anyMember(): Promise<Own> {
  const [member] = data<Json[]>(await appliance.get('/team/members', team.key))
  return { path: { member_id: member.id } }
}

/** What the examples cannot know, by operation. */
const tomorrow = () => new Date(clock.now() + 86_400_000).toISOString()

/** A thread in the Inbox. */
async function arrivedThread(): Promise<string> {
  const { email } = data<Json>(await appliance.get(`/mailboxes/${secrets.mailboxId}`, team.key))
  await receive(appliance, { to: email, subject: `Arrived ${clock.now()}` })
  return data<Json[]>(await appliance.get('/mailbox/messages?limit=1', secrets.mailbox))[0]!.thread_id
}

const known: Record<string, () => Own | Promise<Own>> = {
  // What is active already cannot be activated; it is checked by itself once it is made.
  async activateProvider() {
    const [deactivate] = operations.filter(({ operationId }) => operationId === 'deactivateProvider')
    await walker.attempt(deactivate!, { key: team.key })
    return {}
  },
  // The team has asked the address of the example to confirm.
  createForward: () => ({ body: { to: 'ben@elsewhere.example' } }),
  createProvider: () => ({ body: { smtp_port: server.port, smtp_protocol: 'none' } }),
  createWebhook: () => ({ body: { url: hook.url() } }),
  copyBlobs: async () => ({ headers: { 'x-source-authorization': `Bearer ${secrets.mailbox}` }, ...(await blobs()) }),
  lookupBlobs: blobs,
  parseMessages: blobs,
  copyMessages: copies,
  // The servers of the example's address cannot be found here.
  createRemoteAccount: () => ({ body: { imap_host: 'imap.example.com', imap_port: 993, imap_protocol: 'ssl' } }),
  getMailboxRemoteAccount: keyOfMirror,
  restoreMailboxRemovedMessages: keyOfMirror,
  // No removal is held back by itself.
  confirmRemoteRemoval: holdRemoval,
  cancelRemoteRemoval: holdRemoval,
  // The policy of the example forbids programs the operations that follow.
  replaceMailboxSendPolicy: () => ({ body: { send_approval: 'none', block_to: [] } }),
  sendMessage: () => ({ body: { send_at: new Date(clock.now() + 86_400_000).toISOString() } }),
  sendEmail: () => ({ key: secrets.mailbox, body: { from: undefined } }),
  async cancelSubmission() {
    await laterEmail()
    const [newest] = (await appliance.call('GET', '/mailbox/submissions', secrets.mailbox)).body.data
    return { path: { submission_id: newest.id } }
  },
  // A reply is a new message, so the one that is answered is named: the oldest, which was received.
  async createReplyDraft() {
    const messages = data<Json[]>(await appliance.get('/mailbox/messages', secrets.mailbox))
    walker.know('/mailbox/messages', messages.at(-1).id)
    return {}
  },
  setThreadSnooze: async () => ({ path: { thread_id: await arrivedThread() }, body: { until: tomorrow() } }),
  async deleteThreadSnooze() {
    const id = await arrivedThread()
    success(await appliance.call('PUT', `/mailbox/threads/${id}/snooze`, secrets.mailbox, { until: tomorrow() }))
    return { path: { thread_id: id } }
  },
  // A message of a list that is left by one click, of a sender that DMARC proves.
  async cancelListSubscription() {
    const { email } = data<Json>(await appliance.get(`/mailboxes/${secrets.mailboxId}`, team.key))
    const more = [`List-Unsubscribe: <${hook.url('/out')}>`, 'List-Unsubscribe-Post: List-Unsubscribe=One-Click']
    await receive(appliance, { from: 'news@list.test', to: email, subject: 'News', more })
    const [message] = data<Json[]>(await appliance.get('/mailbox/messages?limit=1', secrets.mailbox))
    return { path: { message_id: message.id } }
  },
  async restoreChangedThreads() {
    const [{ id }] = data<Json[]>(await appliance.get('/mailbox/threads', secrets.mailbox))
    const body = { ids: [id], add_keywords: ['undone'] }
    const changed = data<Json>(await appliance.call('POST', '/mailbox/threads/batch-update', secrets.mailbox, body))
    return { path: { undo_id: changed.undo_id } }
  },
  setMailboxPerson: anyMember,
  // The mailbox makes another one by the name of the example.
  createMailboxSieveScript: () => ({ body: { name: 'Of the team' } }),
  replaceMailboxSieveScript: () => ({ body: { name: 'Of the team' } }),
  // The member of the example is gone by then.
  async deleteMailboxPerson() {
    const [mailbox] = data<Json[]>(await appliance.get('/mailboxes', team.key))
    const invited = { email: 'eve@elsewhere.example', role: 'viewer' }
    const member = data<Json>(await appliance.call('POST', '/team/members', team.key, invited), 202)
    const path = `/mailboxes/${mailbox.id}/people/${member.id}`
    await appliance.call('PUT', path, team.key, { access: 'reader' })
    return { path: { mailbox_id: mailbox.id, member_id: member.id } }
  },
  // A pattern leads to no agent and to no outside account.
  async replaceDomainAddressing() {
    const { id } = await team.mailbox(`patterns${clock.now()}@again.test`)
    return { body: { patterns: [{ pattern: 'shop-*', mailbox_id: id }] } }
  },
  restoreMailbox: deletedMailbox,
  eraseMailbox: deletedMailbox,
  retryDelivery: waitingDelivery,
  cancelDelivery: waitingDelivery,
  resendDelivery: () => deliveryOf({ kind: 'expired', reply: REPLY }),
  cancelEmail: async () => ({ key: secrets.mailbox, path: { message_id: await laterEmail() } }),
  createAgentChallenge: () => ({ body: agentRequest }),
  registerAgent: () => ({
    body: { ...agentRequest, proof_of_work: secrets.proof },
    headers: { 'idempotency-key': agentRequest.idempotency_key },
  }),
  inviteAgentOwner: () => ({ key: secrets.agent, headers: { 'idempotency-key': agentRequest.idempotency_key } }),
  issueAgentToken: () => ({ body: { grant_type: JWT_BEARER, assertion: secrets.assertion } }),
  revokeAgentToken: () => ({ body: { token: secrets.agent } }),
  getEmailMetricsBreakdown: () => ({ query: { by: 'domain' } }),
  streamMailboxEvents: () => ({
    query: { close_after: 'state' },
    headers: { accept: 'text/event-stream', 'last-event-id': 'long ago' },
  }),
  listMessageQueryChanges: () => queryState('/mailbox/messages'),
  listThreadQueryChanges: () => queryState('/mailbox/threads'),
  listFolderQueryChanges: () => queryState('/mailbox/folders'),
  listSyncQueryChanges: () => queryState('/mailbox/messages'),
  listSyncChanges: async () => ({ query: { since: `messages:${await state('Messages')}` } }),
}

/** What is kept of an answer for later. */
const afterwards: Record<string, (body: Json) => Promise<void> | void> = {
  async createMailbox({ data: { id, email, api_key } }) {
    secrets.mailbox = api_key.key
    secrets.mailboxId = id
    walker.know('/mailboxes', id)
    await receive(appliance, { to: email })
  },
  async restoreMailbox({ data: { id } }) {
    data(await appliance.call('DELETE', `/mailboxes/${id}`, team.key))
    walker.know('/mailboxes', secrets.mailboxId)
  },
  eraseMailbox() {
    walker.know('/mailboxes', secrets.mailboxId)
  },
  async createAgentChallenge({ challenge }) {
    secrets.proof = await proofOf(challenge)
  },
  async sendDraft() {
    const { id } = (await appliance.call('POST', '/mailbox/drafts', secrets.mailbox, { subject: 'Another' })).body.data
    walker.know('/mailbox/drafts', id)
  },
  async registerAgent({ identity_assertion }) {
    secrets.assertion = identity_assertion
    await appliance.settle()
  },
  createMailboxKey({ data: { id } }) {
    secrets.mailboxKey = id
  },
  issueAgentToken({ access_token }) {
    secrets.agent = access_token
  },
}

before(async () => {
  await team.domain('again.test')
  await appliance.app.outbound.accounts.sharedLimit.setDaily(team.id, true, 100)
  await appliance.app.outbound.billing.ledger.credit(team.id, { type: 'purchase', amount: 1, description: 'x' })
})

/** What makes comes first, then what shows, what changes, and at last what ends, the latest made first. */
const PHASES = [
  /^(create|register|issue|send|authorize|import)/,
  /^(invite|get|list|stream|lookup|discover|batchGet|test|verify|validate|parse|wait)/,
  /^(update|set|replace|activate|deactivate|suspend|reactivate|pause|resume|sync|confirm|restore|erase|copy|replay|resend|retry|rotate)/,
  /^(cancel|revoke|delete)/,
]

function inOrder(all: readonly Operation[]): Operation[] {
  const phases = PHASES.map((phase) => all.filter(({ operationId }) => phase.test(operationId)))
  assert.equal(phases.flat().length, all.length, 'every verb has its phase')
  return [...phases.slice(0, -1).flat(), ...phases.at(-1)!.toReversed()]
}

function keyFor({ permission }: Operation): string | null {
  if (permission === undefined) return null
  return permission.split(' or ').some((one) => (MAILBOX_SCOPES as readonly string[]).includes(one))
    ? secrets.mailbox
    : team.key
}

/** The state of the type an operation names. */
async function state(operationId: string): Promise<string> {
  const { states } = data<{ states: Record<string, string> }>(await appliance.get('/mailbox/session', secrets.mailbox))
  const type = Object.keys(states).find((name) => operationId.toLowerCase().includes(name.replace(/(?:ie)?s$/, '')))
  return states[type!]!
}

/** Where the following of a list begins. */
async function queryState(list: string): Promise<Own> {
  const { body } = await appliance.get(list, secrets.mailbox)
  return { query: { since_query_state: body.meta.query_state } }
}

async function deletedMailbox(): Promise<Own> {
  const { id } = await team.mailbox(`deleted${clock.now()}@again.test`)
  data(await appliance.call('DELETE', `/mailboxes/${id}`, team.key))
  return { path: { mailbox_id: id } }
}

async function blobs(): Promise<Own> {
  const [message] = data<Json>(await appliance.get('/mailbox/messages', secrets.mailbox))
  const detail = data<Json>(await appliance.get(`/mailbox/messages/${message.id}`, secrets.mailbox))
  return { body: { blob_ids: [detail.blob_id] } }
}

/** Of another mailbox of the team. */
async function copies(): Promise<Own> {
  await team.domain('source.test')
  const source = await team.mailbox('source@source.test')
  await receive(appliance, { to: source.email })
  const [message] = data<Json>(await appliance.get('/mailbox/messages', source.key))
  const headers = { 'x-source-authorization': `Bearer ${source.key}` }
  return { headers, body: { source_mailbox_id: source.id, ids: [message.id] } }
}

const takes = ({ parameters }: Operation, header: string) => parameters.some(({ name }) => name === header)
const tagged = operations.filter((one) => one.method === 'GET' && takes(one, 'If-None-Match') && !takes(one, 'Range'))

/** Operations below a resource with a tag that leave it as it is; the walk checks that. */
const LEAVE_AS_IT_IS = new Set([
  ...['createMailboxAlias', 'deleteMailboxAlias', 'updateMailboxAppPassword'],
  ...['createMailboxThrowAwayAddress', 'updateMailboxThrowAwayAddress', 'deleteMailboxThrowAwayAddress'],
  ...['createMailboxForward', 'updateMailboxForward', 'deleteMailboxForward', 'sendMailboxForwardConfirmation'],
  ...['inviteMember', 'updateMember', 'deleteMember', 'deleteMemberSessions', 'deleteMemberCredentials'],
  ...['createReplyDraft', 'createForwardDraft', 'setMailboxPerson', 'deleteMailboxPerson'],
  ...['createMailboxSieveScript', 'validateMailboxSieveScript'],
  // They put messages into folders.
  ...['restoreRemovedMessages', 'restoreMailboxRemovedMessages', 'updateMessageLabel'],
  ...['setThreadSnooze', 'deleteThreadSnooze', 'cancelListSubscription'],
])
/** They change what the tag above has: an alias brings its identity, which is activity of the mailbox; a label or a snooze moves messages. */
const CHANGES_ABOVE = new Set([
  ...['createMailboxAlias', 'deleteMailboxAlias', 'updateMessageLabel'],
  ...['setThreadSnooze', 'deleteThreadSnooze', 'cancelListSubscription'],
])
/** Keys of mailboxes have a tag of their own, at another path. */
const KEYS_OF_MAILBOXES = new Set(['rotateMailboxKey', 'deleteMailboxKey'])

/** The tagged resource an operation changes: at its path, or the nearest above it. */
function changedBy({ method, path, operationId }: Operation): Operation | undefined {
  if (method === 'GET') return undefined
  if (KEYS_OF_MAILBOXES.has(operationId)) return tagged.find((one) => one.operationId === 'getApiKey')
  const above = tagged.filter((one) => path === one.path || path.startsWith(`${one.path}/`))
  return above.sort((a, b) => b.path.length - a.path.length)[0]
}

async function tagOf(resource: Operation, own: Own = {}): Promise<string> {
  return etagOf(await walker.attempt(resource, { key: keyFor(resource), ...own }))
}

/** A read that is answered 304 for its tag, with the same tag whatever is asked of the resource. */
async function checkRead(operation: Operation, call: Own): Promise<void> {
  const tag = await tagOf(operation, call)
  const unchanged = await walker.attempt(operation, { ...call, headers: { 'if-none-match': `"other", ${tag}` } })
  assert.deepEqual([unchanged.status, unchanged.headers.get('etag')], [304, tag])
  const queries: Record<string, string>[] = [{ body_chars: '1' }, { body_chars: '0', include: 'headers' }]
  for (const query of queries) {
    if (Object.keys(query).every((name) => takes(operation, name)))
      assert.equal(await tagOf(operation, { ...call, query }), tag)
  }
}

/** A change under a stale tag does nothing. @returns the headers of one that may be done */
async function checkChange(operation: Operation, call: Own, resource: Operation): Promise<Record<string, string>> {
  // New sending accounts are checked by themselves.
  await appliance.settle()
  const own: Own = KEYS_OF_MAILBOXES.has(operation.operationId)
    ? { path: { key_id: secrets.mailboxKey } }
    : { path: call.path }
  const before = await tagOf(resource, own)
  for (const stale of ['W/"stale"', '"stale", W/"older"']) {
    const reply = await walker.attempt(operation, { ...call, headers: { ...call.headers, 'if-match': stale } })
    assert.equal(failure(reply, 409, 'conflict').param, 'If-Match')
    clock.advance(10_000)
  }
  assert.equal(await tagOf(resource, own), before, 'nothing was changed')
  return { ...call.headers, 'if-match': before }
}

test('every operation that changes a resource with an ETag takes If-Match', () => {
  const wanted = operations.filter((one) => changedBy(one) !== undefined && !LEAVE_AS_IT_IS.has(one.operationId))
  const taking = operations.filter((one) => takes(one, 'If-Match'))
  const names = (all: Operation[]) => all.map(({ operationId }) => operationId).sort()
  assert.deepEqual(names(taking), names(wanted))
  assert.ok(taking.length > 30, `${taking.length}`)
})

for (const operation of inOrder(operations)) {
  const { operationId, parameters } = operation
  test(`${operationId}: the response to its example matches the document`, async () => {
    clock.advance(10_000)
    const own = (await known[operationId]?.()) ?? {}
    const isSince = parameters.some(({ name, required }) => name === 'since_state' && required)
    const since: Record<string, string> = isSince ? { since_state: await state(operationId) } : {}
    const call: Own = { key: keyFor(operation), ...own, query: { ...since, ...own.query } }
    const resource = changedBy(operation)
    const reading: Own = own.key === undefined ? {} : { key: own.key }
    const isUnchanged = LEAVE_AS_IT_IS.has(operationId) && !CHANGES_ABOVE.has(operationId)
    const before = isUnchanged ? await tagOf(resource!, reading) : null
    if (takes(operation, 'If-Match')) call.headers = await checkChange(operation, call, resource!)
    const isOnce = parameters.some(({ name }) => name === 'Idempotency-Key')
    const reply = isOnce ? await walker.callAtOnce(operation, call, 50) : await walker.call(operation, call)
    await afterwards[operationId]?.(reply.body)
    if (before !== null) assert.equal(await tagOf(resource!, reading), before, 'the resource above is as it was')
    if (tagged.includes(operation)) await checkRead(operation, call)
  })
}
