// Every operation × every kind of credential × its own ids, ids of others and unknown ids. The walk follows the list of routes: a new one is
// walked without being named here.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { routes } from '../../src/api/routes.ts'
import type { IdKind } from '../../src/base/ids.ts'
import { allows } from '../../src/directory/names/permissions.ts'
import type { Route } from '../../src/http/route.ts'
import { linkTokens } from '../../src/mime/sign-in-links.ts'
import { webRoutes } from '../../src/pages/routes.ts'
import { readMessage } from '../../src/workers/read-message.ts'
import { ACCESS_TOKEN, CLAIM, EASY_WORK, EXCHANGE, JWT_BEARER } from '../support/agents.ts'
import { inTurn } from '../support/amount.ts'
import { type Json, type Reply, startAppliance } from '../support/appliance.ts'
import { authorityOf, gains } from '../support/authority.ts'
import { ManualClock } from '../support/clock.ts'
import * as make from '../support/credentials.ts'
import { baseOf, bodiesOf, type Ids, kindsOf, pathOf, unknownIds } from '../support/requests.ts'
import { resourcesOf } from '../support/resources.ts'

type Credential = make.Credential

/** Credentials that each operation refuses and permits, and bodies beside the least that each permitted one sends: others in each turn. */
const REFUSED = 2
const PERMITTED = 4
const BODIES = 1
/** Exchanges that each credential asks for which may exchange something. */
const EXCHANGES = 9
const SECRET = /\b(?:srk|smk|sok|sat|sax|clm)_[0-9A-Za-z]{20,}/g
const LINK = /\/(?:owner\/session|invites)\/[\w-]{43}/
/** Words that occur only in the data of the other team. */
const MARK = 'FOREIGN-MARK'

const clock = new ManualClock()
const env = {
  ...EASY_WORK,
  TRUSTED_PROXIES: '127.0.0.1',
  SES_ACCESS_KEY_ID: 'AKIAEXAMPLE',
  SES_SECRET_ACCESS_KEY: 'secret',
}
const appliance = await startAppliance({ clock, env })
after(() => appliance.close())
const operatorOrigin = `http://127.0.0.1:${appliance.ports.operator}`
const api = routes.filter(({ as }) => as !== 'none')
const open = routes.filter(({ as }) => as === 'none')

