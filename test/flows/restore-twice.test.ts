// The same backup restored twice (the first restored machine failed too): states of the first restore are invalid in the second.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Session } from '../../src/api/schemas/session.ts'
import { data, failure, receive } from '../api/expect.ts'
import { startAppliance } from '../support/appliance.ts'
import { Commands } from '../support/cli.ts'
import { ManualClock } from '../support/clock.ts'

test('states after a first restore are too old after a second restore of the same backup', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'attack-restore-'))
  t.after(() => rm(root, { recursive: true }))
  const clock = new ManualClock()
  const [dataDir, file] = [join(root, 'data'), join(root, 'backup.tar.zst')]
  const cli = new Commands({ DATA_DIR: dataDir })
  let key = ''
  {
    await using appliance = await startAppliance({ dataDir, clock })
    const team = await appliance.team()
    await team.domain('in.test')
    key = (await team.mailbox('ben@in.test')).key
    await receive(appliance, { to: 'ben@in.test', subject: 'First' })
    await cli.json('backup', file)
  }
  let known: Session['states'] | undefined
  for (const name of ['one', 'two']) {
    const { code, err } = await cli.run('restore', file, '--data', join(root, name))
    if (code !== 0) throw new Error(err.join())
    await using appliance = await startAppliance({ dataDir: join(root, name), clock })
    await receive(appliance, { to: 'ben@in.test', subject: `In ${name}` })
    await receive(appliance, { to: 'ben@in.test', subject: `More in ${name}` })
    if (known !== undefined) {
      failure(await appliance.get(`/mailbox/messages/changes?since_state=${known.messages}`, key), 409, 'conflict')
    }
    known = data<Session>(await appliance.get('/mailbox/session', key)).states
    await appliance.close()
  }
})
