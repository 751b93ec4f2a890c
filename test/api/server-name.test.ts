// The names of the server: chosen by the operator, stored for the next start, refused where another source has them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startAppliance, type TestAppliance } from '../support/appliance.ts'
import { data, failure, issues } from './expect.ts'

interface ServerName {
  mail_host: string
  next_mail_host: string | null
  is_changeable: boolean
  is_public: boolean
  addresses: { address: string; is_here: boolean }[]
}

const zone = { 'mail.harbour.com': { A: ['127.0.0.1'] } }

async function operatorOf(appliance: TestAppliance) {
  const { secret } = await appliance.app.directory.operatorKeys.issue('test')
  const url = `http://127.0.0.1:${appliance.ports.operator}/operator/v1/server-name`
  return (method: string, body?: object) => appliance.call(method, url, secret, body)
}

test('a name is stored for the next start, and DNS says where it leads', async () => {
  await using appliance = await startAppliance({ zone, env: { MAIL_HOSTS: '', APP_ORIGIN: '' } })
  const ask = await operatorOf(appliance)
  const before = data<ServerName>(await ask('GET'))
  assert.deepEqual([before.mail_host, before.is_changeable, before.is_public], ['localhost', true, false])
  const chosen = data<ServerName>(await ask('PUT', { mail_host: 'mail.harbour.com' }))
  assert.deepEqual([chosen.mail_host, chosen.next_mail_host], ['localhost', 'mail.harbour.com'])
  assert.deepEqual(chosen.addresses, [{ address: '127.0.0.1', is_here: true }])
  issues(await ask('PUT', { mail_host: 'agents.localhost' }), 422, 'validation_error', ['mail_host forbidden_value'])
})

test('no record of a real domain names localhost', async () => {
  await using appliance = await startAppliance({ env: { MAIL_HOSTS: '' } })
  const team = await appliance.team()
  const refused = await appliance.call('POST', '/domains', team.key, { domain: 'harbour.com' })
  failure(refused, 409, 'conflict')
  assert.match(refused.body.error.message, /MAIL_HOSTS/)
  data(await appliance.call('POST', '/domains', team.key, { domain: 'harbour.test' }), 201)
})

test('the environment keeps its own', async () => {
  await using appliance = await startAppliance()
  const ask = await operatorOf(appliance)
  assert.equal(data<ServerName>(await ask('GET')).is_changeable, false)
  failure(await ask('PUT', { mail_host: 'mail.harbour.com' }), 409, 'conflict')
})
