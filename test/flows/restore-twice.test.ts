// The same backup restored twice (the first restored machine died too): what clients learnt from the first is void in the second.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Session } from '../../src/api/schemas/session.ts'
import { data, failure, receive } from '../api/expect.ts'
import { Commands } from '../support/cli.ts'
import { ManualClock } from '../support/clock.ts'
import { startHouse } from '../support/house.ts'

test('states of a first restore are too old after a second restore of the same backup', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'attack-restore-'))
  t.after(() => rm(root, { recursive: true }))
  const clock = new ManualClock()
  const [dataDir, file] = [join(root, 'data'), join(root, 'backup.tar.zst')]
  const cli = new Commands({ DATA_DIR: dataDir })
  let key = ''
  {
    await using house = await startHouse({ dataDir, clock })
    const team = await house.team()
    await team.domain('in.test')
    key = (await team.mailbox('ben@in.test')).key
    await receive(house, { to: 'ben@in.test', subject: 'First' })
    await cli.json('backup', file)
  }
  let known: Session['states'] | undefined
  for (const name of ['one', 'two']) {
    const { code, err } = await cli.run('restore', file, '--data', join(root, name))
    if (code !== 0) throw new Error(err.join())
    await using house = await startHouse({ dataDir: join(root, name), clock })
    await receive(house, { to: 'ben@in.test', subject: `In ${name}` })
    await receive(house, { to: 'ben@in.test', subject: `More in ${name}` })
    if (known !== undefined) {
      failure(await house.get(`/mailbox/messages/changes?since_state=${known.messages}`, key), 409, 'conflict')
    }
    known = data<Session>(await house.get('/mailbox/session', key)).states
    await house.close()
  }
})
