// What the Operator API does the commands do as well, and tell in the same records (docs/design/directory.md §4).

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { routes } from '../../../src/api/routes.ts'
import { newId } from '../../../src/base/ids.ts'
import { LISTENER_PORTS } from '../../../src/config/client-listeners.ts'
import { AgentClient, EASY_WORK } from '../../support/agents.ts'
import { type Json, startAppliance } from '../../support/appliance.ts'
import { Commands } from '../../support/cli.ts'

const SES = { SES_ACCESS_KEY_ID: 'AKIAEXAMPLE', SES_SECRET_ACCESS_KEY: 'secret' }
const appliance = await startAppliance({ env: { ...SES, ...EASY_WORK } })
after(() => appliance.close())
const team = await appliance.team('Shop')
const { secret } = await appliance.app.directory.operatorKeys.issue('test')
const cli = new Commands({
  ...SES,
  DATA_DIR: appliance.dataDir,
  DNS_SERVERS: appliance.dns.address,
  MAIL_HOSTS: 'mx.mailstead.test',
  // Domains show records of what is served.
  CLIENT_PROTOCOLS: appliance.app.config.CLIENT_PROTOCOLS.join(),
  ...Object.fromEntries(Object.values(LISTENER_PORTS).map((name) => [name, String(appliance.app.config[name])])),
})
const ask = async (path: string): Promise<Json> =>
  (await appliance.call('GET', `http://127.0.0.1:${appliance.ports.operator}/operator/v1${path}`, secret)).body.data

/** The command that does what a route does. */
const COMMANDS: Record<string, string> = {
  listTeams: 'team list',
  createTeam: 'team create',
  updateAnyTeam: 'team update',
  createTeamKey: 'key create',
  listDeletedMailboxes: 'mailbox list',
  restoreTeamMailbox: 'mailbox restore',
  eraseTeamMailbox: 'mailbox erase',
  createCredit: 'team credit',
  listAllLimitRequests: 'limit-request list',
  approveLimitRequest: 'limit-request approve',
  denyLimitRequest: 'limit-request deny',
  listPeople: 'member list',
  deletePersonSessions: 'sign-out',
  setPersonOperator: 'operator grant',
  createPersonSignInLink: 'login-link',
  getTeamBilling: 'team credit',
  listTeamTransactions: 'team credit',
  getOwnRecordChecks: 'doctor',
  setAgentSendLimits: 'agent limit',
  getAgentRegistration: 'agent registration',
  listAgents: 'agent list',
  revokeAgent: 'agent revoke',
  revokeAllAgents: 'agent revoke-all',
  setAgentRegistration: 'agent registration',
  listQueue: 'queue list',
  retryQueuedMessage: 'queue retry',
  dropQueuedMessage: 'queue drop',
  listApplianceAuditEntries: 'audit',
  listSettings: 'doctor',
  getOwnRecords: 'domain own',
  getVersion: 'doctor',
  getServerName: 'server name',
  setServerName: 'server name',
  getApplianceHealth: 'doctor',
  testApplianceHealth: 'doctor',
  listCertificates: 'certificate list',
  renewCertificate: 'certificate renew',
  getBackupPlan: 'backups',
  replaceBackupPlan: 'backups',
  listBackups: 'backup',
  createBackup: 'backup',
  getBackup: 'backup',
  getMachine: 'doctor',
  // What a program scrapes; a person asks this.
  getMetrics: 'doctor',
}

test('every route of the operator has its command', async () => {
  for (const { operation } of routes.filter(({ surface }) => surface === 'operator')) {
    const words: string | undefined = COMMANDS[operation]
    assert.ok(words, `${operation} has no command`)
    const { code, out } = await cli.run(...words.split(' '), '--help')
    assert.equal(code, 0)
    assert.ok(out[0]!.startsWith(`Usage: mailstead ${words}`), out[0]!)
  }
})

