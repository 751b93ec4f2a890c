// Every kind of credential, valid and invalid, with its permissions.

import { randomUUID } from 'node:crypto'
import { newSecret } from '../../src/base/secrets.ts'
import { MAILBOX_SCOPES, PERMISSIONS, ROLES, type Role } from '../../src/directory/names/permissions.ts'
import { MEMBER_PERMISSIONS, MEMBER_ROLES, type MemberRole } from '../../src/people/members.ts'
import { AgentClient } from './agents.ts'
import type { TestAppliance, TestTeam } from './appliance.ts'

export interface Credential {
  name: string
  secret: string
  /** Its kind; `invalid` for a credential that must be rejected everywhere. */
  kind: 'team' | 'mailbox' | 'operator' | 'invalid' | 'suspended'
  permissions: readonly string[]
  /** The resource of an agent's token; both for other credentials. */
  surface?: 'app' | 'send'
  teamId: string | null
  mailboxId: string | null
}

/** A person signed in with a browser. */
export interface SignedIn {
  role: MemberRole
  memberId: string
  cookie: string
  formToken: string
}

type Mailbox = { id: string; email: string; key: string }

const invalid = (name: string, secret: string): Credential => ({
  ...{ name, secret, kind: 'invalid', permissions: [], teamId: null, mailboxId: null },
})

/** Root keys: each permission alone, and each role; those with most permissions last. */
export async function teamKeys(appliance: TestAppliance, team: TestTeam): Promise<Credential[]> {
  const { keys } = appliance.app.directory
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

/** Root keys with all permissions but one. */
export async function allBut(appliance: TestAppliance, team: TestTeam): Promise<Map<string, Credential>> {
  const made = new Map<string, Credential>()
  for (const one of PERMISSIONS) {
    const permissions = PERMISSIONS.filter((other) => other !== one)
    const input = { teamId: team.id, kind: 'root' as const, name: one, permissions, createdBy: 'operator' }
    const { secret } = await appliance.app.directory.keys.issue(input)
    made.set(one, { name: `all but ${one}`, secret, kind: 'team', permissions, teamId: team.id, mailboxId: null })
  }
  return made
}

/** Mailbox keys: all scopes, and each alone. */
export async function mailboxKeys(
  appliance: TestAppliance,
  team: TestTeam,
  { id: mailboxId }: Mailbox,
): Promise<Credential[]> {
  const made: Credential[] = []
  for (const permissions of [MAILBOX_SCOPES, ...MAILBOX_SCOPES.map((one) => [one])]) {
    const input = { name: 'x', permissions, createdBy: 'operator' }
    const { secret } = await appliance.app.directory.mailboxes.issueKey(team.id, mailboxId, input)
    made.push({ name: `mailbox ${permissions}`, secret, kind: 'mailbox', permissions, teamId: team.id, mailboxId })
  }
  return made
}

/** Credentials of an agent: tokens for reading, a durable one, one for sending; and secrets that are not accepted as tokens. */
export async function agentTokens(appliance: TestAppliance, approve: boolean): Promise<Credential[]> {
  const client = new AgentClient(appliance)
  const { agents } = appliance.app
  const registered = await client.register()
  const registration = agents.registrations.byId(appliance.app.db.read, registered.registration_id)!
  const lasting = await durable(appliance)
  const common = { kind: 'mailbox' as const, teamId: registration.teamId, mailboxId: registration.mailboxId }
  const reading = { ...common, surface: 'app' as const, permissions: ['mailbox.read', 'email.receive'] }
  const token = await client.readToken(registered.identity_assertion)
  const all: Credential[] = [
    { ...reading, name: 'agent token', secret: token },
    { ...reading, ...lasting, name: 'durable agent token' },
    invalid('identity assertion', registered.identity_assertion),
    invalid('claim token', registered.claim_token),
  ]
  if (!approve) return all
  await appliance.app.db.write((tx) => {
    agents.ownership.accept(tx, registration, 'proven@people.example')
    agents.ownership.approveSending(tx, registration.id)
  })
  const sending = (await client.claim(registered.claim_token)).body.access_token
  return [...all, { ...common, surface: 'send', name: 'sending token', secret: sending, permissions: ['email.send'] }]
}

async function durable(appliance: TestAppliance) {
  const { registrations } = appliance.app.agents
  const id = `areg_${randomUUID().replaceAll('-', '').slice(0, 24)}`
  const input = { id, email: registrations.addressOf(null), clientName: null, source: id, key: id, proof: null }
  const { registration, secret } = await registrations.register(input)
  await appliance.settle()
  return { secret, teamId: registration.teamId, mailboxId: registration.mailboxId }
}

/** Rejected credentials: never issued, revoked, of another listener, or of a suspended team. */
export async function badCredentials(appliance: TestAppliance, team: TestTeam): Promise<Credential[]> {
  const { keys, teams } = appliance.app.directory
  const { people } = appliance.app
  const input = { teamId: team.id, kind: 'root' as const, name: 'x', role: 'root:full', createdBy: 'operator' }
  const revoked = await keys.issue(input)
  await keys.revoke(team.id, revoked.record.id)
  const expired = await keys.issue({ ...input, expiresAt: appliance.app.clock.now() + 1 })
  const suspended = await appliance.team('Suspended')
  await teams.setStatus(suspended.id, 'suspended')
  const email = 'proven@people.example'
  await appliance.app.db.write((tx) => people.members.add(tx, team.id, { email, role: 'owner' }))
  const link = (await people.showLink(team.id, email, null))!.split('/').at(-1)!
  const session = await appliance.app.db.write((tx) =>
    people.signInAs(tx, { email, teamId: null, mailboxId: null, shownBy: null }),
  )
  return [
    invalid('none', ''),
    invalid('never issued', newSecret('srk_')),
    invalid('revoked', revoked.secret),
    invalid('expired', expired.secret),
    invalid('a link to sign in', link),
    invalid('the cookie of an owner', session.token),
    { ...invalid('of a suspended team', suspended.key), kind: 'suspended' },
  ]
}

/** A signed-in person of each role. */
export async function people(appliance: TestAppliance, team: TestTeam): Promise<SignedIn[]> {
  const { members, sessions, signInAs } = bound(appliance)
  const all: SignedIn[] = []
  for (const role of MEMBER_ROLES) {
    const email = `${role}@people.example`
    all.push(
      await appliance.app.db.write((tx) => {
        const { id: memberId } = members.add(tx, team.id, { email, role })
        const { token } = signInAs(tx, email)
        return { role, memberId, cookie: `mailstead=${token}`, formToken: sessions.formToken(token) }
      }),
    )
  }
  return all
}

function bound(appliance: TestAppliance) {
  const { people: all } = appliance.app
  type Tx = Parameters<typeof all.signInAs>[0]
  const signInAs = (tx: Tx, email: string) => all.signInAs(tx, { email, teamId: null, mailboxId: null, shownBy: null })
  return { members: all.members, sessions: all.sessions, signInAs }
}

/** The permissions of a role, as a key. */
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
