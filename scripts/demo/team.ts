// What the team of the demo has: domains with their records, mailboxes, people, sending accounts, webhooks, keys and credit.

import { isoTime } from '../../src/base/clock.ts'
import { firstTeam } from '../../src/directory/first-team.ts'
import type { Appliance } from '../../src/main.ts'
import { type Call, client, type DemoMailbox, makeMailbox } from './api.ts'
import { at, OWN_DOMAINS, OWNER, PEOPLE, RELAY_HOST, SHARED, TEAM, UNWANTED } from './names.ts'
import type { World } from './world.ts'

export interface DemoTeam {
  id: string
  rootKey: string
  root: Call
  /** By the part before the @. */
  mailboxes: ReadonlyMap<string, DemoMailbox>
}

interface Records {
  mx: { priority: number; target: string }[]
  spf: DnsText
  dmarc: DnsText
  verification: DnsText
  dkim: DnsText[]
}

interface DnsText {
  name: string
  value: string
}

/** Publishes the records that the appliance wants. */
function publish({ dns }: World, domain: string, { mx, spf, dmarc, verification, dkim }: Records): void {
  dns.zone[domain] = { MX: mx.map(({ priority, target }) => ({ priority, exchange: target })), TXT: [spf.value] }
  for (const { name, value } of [dmarc, verification, ...dkim]) dns.zone[name] = { TXT: [value] }
}

async function addDomains(root: Call, world: World): Promise<void> {
  for (const name of [OWN_DOMAINS.main, OWN_DOMAINS.shop, OWN_DOMAINS.next]) {
    const { id, dns_records } = await root<{ id: string; dns_records: Records }>('POST', '/domains', { domain: name })
    if (name !== OWN_DOMAINS.shop) publish(world, name, dns_records)
    await root('POST', `/domains/${id}/verify`)
    if (name !== OWN_DOMAINS.main) continue
    const rules = [{ type: 'deny', pattern: `*@${UNWANTED.split('@')[1]}` }]
    await root('PUT', `/domains/${id}/filters`, { mode: 'denylist', rules })
  }
}

async function addMailboxes(root: Call): Promise<Map<string, DemoMailbox>> {
  const found = new Map<string, DemoMailbox>()
  for (const { local, name } of [...PEOPLE, ...SHARED]) found.set(local, await makeMailbox(root, at(local), name))
  const office = found.get('office')!
  await root('POST', `/mailboxes/${office.id}/aliases`, { email: at('hello') })
  await root('POST', `/mailboxes/${office.id}/aliases`, { email: at('sales', OWN_DOMAINS.shop) })
  await root('PATCH', `/mailboxes/${found.get('orders')!.id}`, { quota_bytes: 10 * 1024 * 1024 })
  return found
}

async function addPeople({ app }: Appliance, teamId: string): Promise<void> {
  const { people, db } = app
  await db.write((tx) => {
    for (const { local, name, role } of PEOPLE) {
      const email = at(local)
      if (role === 'owner') people.members.addOwner(tx, teamId, email)
      else people.members.add(tx, teamId, { email, role })
      people.persons.setProfile(tx, email, { displayName: name, locale: null, timeZone: null })
      if (role !== 'member') people.signInAs(tx, { email, teamId: null, mailboxId: null, shownBy: null })
    }
    people.members.add(tx, teamId, { email: 'books@ledgerworks.example', role: 'viewer' })
    people.persons.setOperator(tx, OWNER, true)
  })
}

const accountAt = ({ relay }: World) => ({
  ...{ smtp_host: RELAY_HOST, smtp_port: relay.port, smtp_protocol: 'starttls', smtp_password: 'demo' },
})

/** An account whose password no longer works. */
export async function addFailingAccount(root: Call, world: World): Promise<void> {
  const account = { ...accountAt(world), name: 'Old relay', smtp_username: 'retired', percentage: 0 }
  const { id } = await root<{ id: string }>('POST', '/providers', account)
  await root('POST', `/providers/${id}/test`)
}

