// Accounts that are connected by consent: a message leaves through the Gmail API and through Microsoft Graph.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { DeliveryLogJson } from '../../src/api/schemas/delivery-log.ts'
import type { ProviderJson } from '../../src/api/schemas/provider.ts'
import { data, walk } from '../api/expect.ts'
import { startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { confirmConsent } from '../support/consent.ts'
import { startGoogle } from '../support/google.ts'
import { startMicrosoft } from '../support/microsoft.ts'

const google = await startGoogle()
const microsoft = await startMicrosoft()
const clock = new ManualClock(Date.UTC(2030, 0, 2, 3, 4, 5))
const appliance = await startAppliance({ clock, env: { ...google.env, ...microsoft.env } })
after(async () => {
  await appliance.close()
  await google[Symbol.asyncDispose]()
  await microsoft[Symbol.asyncDispose]()
})

/** Connects an account as a person does, in a browser. */
async function connect(type: string, key: string): Promise<ProviderJson> {
  const asked = { type, name: 'Ana' }
  const begun = await appliance.call('POST', '/providers/oauth/authorize', key, asked)
  const consent = await fetch(data<{ authorization_url: string }>(begun, 201).authorization_url, { redirect: 'manual' })
  await confirmConsent(consent.headers.get('location')!)
  const [provider] = data<ProviderJson[]>(await appliance.get(`/providers?type=${type}`, key))
  assert.ok(provider, `${type} is connected`)
  return provider
}

for (const [type, server] of [
  ['gmail_api', google],
  ['outlook_api', microsoft],
] as const) {
  test(`${type}: a person connects the account, tests it, and a message leaves through it`, async () => {
    const team = await appliance.team()
    const domain = `${type.replace('_', '-')}.test`
    await team.domain(domain)
    server.issuer.person = { email: `ana@${domain}` }
    const { id } = await connect(type, team.key)
    const checked = data<{ success: boolean; message: string }>(
      await appliance.call('POST', `/providers/${id}/test`, team.key, { to_email: 'eve@else.test' }),
    )
    assert.equal(checked.success, true, checked.message)

    const message = {
      ...{ from: { email: `ana@${domain}` }, to: { email: 'bob@else.test' }, subject: 'Hello', text_body: 'Hello' },
    }
    const path = `${appliance.sendOrigin}/api/v1/emails/send/batch`
    data(await appliance.call('POST', path, team.key, { messages: [message] }))
    await appliance.settle()
    assert.deepEqual(
      server.taken.map(({ recipients }) => recipients),
      [['eve@else.test'], ['bob@else.test']],
    )
    const [log] = await walk<DeliveryLogJson>(appliance, '/emails/logs', team.key)
    assert.deepEqual([log!.status, log!.to_email, log!.provider_id], ['sent', 'bob@else.test', id])
  })
}
