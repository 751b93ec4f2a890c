// Through whom a mail goes: by scope, From address, quota, health and failures, on real rows.

import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import type { SendScope } from '../../../src/directory/mailboxes/mailbox-input.ts'
import type { Email, Provider } from '../../../src/outbound/model/records.ts'
import type { GroupStrategy, MemberInput } from '../../../src/outbound/providers/groups.ts'
import type { NewProvider } from '../../../src/outbound/providers/providers.ts'
import type { RoutingRule } from '../../../src/outbound/providers/routing-rules.ts'
import type { Decision } from '../../../src/outbound/routing/decision.ts'
import { Router } from '../../../src/outbound/routing/router.ts'
import { openAccounts } from '../../support/accounts.ts'
import { Random } from '../../support/random.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const appliance = await openAccounts({ SES_ACCESS_KEY_ID: 'AKIA', SES_SECRET_ACCESS_KEY: 'x' })
after(() => appliance[Symbol.asyncDispose]())
const { app, clock } = appliance
const { providers, groups, rules, sharedLimit } = app.outbound.accounts
const drawn = new Random(1)
const parts = { ...app, providers, groups, rules, sharedLimit, random: () => drawn.next() }
const router = new Router(parts)
const strict = new Router({ ...parts, config: { ...app.config, DIRECT_DELIVERY: false } })

let team = ''
let domain = ''
let teams = 0
beforeEach(async () => {
  team = (await app.directory.teams.create({ name: 'Team' })).id
  domain = `shop${++teams}.test`
  await app.directory.domains.create(team, domain)
})

/** An active account on SMTP: as if its check had gone well, since there is no server behind it. */
async function account(name: string, more: Partial<NewProvider> = {}): Promise<string> {
  const server = { smtpHost: 'smtp.relay.test', smtpPort: 587, smtpProtocol: 'starttls' as const }
  const made = await providers.create(team, { name, ...server, smtpUsername: 'u', smtpPassword: 'p', ...more })
  await app.db.write((tx) => providers.health.activate(tx, made, () => 'active'))
  return made.id
}

const put = (id: string, status: Provider['status']) =>
  app.db.write((tx) => tx.run('UPDATE providers SET status = ? WHERE id = ?', [status, id]))

async function group(name: string, strategy: GroupStrategy, members: readonly (string | MemberInput)[]) {
  const whole = members.map((member) => (typeof member === 'string' ? { providerId: member } : member))
  return (await groups.create(team, { name, strategy, members: whole })).id
}

function mail(from = `ann@${domain}`, scope: SendScope = { type: 'all' }): Email {
  return {
    ...{ n: 1, id: 'eml_0a1b2c3d4e5f6g7h8i9j0k1l', teamId: team, mailboxId: null, source: 'batch_api', scope },
    ...{ from: { email: from, name: '' }, returnPath: null, subject: 'Hello', internetMessageId: 'a@b' },
    ...{ hash: null, sizeBytes: 100, queuedAt: clock.now(), expiresAt: clock.now() + 2 * DAY },
  }
}
const inGroups = (...groupIds: string[]) => mail(undefined, { type: 'group', groupIds })
const through = (...providerIds: string[]) => mail(undefined, { type: 'providers', providerIds })

const decide = (email: Email, { recipients = 1, exclude = [] as string[], by = router } = {}) =>
  by.decide(email, recipients, new Set(exclude))
/** The name of the account chosen, or what else was decided, and why. */
function told(decision: Decision): string[] {
  if (decision.kind === 'provider') return [decision.provider.name, decision.reason]
  return decision.kind === 'reject' ? [decision.reason, decision.detail] : [decision.kind, decision.reason]
}
const chosen = async (...given: Parameters<typeof decide>) => told(await decide(...given))[0]

test('an account on SMTP carries verified domains and its own address; else mail goes straight, or nowhere', async () => {
  const direct = 'No sending account is for this From address: it goes to the mail server of the recipient.'
  assert.deepEqual(told(await decide(mail())), ['direct', direct])
  assert.deepEqual(told(await decide(mail('a@elsewhere.test'))), [
    'no_provider',
    'There is no sending account for a@elsewhere.test.',
  ])
  assert.deepEqual(told(await decide(mail(), { by: strict })), [
    'no_provider',
    `There is no sending account for ann@${domain}.`,
  ])
  await account('Relay', { fromEmail: 'me@mine.example' })
  for (const from of [`any@${domain}`, 'ME@mine.example']) {
    assert.deepEqual(told(await decide(mail(from))), [
      'Relay',
      'Relay is the only sending account for this From address.',
    ])
  }
  assert.deepEqual(told(await decide(mail('other@mine.example'))), [
    'unverified_domain',
    'No sending account may use other@mine.example, and its domain is not one of the team.',
  ])
})