const mine = await appliance.team('Mine')
const theirs = await appliance.team(`Theirs ${MARK}`)
const own = new Map<IdKind, string>()
const foreign = new Map<IdKind, string>()
let reader: { id: string; email: string; key: string }
let callers: Credential[] = []
let bad: Credential[] = []
let allBut = new Map<string, Credential>()
let signedIn: make.SignedIn[] = []
/** Operations that succeeded for some credential. */
const done = new Set<string>()
const ownIds: Ids = (kind) => own.get(kind) ?? unknownIds(kind)
const foreignIds: Ids = (kind) => foreign.get(kind) ?? unknownIds(kind)
/** Keys of a team are under another path than those of its mailboxes. */
const rootKeys = new Map<typeof own, string>()
const idsFor = (route: Route, ids: Ids): Ids => {
  if (!/^\/(api-keys|owner\/keys)\//.test(route.path) || ids === unknownIds) return ids
  return (kind) => (kind === 'key' ? rootKeys.get(ids === ownIds ? own : foreign)! : ids(kind))
}

before(async () => {
  for (const [team, name, kept] of [
    [theirs, 'theirs.test', foreign],
    [mine, 'mine.test', own],
  ] as const) {
    const domain = await team.domain(name)
    reader = await team.mailbox(`ana@${name}`)
    for (const [kind, id] of await resourcesOf(appliance, team, { domain, mailbox: reader })) kept.set(kind, id)
    kept.set('team', team.id)
    const input = {
      teamId: team.id,
      kind: 'root' as const,
      name: `key of ${name}`,
      role: 'root:readonly',
      createdBy: 'operator',
    }
    rootKeys.set(kept, (await appliance.app.directory.keys.issue(input)).record.id)
  }
  const { secret } = await appliance.app.directory.operatorKeys.issue('x')
  const operator = {
    name: 'operator',
    secret,
    kind: 'operator' as const,
    permissions: [],
    teamId: null,
    mailboxId: null,
  }
  allBut = await make.allBut(appliance, mine)
  bad = await make.badCredentials(appliance, mine)
  const agents = [...(await make.agentTokens(appliance, false)), ...(await make.agentTokens(appliance, true))]
  bad.push(...agents.filter(({ kind }) => kind === 'invalid'))
  callers = [
    ...(await make.teamKeys(appliance, mine)),
    ...(await make.mailboxKeys(appliance, mine, reader)),
    ...agents.filter(({ kind }) => kind !== 'invalid'),
    operator,
  ]
  signedIn = await make.people(appliance, mine)
})

let calls = 0
/** Guesses are bounded by the address they come from. */
const source = () => `10.${++calls >> 16}.${(calls >> 8) & 255}.${calls & 255}`

/** Calls a route; what goes on is left at its beginning. */
async function call(route: Route, secret: string, ids: Ids, body?: unknown): Promise<Reply> {
  // What is bounded by the minute is no subject here.
  clock.advance(20)
  const headers: Record<string, string> = { 'x-forwarded-for': source() }
  if (route.idempotent) headers['idempotency-key'] = randomUUID()
  if (route.fromMailbox) headers['x-source-authorization'] = `Bearer ${secret}`
  const url = baseOf(appliance, route) + pathOf(route, idsFor(route, ids))
  if (!route.stream) return appliance.call(route.method, url, secret, body, headers)
  const leaving = new AbortController()
  const { status, headers: got } = await fetch(url, {
    headers: { ...headers, authorization: `Bearer ${secret}` },
    signal: leaving.signal,
  })
  leaving.abort()
  return { status, headers: got, body: '' }
}

/** The access rules of the route, evaluated here a second time. */
function isLetIn(
  { as, permission, surface = 'app' }: Route,
  { kind, permissions, surface: good }: Credential,
): boolean {
  if (kind === 'operator' || as === 'operator') return kind === 'operator' && as === 'operator'
  if (as !== 'any' && as !== kind) return false
  const wanted = permission === undefined ? [] : [permission].flat()
  // A token for one resource opens nothing of the other.
  const granted = good === undefined || good === surface ? permissions : []
  return wanted.some((one) => allows(granted, one))
}

test('every operation with a credential requires a permission', () => {
  const silent = api.filter(({ as, permission }) => as !== 'operator' && permission === undefined)
  assert.deepEqual(
    silent.map(({ operation }) => operation),
    [],
  )
})

test('only the known operations need no credential', () => {
  assert.deepEqual(
    open.map(({ operation }) => operation).sort(),
    [
      ...['createAgentChallenge', 'getAgentGuide', 'getAgentKeys', 'getAuthorizationServer'],
      ...['getAuthorizationServerLegacyPath', 'getHealth', 'getProtectedResource', 'getReadiness'],
      ...[
        'getSendingProtectedResource',
        'getToolsProtectedResource',
        'issueAgentToken',
        'registerAgent',
        'revokeAgentToken',
      ],
    ].sort(),
  )
})

for (const [turn, route] of api.entries()) {
  test(`${route.operation}: accepts permitted credentials only`, async () => {
    const [body] = bodiesOf(route, unknownIds)
    for (const credential of inTurn(bad, REFUSED, turn)) {
      const { status } = await call(route, credential.secret, unknownIds, body)
      // The operator's listener has no teams, suspended or not.
      const expected = credential.kind === 'suspended' && route.as !== 'operator' ? 403 : 401
      assert.equal(status, expected, credential.name)
    }
    const [least] = bodiesOf(route, foreignIds)
    const lacking = [route.permission ?? []].flat().flatMap((one) => allBut.get(one) ?? [])
    // Keys with one permission are walked where it lets them in.
    const others = callers.filter((caller) => !caller.name.startsWith('root ') && !isLetIn(route, caller))
    for (const credential of [...lacking.filter((key) => !isLetIn(route, key)), ...inTurn(others, REFUSED, turn)]) {
      const reply = await call(route, credential.secret, foreignIds, least)
      const isAnotherDoor = (credential.kind === 'operator') !== (route.as === 'operator')
      assert.equal(reply.status, isAnotherDoor ? 401 : 403, `${credential.name}: ${JSON.stringify(reply.body)}`)
      if (!isAnotherDoor && !route.stream)
        assert.equal(reply.body.error.code, 'insufficient_permissions', credential.name)
    }
  })
}

// What forbids other operations is late, and deletions come last, so that the others find something: first the contents of a mailbox, then the mailbox.
const harm = ({ method, as, path }: Route) =>
  /\/(suspend|cancel|revoke|drop|send-policy)/.test(path)
    ? 1
    : method !== 'DELETE'
      ? 0
      : as === 'mailbox'
        ? 2
        : 3 + 1 / path.length
const byHarm = api.toSorted((one, other) => harm(one) - harm(other))
for (const [at, route] of byHarm.entries()) {
  test(`${route.operation}: never exceeds the caller's permissions, and shows nothing of other teams`, async () => {
    const allowed = callers.filter((caller) => isLetIn(route, caller))
    const permitted = inTurn(allowed, PERMITTED, at)
    for (const [turn, credential] of permitted.entries()) {
      // The operator may end a whole team: the other one.
      const both = credential.kind === 'operator' ? [foreignIds] : [foreignIds, ownIds]
      for (const ids of kindsOf(route).size > 0 ? both : both.slice(-1)) {
        const [least, ...bodies] = bodiesOf(route, ids, 'mine.test')
        const tried = [least, ...inTurn(bodies, BODIES, turn), ...bodiesOf(route, foreignIds).slice(0, 1)]
        for (const body of tried) await attempt(route, credential, ids, body)
      }
    }
  })
}

async function attempt(route: Route, credential: Credential, ids: Ids, body: unknown): Promise<void> {
  const before = authorityOf(appliance)
  const reply = await call(route, credential.secret, ids, body)
  const what = `${credential.name}: ${route.method} ${route.path} ${JSON.stringify(body)}: ${reply.status}`
  assert.ok(reply.status < 500 || reply.status === 503, `${what} ${JSON.stringify(reply.body)}`)
  assert.notEqual(reply.status, 401, what)
  if (reply.status < 300) done.add(route.operation)
  if (credential.kind === 'operator') return
  if (ids === foreignIds && kindsOf(route).size > 0) assert.ok(reply.status >= 400, `${what}: done to another team`)
  assert.deepEqual(gains(before, authorityOf(appliance), credential), [], what)
  const text = typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body)
  assert.ok(!text.includes(MARK) && !LINK.test(text), what)
  for (const [secret] of text.matchAll(SECRET)) verify(secret, credential, what)
}

