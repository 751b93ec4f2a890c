// Every kind of credential there is, good and bad, and what each may do.

import { randomUUID } from 'node:crypto'
import { newSecret } from '../../src/base/secrets.ts'
import { MAILBOX_SCOPES, PERMISSIONS, ROLES, type Role } from '../../src/directory/permissions.ts'
import { MEMBER_PERMISSIONS, MEMBER_ROLES, type MemberRole } from '../../src/people/members.ts'
import { AgentClient } from './agents.ts'
import type { TestHouse, TestTeam } from './house.ts'

export interface Credential {
  name: string
  secret: string
  /** What it stands for; `nobody` for one that opens nothing, whatever it looks like. */
  kind: 'team' | 'mailbox' | 'operator' | 'nobody' | 'suspended'
  permissions: readonly string[]
  /** The resource it is good for; both where it is no agent's. */
  surface?: 'app' | 'send'
  teamId: string | null
  mailboxId: string | null
}

/** Somebody signed in with a browser. */
export interface SignedIn {
  role: MemberRole
  memberId: string
  cookie: string
  formToken: string
}

type Mailbox = { id: string; email: string; key: string }

const nobody = (name: string, secret: string): Credential => ({
  ...{ name, secret, kind: 'nobody', permissions: [], teamId: null, mailboxId: null },
})

/** Root keys: each permission alone, and each role; those that may most come last. */
export async function teamKeys(house: TestHouse, team: TestTeam): Promise<Credential[]> {
  const { keys } = house.app.directory
  const common = { teamId: team.id, kind: 'root' as const, createdBy: 'operator' }
  const made: Credential[] = []
  for (const one of PERMISSIONS) {
    const { secret } = await keys.issue({ ...common, name: one, permissions: [one] })
    made.push({ name: `root ${one}`, secret, kind: 'team', permissions: [one], teamId: team.id, mailboxId: null })
  }
  for (const role of (Object.keys(ROLES) as Role[]).toReversed()) {
    const { secret } = await keys.issue({ ...common, name: role, role })
    made.push({ name: role, secret, kind: 'team', permissions: ROLES[role], teamId: team.id, mailboxId: null })
  }
  return made
}

/** A root key that may do everything but one thing, for each of them. */
export async function allBut(house: TestHouse, team: TestTeam): Promise<Map<string, Credential>> {
  const made = new Map<string, Credential>()
  for (const one of PERMISSIONS) {
    const permissions = PERMISSIONS.filter((other) => other !== one)
    const input = { teamId: team.id, kind: 'root' as const, name: one, permissions, createdBy: 'operator' }
    const { secret } = await house.app.directory.keys.issue(input)
    made.set(one, { name: `all but ${one}`, secret, kind: 'team', permissions, teamId: team.id, mailboxId: null })
  }
  return made
}

/** Mailbox keys: all scopes, and each alone. */
export async function mailboxKeys(house: TestHouse, team: TestTeam, { id: mailboxId }: Mailbox): Promise<Credential[]> {
  const made: Credential[] = []
  for (const permissions of [MAILBOX_SCOPES, ...MAILBOX_SCOPES.map((one) => [one])]) {
    const input = { name: 'x', permissions, createdBy: 'operator' }
    const { secret } = await house.app.directory.mailboxes.issueKey(team.id, mailboxId, input)
    made.push({ name: `mailbox ${permissions}`, secret, kind: 'mailbox', permissions, teamId: team.id, mailboxId })
  }
  return made
}