test('a domain that is not verified is no reason to carry anything', async () => {
  await app.directory.domains.create(team, `real${teams}.com`)
  await account('Relay')
  assert.deepEqual(told(await decide(mail(`a@real${teams}.com`))), [
    'unverified_domain',
    `The domain real${teams}.com is not verified.`,
  ])
  // The domain of another team is as good as none.
  team = (await app.directory.teams.create({ name: 'Other' })).id
  await account('Theirs')
  assert.equal(await chosen(mail(`a@${domain}`)), 'unverified_domain')
})

test('a connected account carries its own address alone', async () => {
  const connected = { teamId: team, type: 'gmail_api' as const, name: 'Gmail', refreshToken: 't' }
  const made = await app.db.write((tx) => providers.createOAuth(tx, { ...connected, oauthEmail: `ann@${domain}` }))
  await put(made.id, 'active')
  assert.equal(await chosen(mail(`Ann@${domain}`)), 'Gmail')
  assert.equal(await chosen(mail(`bob@${domain}`)), 'direct')
})

test('the account of an outside account carries its own address alone, and is no default', async () => {
  const server = { smtpHost: 'smtp.relay.test', smtpPort: 587, smtpProtocol: 'starttls' as const }
  const given = { name: 'Outside', ...server, smtpUsername: 'u', smtpPassword: 'p', fromEmail: 'me@mine.example' }
  const made = await app.db.write((tx) => providers.createIn(tx, team, given, 'racc_0a1b2c3d4e5f6g7h8i9j0k1l'))
  await put(made.id, 'active')
  assert.equal(await chosen(mail('Me@mine.example')), 'Outside')
  assert.equal(await chosen(mail(`bob@${domain}`)), 'direct')
  assert.equal(router.defaultFrom(team), undefined)
})

test('Amazon SES carries domains it has verified, within the share of the day', async () => {
  await sharedLimit.setDaily(team, true, 5)
  assert.equal(await chosen(mail()), 'direct')
  await app.db.write((tx) => tx.run(`UPDATE domains SET ses_dkim_status = 'success' WHERE name = ?`, [domain]))
  clock.advance(DAY - (clock.now() % DAY) + 10 * MINUTE)
  assert.equal(await chosen(mail(), { recipients: 4 }), 'Amazon SES')
  const full = await decide(mail(), { recipients: 2 })
  assert.ok(full.kind === 'wait' && full.until === clock.now() + DAY - 10 * MINUTE)
  assert.equal(router.sharedFullUntil(mail(), 5), null, 'nothing was sent yet')
  assert.equal(router.sharedFullUntil(mail(), 6), full.until, 'it would fit on no day')
  assert.equal(await chosen(mail()), 'Amazon SES')
  await account('Relay', { percentage: 1 })
  assert.equal(router.sharedFullUntil(mail(), 500), null, 'another account may carry it')
  assert.equal(await chosen(mail(), { recipients: 2 }), 'Relay')
})

test('a scope is a restriction: mail inside one does not go past its accounts', async () => {
  const [a, b] = [await account('A'), await account('B')]
  assert.equal(await chosen(through(b)), 'B')
  await put(b, 'inactive')
  assert.deepEqual(told(await decide(through(b))), [
    'no_provider',
    `The mailbox may use no sending account for ann@${domain}.`,
  ])
  const only = await group('Only', 'failover', [a])
  assert.deepEqual(told(await decide(inGroups(only))), [
    'A',
    'A is the only sending account for this From address in the group Only (failover).',
  ])
  await put(a, 'inactive')
  assert.equal(await chosen(inGroups(only)), 'no_provider')
  assert.equal(await chosen(mail()), 'direct')
})

test('mail an account may carry when it works again waits; without a restriction it goes straight', async () => {
  const id = await account('Relay')
  for (const status of ['error', 'pending'] as const) {
    await put(id, status)
    const reason = `No sending account works now: Relay (${status}).`
    for (const decision of [await decide(mail(), { by: strict }), await decide(through(id))]) {
      const until = clock.now() + (status === 'error' ? 5 * MINUTE : 15_000)
      assert.deepEqual(decision, { kind: 'wait', until, cause: 'network', reason })
    }
    assert.deepEqual(told(await decide(mail())), [
      'direct',
      'No sending account works now: it goes to the mail server of the recipient.',
    ])
  }
})

