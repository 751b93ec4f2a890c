// The certificates of ACME as the operator sees them: API and CLI, over an authority that is not there.

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { MINUTE_MS } from '../../src/base/durations.ts'
import { checkCertificates } from '../../src/maintenance/doctor/certificates.ts'
import { startAppliance, type TestAppliance } from '../support/appliance.ts'
import { Commands } from '../support/cli.ts'
import { ManualClock } from '../support/clock.ts'

const HOST = 'mx.mailstead.test'

describe('certificates of an authority that does not answer', () => {
  let appliance: TestAppliance
  let key: string
  const clock = new ManualClock(Date.now())

  before(async () => {
    // Port 9 of loopback: nothing listens there.
    const env = { ACME: 'on', ACME_DIRECTORY: 'https://127.0.0.1:9/dir' }
    appliance = await startAppliance({ clock, env, zone: { [HOST]: { A: ['127.0.0.1'] } } })
    key = (await appliance.app.directory.operatorKeys.issue('test')).secret
    await appliance.settle()
  })
  after(() => appliance?.close())

  const operator = (method: string, path: string, credential: string | null = key) =>
    appliance.call(method, `http://127.0.0.1:${appliance.ports.operator}/operator/v1${path}`, credential)

  it('are listed with the reason they wait for', async () => {
    const { body, status } = await operator('GET', '/certificates')
    assert.equal(status, 200)
    const { is_on: isOn, certificates } = body.data
    assert.equal(isOn, true)
    assert.deepEqual(
      certificates.map(({ name, kind, state, valid_until: until }: never) => ({ name, kind, state, until })),
      [{ name: HOST, kind: 'host', state: 'absent', until: null }],
    )
    assert.match(certificates[0].reason, /certificate authority at 127\.0\.0\.1:9 did not answer/)
    assert.equal((await operator('GET', '/certificates', null)).status, 401)
  })

  it('are ordered again on demand, by name alone', async () => {
    const { body, status } = await operator('POST', `/certificates/${HOST}/renew`)
    assert.equal(status, 200, JSON.stringify(body))
    assert.ok(Date.parse(body.data.next_step_at) <= clock.now())
    assert.equal((await operator('POST', '/certificates/other.test/renew')).status, 404)
  })

  it('are a failure of the doctor, and a message to the operators, after three failures in a row', async () => {
    const { certificates, people, db } = appliance.app
    await db.write((tx) => people.persons.setOperator(tx, 'boss@elsewhere.test', true))
    for (let failures = certificates.get(HOST).failures; failures < 3; failures++) {
      await certificates.renew(HOST)
      await appliance.settle()
    }
    const [finding] = checkCertificates({ certificates, clock })
    assert.equal(finding!.level, 'fail')
    assert.match(finding!.says, /has no certificate yet, and the next one could not be obtained/)
    clock.advance(MINUTE_MS)
    await appliance.settle()
    const sent = db.read.all<{ subject: string }>('SELECT subject FROM emails').map(({ subject }) => subject)
    assert.deepEqual(sent, [`The certificate of ${HOST} could not be obtained`])
  })

  it('are shown and renewed by the command line', async () => {
    const commands = new Commands({ DATA_DIR: appliance.dataDir, ACME: 'on', MAIL_HOSTS: HOST })
    const list = await commands.run('certificate', 'list')
    assert.match(list.out.join('\n'), /mx\.mailstead\.test\s+absent/)
    const renewal = await commands.run('certificate', 'renew', HOST)
    assert.match(renewal.out.join('\n'), /is ordered again/)
    const off = await new Commands({ DATA_DIR: appliance.dataDir, MAIL_HOSTS: HOST }).run('certificate', 'renew', HOST)
    assert.match(off.err.join('\n'), /the setting ACME is off/)
  })
})