/** A secret in a response grants no more than the credential of the request; keys of mailboxes are checked by their rows. */
function verify(secret: string, { permissions, teamId }: Credential, what: string): void {
  const known = appliance.app.directory.keys.recognise(secret)
  assert.ok(known !== undefined, `${what} shows a secret of another kind`)
  assert.equal(known.principal.teamId, teamId, what)
  if (known.principal.kind === 'team') {
    for (const one of known.principal.permissions)
      assert.ok(allows(permissions, one), `${what} shows a key with ${one}`)
  }
}

/** The application's documents say nothing of the person: they need a build and no walk. */
const isShell = ({ operation }: Route) => operation.endsWith('App')
// Signing out comes last.
const FORMS = webRoutes
  .filter((one) => !one.path.includes('{token}') && one.path !== '/oauth/callback/{type}' && !isShell(one))
  .toSorted((one, other) => Number(one.operation === 'deleteSession') - Number(other.operation === 'deleteSession'))
for (const route of FORMS) {
  test(`${route.operation}: a signed-in person gains no permissions, and none of another team`, async () => {
    for (const [turn, person] of signedIn.entries()) {
      for (const ids of [foreignIds, ownIds]) {
        const caller = make.asCredential(person, mine.id)
        const [least, ...bodies] = route.form ? bodiesOf(route, ids, 'mine.test') : [undefined]
        for (const body of [least, ...inTurn(bodies, BODIES, turn)]) await attemptPage(route, person, caller, ids, body)
      }
    }
  })
}

