// Every route below /as × every role × two teams, and paths made to reach past the actor.

import assert from 'node:assert/strict'
import { request } from 'node:http'
import { after, before, test } from 'node:test'
import { routes } from '../../src/api/routes.ts'
import { allows } from '../../src/directory/names/permissions.ts'
import type { Route } from '../../src/http/route.ts'
import { ACCESS_SCOPES, MAILBOX_ACCESS } from '../../src/people/grants.ts'
import { MEMBER_PERMISSIONS, MEMBER_ROLES } from '../../src/people/members.ts'
import { sample } from '../api/samples.ts'
import { startAppliance, type TestAppliance, type TestTeam } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { PersonClient, SAME_ORIGIN, signInMember } from '../support/person.ts'
import { Random } from '../support/random.ts'
import { pathOf, unknownIds } from '../support/requests.ts'

const MARK = 'Marked team'
const clock = new ManualClock()
let appliance: TestAppliance
let team: TestTeam
let other: TestTeam
let foreignBox: string
let box: string
const people = new Map<string, PersonClient & { memberId: string }>()

before(async () => {
  appliance = await startAppliance({
    clock,
    env: { SES_ACCESS_KEY_ID: 'AKIAEXAMPLE', SES_SECRET_ACCESS_KEY: 'do-not-show-this' },
  })
  team = await appliance.team('Mine')
  other = await appliance.team(MARK)
  await team.domain('mine.test')
  await other.domain('theirs.test')
  box = (await team.mailbox('info@mine.test')).id
  foreignBox = (await other.mailbox('info@theirs.test')).id
  for (const role of MEMBER_ROLES) people.set(role, await signInMember(appliance, team.id, role))
})
after(() => appliance.close())

const mounted = routes.filter(({ surface = 'app', as, root }) => surface === 'app' && as !== 'none' && root !== true)
/** Sending is for keys: a person sends as a mailbox. */
const forKeys = routes.filter(({ surface, as }) => surface === 'both' && as !== 'none')
const operatorRoutes = routes.filter(({ surface }) => surface === 'operator')

async function call(person: PersonClient, route: Route, prefix: string) {
  // Throttles of single routes, and the 1,200 requests of a session.
  clock.advance(10_000)
  const body = route.body === undefined || route.form === true ? undefined : sample(route.body)
  return person.call(
    route.method,
    // With ids of nothing: what is permitted finds nothing, and changes nothing of the others.
    prefix + pathOf(route, unknownIds),
    body,
    route.idempotent === 'required' ? { 'idempotency-key': 'a' } : {},
  )
}

/** A stream stays open while it is read. */
const isWalked = ({ stream }: Route) => stream !== true

/** A person proves themselves again whenever the walk has taken 15 minutes. */
async function confirm(): Promise<void> {
  const { people: all, db } = appliance.app
  await db.write((tx) => {
    for (const { email } of people.values())
      for (const { id } of all.sessions.list(email, tx)) all.sessions.confirm(tx, id)
  })
}

for (const role of MEMBER_ROLES) {
  test(`${role}: reaches what the role permits in the own team, and nothing of another`, async () => {
    const person = people.get(role)!
    for (const route of mounted.filter(isWalked)) {
      // The role makes no difference there.
      const foreign = role === 'owner' ? await call(person, route, `/as/${other.id}/api/v1`) : { status: 404 }
      assert.deepEqual([route.operation, foreign.status], [route.operation, 404])
      await confirm()
      const { status, body } = await call(person, route, `/as/${team.id}/api/v1`)
      const needed = [route.permission ?? []].flat()
      const mayAsTeam = route.as === 'team' || route.as === 'any'
      const may = mayAsTeam && (needed.length === 0 || needed.some((one) => allows(MEMBER_PERMISSIONS[role], one)))
      const isRefused = status === 403 && /^Your role/.test(body.error.message)
      assert.equal(isRefused, !may, `${role} ${route.operation}: ${status} ${JSON.stringify(body.error)}`)
      assert.ok(status !== 401 && status !== 500, `${role} ${route.operation}: ${status}`)
      assert.ok(!JSON.stringify(body).includes(MARK), route.operation)
    }
    for (const route of operatorRoutes) {
      assert.equal((await call(person, route, '/as/operator')).status, 404, route.operation)
    }
    for (const route of forKeys) {
      const { status } = await call(person, route, `/as/${team.id}/api/v1`)
      assert.ok(status === 404 || status === 405, `${route.operation}: ${status}`)
    }
  })
}