test('another account takes over from one that has just failed; when all have, the mail waits', async () => {
  const [a, b] = [await account('A'), await account('B')]
  const email = inGroups(await group('F', 'failover', [a, b]))
  assert.equal(await chosen(email), 'A')
  assert.deepEqual(told(await decide(email, { exclude: [a] })), [
    'B',
    'B is the only sending account for this From address in the group F (failover); failed before: A.',
  ])
  assert.deepEqual(await decide(email, { exclude: [a, b] }), {
    kind: 'wait',
    until: clock.now() + 5 * MINUTE,
    cause: 'network',
    reason: 'Every sending account for this From address has failed: A, B.',
  })
  // Not even straight: the accounts may be there again in a minute.
  assert.equal(await chosen(mail(), { exclude: [a, b] }), 'wait')
})

test('the accounts of a group take turns, also after a restart; a full one is passed over', async () => {
  const ids = [await account('A'), await account('B', { quotas: { perDay: 1 } }), await account('C')]
  const email = inGroups(await group('R', 'round_robin', ids))
  const turns: (string | undefined)[] = []
  for (let i = 0; i < 7; i++) turns.push(await chosen(email, { by: new Router(parts) }))
  const first = turns.indexOf('B')
  assert.deepEqual(turns.slice(first, first + 5), ['B', 'C', 'A', 'C', 'C'])
  const others = turns.filter((name) => name === 'B')
  assert.equal(others.length, 1)
})

test('members of several groups stand together: in the order of the groups, or by weight where strategies differ', async () => {
  const [a, b, c] = [await account('A'), await account('B'), await account('C', { percentage: 0 })]
  const [late, early] = [
    await group('1', 'failover', [b, { providerId: c, position: 0 }]),
    await group('2', 'failover', [a]),
  ]
  assert.equal(await chosen(inGroups(early, late)), 'A')
  const order = [await chosen(inGroups(late, early)), await chosen(inGroups(late, early), { exclude: [b, c] })]
  assert.equal(order[1], 'A')
  assert.ok(order[0] === 'B' || order[0] === 'C')
  const weighted = await group('3', 'weighted', [{ providerId: c, weight: 0 }])
  const shares = new Set<string | undefined>()
  for (let i = 0; i < 40; i++) shares.add(await chosen(inGroups(early, weighted)))
  assert.deepEqual([...shares], ['A'])
})

test('a weight in a group stands for the percentage of the account', async () => {
  const [a, b] = [await account('A', { percentage: 100 }), await account('B', { percentage: 0 })]
  const email = inGroups(
    await group('W', 'weighted', [
      { providerId: a, weight: 25 },
      { providerId: b, weight: 75 },
    ]),
  )
  let [inGroup, outside] = [0, 0]
  for (let i = 0; i < 400; i++) {
    if ((await chosen(email)) === 'B') inGroup++
    if ((await chosen(mail())) === 'B') outside++
  }
  assert.equal(outside, 0)
  assert.ok(Math.abs(inGroup / 400 - 0.75) < 0.08, `${inGroup} of 400`)
})

test('a full account is passed over; when all are full the mail waits until the first window opens', async () => {
  await account('Small', { quotas: { perMinute: 2, perDay: 1000 } })
  const hourly = await account('Hourly', { quotas: { perHour: 1 }, percentage: 0 })
  clock.advance(DAY - (clock.now() % DAY) + 10_000)
  assert.equal(await chosen(mail(), { recipients: 2 }), 'Small')
  const full = await decide(mail())
  assert.deepEqual(full, {
    kind: 'wait',
    until: clock.now() + 50_000,
    cause: 'provider_quota',
    reason: `The quota is full until ${new Date(clock.now() + 50_000).toISOString()}: Small.`,
  })
  await providers.update(team, hourly, { percentage: 1 })
  const reasons = [told(await decide(mail())), told(await decide(mail()))]
  assert.deepEqual(
    reasons.map(([name]) => name),
    ['Hourly', 'wait'],
  )
  clock.advance(50_000)
  assert.equal(await chosen(mail()), 'Small')
})

test('of very many accounts a sentence names a few', async () => {
  const ids: string[] = []
  for (let i = 0; i < 5; i++) ids.push(await account(`${i}`.repeat(200)))
  const [, reason = ''] = told(await decide(mail(), { exclude: ids }))
  assert.ok(reason.endsWith('… and 2 more.') && reason.length < 300, reason)
})