async function addAccounts(root: Call, world: World): Promise<void> {
  const account = accountAt(world)
  const { id } = await root<{ id: string }>('POST', '/providers', {
    ...account,
    ...{ name: 'Relay', smtp_username: 'tidewater', quotas: { per_day: 150, per_minute: 100 }, percentage: 60 },
  })
  const second = await root<{ id: string }>('POST', '/providers', {
    ...account,
    ...{ name: 'Reserve relay', smtp_username: 'reserve', percentage: 40, quotas: { per_day: 400 } },
  })
  for (const one of [id, second.id]) await root('POST', `/providers/${one}/test`)
  const members = [id, second.id].map((provider_id, index) => ({ provider_id, weight: index === 0 ? 60 : 40 }))
  await root('POST', '/delivery-groups', { name: 'Order mail', strategy: 'weighted', members })
}

async function addPrograms(root: Call, { hook }: World, expiresAt: number): Promise<void> {
  const events = ['message.received', 'message.bounced', 'message.delivery_delayed']
  await root('POST', '/webhooks', { url: hook.url('/orders'), description: 'Order system', event_types: events })
  await root('POST', '/webhooks', {
    ...{ url: hook.url('/crm'), description: 'Customer database' },
    event_types: ['message.received', 'message.delivered', 'message.bounced'],
  })
  await root('POST', '/webhooks', {
    ...{ url: hook.url('/old'), description: 'Old stock system', event_types: ['message.received'], enabled: false },
  })
  await root('POST', '/api-keys', { name: 'Order system', role: 'root:full' })
  await root('POST', '/api-keys', {
    ...{ name: 'Nightly report', role: 'root:readonly', expires_at: isoTime(expiresAt) },
  })
  await root('POST', '/suppressions', { email: 'stop@seaglass.example', note: 'Asked by telephone.' })
}

/** The office is read by two colleagues, and by a mail program. */
async function shareOffice({ app: { people, db } }: Appliance, root: Call, office: DemoMailbox): Promise<void> {
  await db.write((tx) => {
    for (const [index, local] of ['tom', 'priya'].entries()) {
      const [member] = people.members.of(at(local), tx)
      const access = index === 0 ? 'owner' : 'reader'
      people.grants.put(tx, { mailboxId: office.id, memberId: member!.id, access, createdBy: 'operator' })
    }
  })
  await root('POST', `/mailboxes/${office.id}/app-passwords`, { name: 'Thunderbird in the office' })
}

/** What the team has paid. */
async function addCredit({ app: { outbound, db } }: Appliance, teamId: string): Promise<void> {
  const credit = { type: 'purchase' as const, amount: 25_000_000, description: 'Invoice 2030-101' }
  await db.write((tx) => outbound.billing.ledger.creditIn(tx, teamId, credit))
}

/** Other teams of the same server, for its operator. */
async function addOtherTeams({ app }: Appliance): Promise<void> {
  await app.directory.teams.create({ name: 'Harbour Museum' })
  const { id } = await app.directory.teams.create({ name: 'Regatta 2029' })
  await app.db.write((tx) => app.directory.teams.changeIn(tx, id, { status: 'suspended' }))
}

/** Makes the first team and everything it has. @param now ms */
export async function makeTeam(appliance: Appliance, world: World, now: number): Promise<DemoTeam> {
  const { team, key } = (await firstTeam(appliance.app.directory, TEAM))!
  const root = client(appliance.app.config.APP_ORIGIN, key.secret)
  await addDomains(root, world)
  // A mailbox belongs to the member who has its address.
  await addPeople(appliance, team.id)
  const mailboxes = await addMailboxes(root)
  await shareOffice(appliance, root, mailboxes.get('office')!)
  await addCredit(appliance, team.id)
  await addAccounts(root, world)
  await addPrograms(root, world, now + KEY_MS)
  await addOtherTeams(appliance)
  return { id: team.id, rootKey: key.secret, root, mailboxes }
}

const KEY_MS = 30 * 86_400_000