for (const access of MAILBOX_ACCESS) {
  test(`${access} of a mailbox: reaches what the grant permits there, and no other mailbox`, async () => {
    const person = people.get('user')!
    const { app } = appliance
    await app.db.write((tx) =>
      app.people.grants.put(tx, { mailboxId: box, memberId: person.memberId, access, createdBy: 'operator' }),
    )
    const scopes = ACCESS_SCOPES[access]
    for (const route of mounted.filter(isWalked)) {
      const foreign = access === 'owner' ? await call(person, route, `/as/${foreignBox}/api/v1`) : { status: 404 }
      assert.deepEqual([route.operation, foreign.status], [route.operation, 404])
      await confirm()
      const { status, body } = await call(person, route, `/as/${box}/api/v1`)
      const needed = [route.permission ?? []].flat()
      const mayAsMailbox = route.as === 'mailbox' || route.as === 'any'
      const may = mayAsMailbox && (needed.length === 0 || needed.some((one) => allows(scopes, one)))
      const isRefused = status === 403 && /^Your access/.test(body.error.message)
      assert.equal(isRefused, !may, `${access} ${route.operation}: ${status} ${JSON.stringify(body.error)}`)
      assert.ok(status !== 401 && status !== 500, `${access} ${route.operation}: ${status}`)
    }
  })
}

test('an operator reaches the operator routes alone', async () => {
  const { app } = appliance
  const person = people.get('viewer')!
  await app.db.write((tx) => app.people.persons.setOperator(tx, person.email, true))
  assert.equal((await person.get('/as/operator/teams')).status, 200)
  assert.equal((await person.get(`/as/${other.id}/api/v1/team`)).status, 404)
  const settings = (await person.get('/as/operator/settings')).body.data as { name: string; value: string }[]
  assert.equal(settings.find(({ name }) => name === 'SES_SECRET_ACCESS_KEY')!.value, 'set')
  assert.ok(!JSON.stringify(settings).includes(app.config.SES_SECRET_ACCESS_KEY), 'no secret is shown')
  assert.equal((await person.get('/as/operator/own-records')).body.data.domains.length, 2)
  assert.match((await person.get('/as/operator/version')).body.data.version, /^\d+\.\d+\.\d+$/)
  clock.advance(15 * 60_000)
  const stale = await person.call('POST', '/as/operator/teams', { name: 'New' })
  assert.deepEqual([stale.status, stale.body.error?.param], [403, 'confirm'], JSON.stringify(stale.body))
  const bound = await app.db.write((tx) =>
    app.people.signInAs(tx, { email: person.email, teamId: team.id, mailboxId: null, shownBy: null }),
  )
  assert.equal(
    (await new PersonClient(appliance, bound).get('/as/operator/teams')).status,
    404,
    'a link that was shown',
  )
  await app.db.write((tx) => app.people.persons.setOperator(tx, person.email, false))
  assert.equal((await person.get('/as/operator/teams')).status, 404)
})

/** As it is written: fetch would resolve dots before sending. */
function raw(path: string, cookie: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(appliance.origin)
    const headers = { ...SAME_ORIGIN, cookie }
    const sent = request({ hostname, port, path, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      response.on('end', () => resolve({ status: response.statusCode!, text }))
    })
    sent.on('error', reject).end()
  })
}

test('paths made to reach past the actor reach nothing', async () => {
  const { cookie } = people.get('owner')!
  const random = new Random(20)
  const mine = `/as/${team.id}/api/v1/team`
  const pieces = [
    '..',
    '.',
    '%2e%2e',
    '%2E%2E',
    '%2e',
    '',
    '%2f',
    '%2F',
    '%5c',
    '%00',
    '%252e%252e',
    ';',
    ' ',
    '*',
    'as',
    'operator',
    'api',
    'v1',
    'me',
    'self',
    'teams',
    'team',
    'domains',
    'healthz',
    team.id,
    other.id,
    foreignBox,
    box,
    other.id.toUpperCase(),
    `${team.id},${other.id}`,
    '{team_id}',
  ]
  const fixed = [
    `/as/${team.id}/../${other.id}/api/v1/team`,
    `/as/${team.id}%2f..%2f${other.id}/api/v1/team`,
    `/as/${team.id}/api/v1/../../../as/${other.id}/api/v1/team`,
    `/as/${team.id}/api/v1/%2e%2e/%2e%2e/${other.id}/api/v1/team`,
    `/as//${other.id}/api/v1/team`,
    `//as/${other.id}/api/v1/team`,
    `/as/${team.id}/operator/v1/teams`,
    `/as/operator/../../operator/v1/teams`,
    `/as/${other.id}/api/v1/team?actor=${team.id}`,
    `http://${other.id}/as/${other.id}/api/v1/team`,
    `/AS/${other.id}/api/v1/team`,
    `/as/${team.id}${other.id}/api/v1/team`,
  ]
  const made = Array.from({ length: 600 }, () => {
    const steps = mine.split('/').slice(1)
    for (let change = 0; change <= random.below(4); change++) {
      const at = random.below(steps.length + 1)
      steps.splice(at, random.below(2), random.pick(pieces))
    }
    return `/${steps.join('/')}`.replaceAll(' ', '%20')
  })
  for (const path of [...fixed, ...made]) {
    clock.advance(1000)
    const { status, text } = await raw(path, cookie)
    // The pages of the application are 503 until it is built.
    assert.ok(status !== 500, `${path}: ${status}`)
    assert.ok(!text.includes(MARK) && !text.includes('theirs.test'), path)
    if (fixed.includes(path)) assert.ok(status >= 400, `${path}: ${status}`)
  }
  assert.equal((await raw(mine, cookie)).status, 200)
})