test('teams are listed, made with their owner, changed, suspended and let work again', async () => {
  const made = await cli.json('team', 'create', '--name', 'New', '--owner', 'Ida@people.test')
  const [owner] = appliance.app.people.members.of('ida@people.test')
  assert.deepEqual([owner!.teamId, owner!.role], [made.id, 'owner'])
  const changed = await cli.json('team', 'update', made.id, '--name', 'Newer', '--ses', 'on', '--ses-limit', '100')
  assert.deepEqual([changed.name, changed.ses_enabled, changed.ses_daily_limit], ['Newer', true, 100])
  assert.equal((await cli.json('team', 'update', 'Newer', '--ses-limit', 'none')).ses_daily_limit, null)
  assert.equal((await cli.json('team', 'suspend', 'Shop')).status, 'suspended')
  assert.equal((await appliance.get('/domains', team.key)).status, 403)
  assert.deepEqual(await cli.json('team', 'list'), await ask('/teams'))
  assert.equal((await cli.json('team', 'reactivate', team.id)).status, 'active')
  assert.equal((await appliance.get('/domains', team.key)).status, 200)
  assert.match(
    (await cli.run('team', 'list')).out.join('\n'),
    /^Team +Status +Shared SES +Created +Name\n.* active +off +\S+ +Shop$/m,
  )
  await cli.refused(['team', 'update', 'Shop'], '--ses-limit')
  await cli.refused(['team', 'update', 'Shop', '--ses', 'maybe'], 'on, off')
  await cli.refused(['team', 'update', 'Shop', '--ses-limit', '-1'], '--ses-limit')
  await cli.refused(['team', 'update', 'Shop', '--ses-limit', 'few'], 'whole number')
  await cli.refused(['team', 'suspend', 'Nobody'], 'There is no team Nobody')
  await cli.refused(['team', 'create', '--name', 'x', '--owner', 'no address'], 'owner_email')
})

test('keys are issued with permissions and an end, listed and ended by their id alone', async () => {
  const expires = '2030-01-02T00:00:00.000Z'
  const made = await cli.json(
    'key',
    'create',
    '--team',
    'Shop',
    '--permissions',
    'domain.read,webhook.*',
    '--expires',
    expires,
  )
  assert.deepEqual([made.role, made.permissions, made.expires_at], [null, ['domain.read', 'webhook.*'], expires])
  const listed = await cli.json('key', 'list', '--team', 'Shop')
  assert.deepEqual(listed[0], (await appliance.get(`/api-keys/${made.id}`, team.key)).body.data)
  assert.equal((await cli.json('key', 'revoke', made.id)).status, 'revoked')
  assert.equal((await appliance.get('/domains', made.key)).status, 401)
  assert.deepEqual(
    (await cli.json('key', 'list', '--team', 'Shop', '--status', 'revoked')).map(({ id }: { id: string }) => id),
    [made.id],
  )
  assert.deepEqual(
    (await cli.run('key', 'list', '--team', 'Shop', '--limit', '1')).out.at(-1),
    '… and more: see --limit.',
  )
  await cli.refused(['key', 'revoke', newId('key')], 'There is no key')
  await cli.refused(['key', 'revoke', made.key], 'is not the id of a key')
  await cli.refused(['key', 'create', '--team', 'Shop', '--expires', 'soon'], 'soon is not a time')
  await cli.refused(
    ['key', 'create', '--team', 'Shop', '--role', 'root:full', '--permissions', 'domain.read'],
    'exactly one of',
  )
  await cli.refused(['key', 'list', '--team', 'Shop', '--status', 'lost'], 'active, expired, revoked')
  await cli.refused(['key', 'list', '--team', 'Shop', '--limit', '0'], 'from 1 to 1000')
})