test('a From address that was not given is that of an account that has one', async () => {
  assert.equal(router.defaultFrom(team), undefined)
  await account('Nameless', { percentage: 100 })
  assert.equal(router.defaultFrom(team), undefined)
  const a = await account('A', { fromEmail: `a@${domain}`, percentage: 30 })
  await account('B', { fromEmail: `b@${domain}`, percentage: 0 })
  for (let i = 0; i < 20; i++) assert.equal(router.defaultFrom(team)!.id, a)
  await put(a, 'error')
  assert.equal(router.defaultFrom(team)!.name, 'B')
})

const decideBy = (rule: RoutingRule, email = mail(), by = router) =>
  by.decide(email, 1, new Set(), null, new Set(), rule).then(told)
const leading = (via: RoutingRule['via'], targetId: string | null = null): RoutingRule => ({
  ...{ match: 'domain', domain: 'outlook.com', via, targetId },
})

test('a rule leads to its account, its group or straight, and the reason names it', async () => {
  await account('Relay')
  const ses = await account('Bulk')
  const backup = await account('Backup')
  const both = await group('Both', 'failover', [backup, ses])
  assert.deepEqual(await decideBy(leading('provider', ses)), [
    'Bulk',
    'By the routing rule for outlook.com. Bulk is the only sending account for this From address.',
  ])
  assert.deepEqual(await decideBy({ ...leading('group', both), match: 'operator' }), [
    'Backup',
    'By the routing rule for mail servers of outlook.com. Backup was chosen among 2 sending accounts in the group Both (failover).',
  ])
  assert.deepEqual(await decideBy(leading('direct')), [
    'direct',
    'By the routing rule for outlook.com. It goes to the mail server of the recipient.',
  ])
})

test('a message waits for the account of a rule, and never goes straight instead', async () => {
  const relay = await account('Relay')
  await put(relay, 'error')
  assert.equal(await chosen(mail()), 'direct')
  assert.deepEqual(await decideBy(leading('provider', relay)), [
    'wait',
    'By the routing rule for outlook.com. No sending account works now: Relay (error).',
  ])
})

test('a rule loosens no scope and no right of an account: the ordinary choice is made, and the reason says so', async () => {
  const relay = await account('Relay')
  const other = await account('Other')
  const reason = (...told: string[]) => told[1]!.replace(/^.*\. (The routing rule)/, '$1')
  const said = 'The routing rule for outlook.com does not apply: what it leads to may not carry this message.'
  const outside = await decideBy(leading('provider', other), through(relay))
  assert.deepEqual([outside[0], reason(...outside)], ['Relay', said])
  const straight = await decideBy(leading('direct'), through(relay))
  assert.deepEqual([straight[0], reason(...straight)], ['Relay', said])
  await put(other, 'inactive')
  assert.equal((await decideBy(leading('provider', other)))[0], 'Relay')
  assert.equal((await decideBy(leading('direct'), mail(), strict))[0], 'Relay')
})

test('rules are found by the name, by names above it, and by who runs the mail servers', async () => {
  const zone: Record<string, string> = {
    'firm.example': 'firm-example.mail.protection.outlook.com',
    'hotmail.com': 'hotmail-com.olc.protection.outlook.com',
  }
  const resolve = async (name: string) => {
    if (zone[name] === undefined) throw Object.assign(new Error(name), { code: 'ENOTFOUND' })
    const spare = { priority: 20, exchange: 'mx.spare.example' }
    return [spare, { priority: 10, exchange: zone[name] }]
  }
  const by = new Router({ ...parts, resolver: { ...app.resolver, resolve } })
  const direct = { via: 'direct', targetId: null } as const
  await rules.put(team, [
    { match: 'operator', domain: 'Outlook.com', ...direct },
    { match: 'domain', domain: 'hotmail.com', ...direct },
    { match: 'domain', domain: '*.corp.example', ...direct },
    { match: 'domain', domain: '*.eu.corp.example', ...direct },
  ])
  const names = ['firm.example', 'hotmail.com', 'corp.example', 'a.corp.example', 'b.eu.corp.example', 'gone.example']
  const found = await by.rulesFor(mail(), names, null)
  assert.deepEqual(
    names.map((name) => found.get(name) && `${found.get(name)!.match} ${found.get(name)!.domain}`),
    [
      ...['operator outlook.com', 'domain hotmail.com', undefined, 'domain *.corp.example'],
      ...['domain *.eu.corp.example', undefined],
    ],
  )
})