/** What an agent has: tokens that read, a durable one, one that sends; and the secrets that open nothing by themselves. */
export async function agentTokens(house: TestHouse, approve: boolean): Promise<Credential[]> {
  const client = new AgentClient(house)
  const { agents } = house.app
  const registered = await client.register()
  const registration = (await agents.registrations.byId(house.app.db.read, registered.registration_id))!
  const lasting = await durable(house)
  const common = { kind: 'mailbox' as const, teamId: registration.teamId, mailboxId: registration.mailboxId }
  const reading = { ...common, surface: 'app' as const, permissions: ['mailbox.read', 'email.receive'] }
  const token = await client.readToken(registered.identity_assertion)
  const all: Credential[] = [
    { ...reading, name: 'agent token', secret: token },
    { ...reading, ...lasting, name: 'durable agent token' },
    nobody('identity assertion', registered.identity_assertion),
    nobody('claim token', registered.claim_token),
  ]
  if (!approve) return all
  await house.app.db.write(async (tx) => {
    await agents.ownership.accept(tx, registration, 'owner@people.example')
    await agents.ownership.approveSending(tx, registration.id)
  })
  const sending = (await client.claim(registered.claim_token)).body.access_token
  return [...all, { ...common, surface: 'send', name: 'sending token', secret: sending, permissions: ['email.send'] }]
}

async function durable(house: TestHouse) {
  const { registrations } = house.app.agents
  const id = `areg_${randomUUID().replaceAll('-', '').slice(0, 24)}`
  const input = { id, email: registrations.addressOf(null), clientName: null, source: id, key: id, proof: null }
  const { registration, secret } = await registrations.register(input)
  await house.settle()
  return { secret, teamId: registration.teamId, mailboxId: registration.mailboxId }
}

/** What opens nothing: never issued, ended, of another door, or of a team that is suspended. */
export async function badCredentials(house: TestHouse, team: TestTeam): Promise<Credential[]> {
  const { keys, teams } = house.app.directory
  const { people } = house.app
  const input = { teamId: team.id, kind: 'root' as const, name: 'x', role: 'root:full', createdBy: 'operator' }
  const revoked = await keys.issue(input)
  await keys.revoke(team.id, revoked.record.id)
  const expired = await keys.issue({ ...input, expiresAt: house.app.clock.now() + 1 })
  const suspended = await house.team('Suspended')
  await teams.setStatus(suspended.id, 'suspended')
  const email = 'door@people.example'
  await house.app.db.write((tx) => people.members.add(tx, team.id, { email, role: 'owner' }))
  const link = (await people.showLink(team.id, email, null))!.split('/').at(-1)!
  const session = await house.app.db.write((tx) =>
    people.signInAs(tx, { email, teamId: null, mailboxId: null, shownBy: null }),
  )
  return [
    nobody('none', ''),
    nobody('never issued', newSecret('srk_')),
    nobody('revoked', revoked.secret),
    nobody('expired', expired.secret),
    nobody('a link to sign in', link),
    nobody('the cookie of an owner', session.token),
    { ...nobody('of a suspended team', suspended.key), kind: 'suspended' },
  ]
}

/** A person of each role, signed in. */
export async function people(house: TestHouse, team: TestTeam): Promise<SignedIn[]> {
  const { members, sessions, signInAs } = bound(house)
  const all: SignedIn[] = []
  for (const role of MEMBER_ROLES) {
    const email = `${role}@people.example`
    all.push(
      await house.app.db.write(async (tx) => {
        const { id: memberId } = await members.add(tx, team.id, { email, role })
        const { token } = await signInAs(tx, email)
        return { role, memberId, cookie: `owner=${token}`, formToken: sessions.formToken(token) }
      }),
    )
  }
  return all
}

function bound(house: TestHouse) {
  const { people: all } = house.app
  type Tx = Parameters<typeof all.signInAs>[0]
  const signInAs = (tx: Tx, email: string) => all.signInAs(tx, { email, teamId: null, mailboxId: null, shownBy: null })
  return { members: all.members, sessions: all.sessions, signInAs }
}

/** What a person of a role may do, as a key would. */
export function asCredential({ role, memberId }: SignedIn, teamId: string): Credential {
  return {
    name: `${role} ${memberId}`,
    secret: '',
    kind: 'team',
    permissions: MEMBER_PERMISSIONS[role],
    teamId,
    mailboxId: null,
  }
}