async function attemptPage(route: Route, person: make.SignedIn, caller: Credential, ids: Ids, body: Json) {
  clock.leap(10_000)
  const before = authorityOf(appliance)
  const form = body && new URLSearchParams({ ...body, csrf: person.formToken })
  const headers = { cookie: person.cookie }
  const url = appliance.origin + pathOf(route, idsFor(route, ids))
  const response = await fetch(url, { method: route.method, redirect: 'manual', headers, body: form ?? null })
  const text = await response.text()
  const what = `${person.role}: ${route.method} ${url} ${form}: ${response.status}`
  assert.ok(response.status < 500, what)
  assert.ok(!text.includes(MARK), what)
  if (ids === foreignIds && route.path.includes('{team_id}')) assert.ok(response.status >= 400, what)
  // An owner may see a link for a member of this one team.
  const made = gains(before, authorityOf(appliance), caller)
  const shown = new RegExp(`sign_in_links .*"team_id":"${mine.id}".*"shown_by":"${person.memberId}"`)
  assert.deepEqual(
    made.filter((one) => person.role !== 'owner' || !shown.test(one)),
    [],
    what,
  )
  assert.ok(person.role === 'owner' || !LINK.test(text), what)
  for (const [secret] of text.matchAll(SECRET)) verify(secret, caller, what)
}

test('most calls of the walk succeed for permitted credentials', () => {
  const never = api.map(({ operation }) => operation).filter((one) => !done.has(one))
  assert.ok(never.length < api.length / 4, never.join(', '))
})

test('the token endpoint exchanges only credentials issued for it, without gaining permissions', async () => {
  const token = open.find(({ operation }) => operation === 'issueAgentToken')!
  const grants = [
    (secret: string) => ({ grant_type: JWT_BEARER, assertion: secret }),
    (secret: string) => ({ grant_type: CLAIM, claim_token: secret }),
    (secret: string) => ({ grant_type: EXCHANGE, subject_token: secret, subject_token_type: ACCESS_TOKEN }),
  ]
  const scopes = ['', 'email.send', 'mailbox.write', 'mailbox.read email.receive email.send', 'team.manage']
  const resources = [`${appliance.origin}/api/v1`, `${appliance.sendOrigin}/api/v1`, `${operatorOrigin}/operator/v1`]
  const requests = grants.flatMap((grant) =>
    resources.flatMap((resource) =>
      scopes.map((scope) => (secret: string) => ({ ...grant(secret), resource, ...(scope === '' ? {} : { scope }) })),
    ),
  )
  const exchanged = ['identity assertion', 'claim token', 'durable agent token']
  for (const [turn, { name, secret, permissions }] of [...callers, ...bad].entries()) {
    for (const request of inTurn(requests, exchanged.includes(name) ? EXCHANGES : 1, turn)) {
      clock.leap(60_000)
      const form = new URLSearchParams(request(secret)).toString()
      const reply = await appliance.call('POST', appliance.origin + token.path, null, form, {
        'content-type': 'application/x-www-form-urlencoded',
      })
      if (reply.status !== 200) continue
      assert.ok(exchanged.includes(name), `${name} ${form}`)
      const granted = (reply.body as Json).scope.split(' ') as string[]
      const most = permissions.length > 0 ? permissions : ['mailbox.read', 'email.receive', 'email.send']
      for (const scope of granted) {
        assert.ok(['mailbox.read', 'email.receive', 'email.send'].includes(scope), `${name} got ${granted}`)
        assert.ok(most.includes(scope), `${name} got ${granted}`)
      }
    }
  }
})

test('no message readable by a key contains a sign-in link', async () => {
  await appliance.settle()
  const { store, db } = appliance.app
  const rows = db.read.all<{ blob: Uint8Array; size: number }>('SELECT DISTINCT blob, size_bytes AS size FROM messages')
  for (const { blob, size } of rows) {
    const bytes = await store.blobs.bytes(blob, 0, size)
    for (const token of linkTokens(bytes, readMessage(bytes).message.structure)) {
      assert.equal(appliance.app.people.links.read(token), undefined)
      assert.equal(appliance.app.agents.invites.open(token), undefined)
    }
  }
})
