// Teams: names, suspension, and the first team of an appliance.

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { firstTeam } from '../../../src/directory/first-team.ts'
import { failure, openTestDirectory } from '../../support/directory.ts'

describe('teams', () => {
  it('may have the same name', async () => {
    await using appliance = await openTestDirectory()
    const { teams } = appliance.directory
    const [one, two] = [await teams.create({ name: 'Same' }), await teams.create({ name: 'Same' })]
    assert.notEqual(one.id, two.id)
    assert.match(one.id, /^team_[a-z0-9]{24}$/)
    assert.deepEqual(teams.get(one.id), {
      id: one.id,
      name: 'Same',
      status: 'active',
      createdAt: appliance.clock.now(),
    })
    assert.deepEqual(
      teams
        .list()
        .map(({ id }) => id)
        .toSorted(),
      [one.id, two.id].toSorted(),
    )
    assert.equal(teams.get('team_000000000000000000000000'), undefined)
  })

  it('need a name on one line', async () => {
    await using appliance = await openTestDirectory()
    const wrong: [string, string][] = [
      ['', 'too_small'],
      ['x'.repeat(101), 'too_big'],
      ['a\r\nb', 'invalid_format'],
      ['a\u0000', 'invalid_format'],
    ]
    for (const [name, code] of wrong) {
      await assert.rejects(
        appliance.directory.teams.create({ name }),
        failure('validation_error', { field: 'name', code }),
      )
    }
  })

  it('are suspended and reactivated', async () => {
    await using appliance = await openTestDirectory()
    const { teams } = appliance.directory
    const id = await appliance.team()
    await teams.setStatus(id, 'suspended')
    assert.equal(teams.get(id)!.status, 'suspended')
    await teams.setStatus(id, 'active')
    assert.equal(teams.get(id)!.status, 'active')
    await assert.rejects(teams.setStatus('team_none', 'suspended'), failure('not_found'))
  })
})

describe('the first team', () => {
  it('is created once by concurrent calls, with a key that has every permission', async () => {
    await using appliance = await openTestDirectory()
    const asked = await Promise.all(Array.from({ length: 5 }, () => firstTeam(appliance.directory, 'Ours')))
    const [made, ...more] = asked.filter((one) => one !== undefined)
    assert.equal(more.length, 0)
    assert.equal(made!.team.name, 'Ours')
    assert.equal(made!.key.record.role, 'root:full')
    assert.equal(appliance.directory.keys.recognise(made!.key.secret)!.principal.teamId, made!.team.id)
    assert.equal(await firstTeam(appliance.directory), undefined)
  })

  it('is not created without its key', async () => {
    await using appliance = await openTestDirectory()
    await assert.rejects(firstTeam(appliance.directory, ''), failure('validation_error'))
    assert.deepEqual(appliance.directory.teams.list(), [])
  })
})
