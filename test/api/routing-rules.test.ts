// Routing rules over the API: replaced as a whole, checked, and of one team only.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { ProviderJson } from '../../src/api/schemas/provider.ts'
import { startAppliance } from '../support/appliance.ts'
import { data, etagOf, failure, issues } from './expect.ts'

const appliance = await startAppliance()
after(() => appliance.close())
const team = await appliance.team()
const other = await appliance.team('Other')

async function account(key = team.key): Promise<string> {
  const server = { smtp_host: 'smtp.example.test', smtp_port: 587, smtp_protocol: 'starttls' }
  const body = { name: 'Relay', ...server, smtp_username: 'u', smtp_password: 'p' }
  return data<ProviderJson>(await appliance.call('POST', '/providers', key, body), 201).id
}

const [own, theirs] = [await account(), await account(other.key)]
const members = [{ provider_id: own }]
const group = data<{ id: string }>(
  await appliance.call('POST', '/delivery-groups', team.key, { name: 'Bulk', members }),
  201,
).id
const put = (rules: object[], headers?: Record<string, string>) =>
  appliance.call('PUT', '/routing-rules', team.key, { rules }, headers)
const direct = (domain: string, match = 'domain') => ({ match, domain, via: 'direct' })

test('rules are replaced as a whole, in one form and order, and are of the team alone', async () => {
  const first = await appliance.get('/routing-rules', team.key)
  assert.deepEqual(data(first), { rules: [] })
  const given = [
    { match: 'operator', domain: 'Outlook.COM', via: 'provider', provider_id: own },
    { match: 'domain', domain: '*.Müller.example', via: 'group', group_id: group },
    direct('gmail.com'),
  ]
  const saved = data(await put(given, { 'If-Match': etagOf(first) }))
  const none = { provider_id: null, group_id: null }
  assert.deepEqual(saved, {
    rules: [
      { match: 'domain', domain: '*.xn--mller-kva.example', via: 'group', ...none, group_id: group },
      { match: 'domain', domain: 'gmail.com', via: 'direct', ...none },
      { match: 'operator', domain: 'outlook.com', via: 'provider', ...none, provider_id: own },
    ],
  })
  assert.deepEqual(data(await appliance.get('/routing-rules', team.key)), saved)
  assert.deepEqual(data(await appliance.get('/routing-rules', other.key)), { rules: [] })
  assert.equal(failure(await put([], { 'If-Match': etagOf(first) }), 409, 'conflict').param, 'If-Match')
})

test('what a rule leads to stays while the rule does', async () => {
  const deletion = (path: string) => appliance.call('DELETE', path, team.key)
  await put([{ match: 'domain', domain: 'a.example', via: 'group', group_id: group }])
  const refused = await deletion(`/delivery-groups/${group}`)
  assert.match(failure(refused, 409, 'conflict').message, /still used by the routing rule for a\.example\./)
  const alone = await account()
  await put([{ match: 'domain', domain: 'b.example', via: 'provider', provider_id: alone }])
  failure(await deletion(`/providers/${alone}`), 409, 'conflict')
  await put([])
  data(await deletion(`/providers/${alone}`))
})

test('rules that lead nowhere, or are for no domain, are refused with their place', async () => {
  const wrong: [object[], string, string][] = [
    [
      [{ match: 'domain', domain: 'a.example', via: 'provider', provider_id: theirs }],
      'rules.0.provider_id',
      'not_found',
    ],
    [[{ match: 'domain', domain: 'a.example', via: 'provider' }], 'rules.0.provider_id', 'not_found'],
    [
      [direct('a.example'), { ...direct('b.example'), via: 'group', provider_id: own }],
      'rules.1.group_id',
      'not_found',
    ],
    [[direct('a.example'), direct('A.example')], 'rules.1.domain', 'duplicate'],
    [[direct('*.outlook.com', 'operator')], 'rules.0.domain', 'invalid_format'],
    [[direct('mail.outlook.com', 'operator')], 'rules.0.domain', 'invalid_format'],
    [[direct('a.*.example')], 'rules.0.domain', 'invalid_format'],
    [[direct('192.0.2.1')], 'rules.0.domain', 'invalid_format'],
  ]
  for (const [rules, field, code] of wrong) issues(await put(rules), 422, 'validation_error', [`${field} ${code}`])
})