test('mailboxes and domains are listed; mailboxes are suspended, let work again and ended', async () => {
  const domain = await team.domain('shop.test')
  const { id, key } = await team.mailbox('ana@shop.test')
  assert.deepEqual(
    await cli.json('mailbox', 'list', '--team', 'Shop'),
    (await appliance.get('/mailboxes', team.key)).body.data,
  )
  const suspended = await cli.json('mailbox', 'suspend', 'Ana@shop.test', '--reason', 'unpaid')
  assert.deepEqual(suspended, (await appliance.get(`/mailboxes/${id}`, team.key)).body.data)
  assert.deepEqual([suspended.status, suspended.status_reason], ['suspended', 'unpaid'])
  assert.equal((await cli.json('mailbox', 'reactivate', 'ana@shop.test')).status, 'active')
  const later = { to: [{ email: 'bob@else.test' }], subject: 'x', text_body: 'x' }
  const send_at = new Date(appliance.app.clock.now() + 86_400_000).toISOString()
  assert.equal((await appliance.call('POST', '/mailbox/messages/send', key, { ...later, send_at })).status, 202)
  assert.equal((await cli.json('mailbox', 'delete', 'ana@shop.test')).status, 'deleted')
  const [log] = (await appliance.get('/emails/logs', team.key)).body.data
  assert.deepEqual([log.status, log.status_reason], ['failed', 'cancelled'])
  assert.equal((await appliance.get('/mailbox/me', key)).status, 401)
  assert.deepEqual(await cli.json('mailbox', 'list', '--team', 'Shop'), [])
  assert.equal(
    (await cli.json('mailbox', 'list', '--team', 'Shop', '--status', 'deleted', '--search', 'ANA'))[0].id,
    id,
  )
  await cli.refused(['mailbox', 'delete', 'ana@shop.test'], 'There is no mailbox ana@shop.test')
  const restored = await cli.json('mailbox', 'restore', 'ana@shop.test', '--email', 'anna@shop.test')
  assert.deepEqual([restored.id, restored.email, restored.status], [id, 'anna@shop.test', 'active'])
  await cli.refused(['mailbox', 'restore', id], `There is no deleted mailbox ${id}`)
  await cli.json('mailbox', 'delete', 'anna@shop.test')
  assert.deepEqual(await cli.json('mailbox', 'erase', id), { id, deleted: true })
  assert.deepEqual(await cli.json('mailbox', 'list', '--team', 'Shop', '--status', 'deleted'), [])
  assert.deepEqual(
    await cli.json('domain', 'list', '--team', 'Shop'),
    (await appliance.get('/domains', team.key)).body.data,
  )
  const shown = await cli.json('domain', 'show', 'Shop.test', '--team', 'Shop')
  assert.deepEqual(shown, (await appliance.get(`/domains/${domain}`, team.key)).body.data)
  const told = (await cli.run('domain', 'show', 'shop.test', '--team', 'Shop')).out.join('\n')
  assert.match(told, /^ {2}shop\.test +MX +10 mx\.mailstead\.test$/m)
  await cli.refused(['domain', 'show', 'other.test', '--team', 'Shop'], 'has no domain other.test')
})

test('requests for more are listed, granted and refused', async () => {
  await cli.json('team', 'update', 'Shop', '--ses', 'on', '--ses-limit', '10')
  const wish = async () => {
    const body = { requested_daily_limit: 500, reason: 'A sale\n\u001b[2J' }
    const reply = await appliance.call('POST', '/providers/shared-amazon-ses-limit-request', team.key, body)
    assert.equal(reply.status, 201, JSON.stringify(reply.body))
    return reply.body.data.request.id as string
  }
  const first = await wish()
  assert.deepEqual(
    await cli.json('limit-request', 'list', '--status', 'pending'),
    await ask('/limit-requests?status=pending'),
  )
  const canceled = await cli.json('limit-request', 'list', '--status', 'canceled')
  assert.deepEqual(await cli.json('limit-request', 'list', '--status', 'cancelled'), canceled, 'the former spelling')
  const told = (await cli.run('limit-request', 'list', '--team', 'Shop')).out
  assert.match(told[1]!, / 500 +A sale \[2J$/)
  await cli.refused(['limit-request', 'approve', first], '--limit')
  await cli.refused(['limit-request', 'approve', first, '--limit', '5'], 'approved_daily_limit')
  const granted = await cli.json('limit-request', 'approve', first, '--limit', '400', '--note', 'Fine.')
  assert.deepEqual([granted.status, granted.approved_daily_limit, granted.decision_note], ['approved', 400, 'Fine.'])
  assert.equal((await cli.json('limit-request', 'deny', await wish(), '--note', 'No.')).status, 'denied')
  await cli.refused(['limit-request', 'deny', first], 'approved already')
  await cli.refused(['limit-request', 'deny', 'x'], 'is not the id of a request')
})

test('agents are listed as the API lists them', async () => {
  const proof = await new AgentClient(appliance).register({ client_name: 'Robot' })
  const listed = await cli.json('agent', 'list', '--state', 'unclaimed', '--since', '2020-01-01')
  assert.deepEqual(listed, await ask('/agents?state=unclaimed'))
  assert.deepEqual([listed[0].email, listed[0].client_name], [proof.mailbox.email, 'Robot'])
  assert.deepEqual(await cli.json('agent', 'list', '--state', 'revoked'), [])
  await cli.refused(['agent', 'list', '--state', 'lost'], 'unclaimed, invited')
  await cli.refused(['agent', 'list', '--since', 'soon'], 'soon is not a time')
})
