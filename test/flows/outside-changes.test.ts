// Random changes on both sides of an outside account, with servers of different abilities and connections that break: both sides end equal.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ServerError } from '../../src/sync/model/server.ts'
import { amount } from '../support/amount.ts'
import type { ModelAbilities } from '../support/model-account.ts'
import { type ModelSetup, modelMessage, startModels } from '../support/outside-model.ts'
import { Random } from '../support/random.ts'

let models: ModelSetup
before(async () => {
  models = await startModels()
})
after(() => models[Symbol.asyncDispose]())

const SERVERS: [string, ModelAbilities][] = [
  ['QRESYNC and UIDPLUS', {}],
  ['object ids', { objectIds: true }],
  ['CONDSTORE', { qresync: false }],
  ['UIDPLUS without MOVE', { move: false }],
  ['neither, nor UIDPLUS', { qresync: false, condstore: false, uidPlus: false }],
]
const CHANGES = 60
const SEEDS = process.env.SEED === undefined ? [1, 2, 3].slice(0, amount(1, 3)) : [Number(process.env.SEED)]

for (const [name, abilities] of SERVERS) {
  for (const [breaks, seed] of [0, 0.02].flatMap((one) => SEEDS.map((of) => [one, of] as const))) {
    const how = `${name}${breaks > 0 ? ', while connections break' : ''}`
    test(`${CHANGES} changes on both sides, with ${how}, by seed ${seed}`, async () => {
      const random = new Random(seed)
      const mailbox = await models.attach(abilities, (account) => {
        account.create('Work')
        for (let n = 0; n < 20; n++) account.add('INBOX', modelMessage(), { receivedAt: n * 1000 })
      })
      await mailbox.settle(1)
      mailbox.assertEqual('after the import')
      mailbox.account.fault = (command, moment) => {
        if (random.chance(breaks)) throw new ServerError('delay', `Broken ${moment} ${command}.`)
      }
      for (let change = 0; change < CHANGES; change++) {
        if (random.chance(0.5)) mailbox.changeThere(random)
        else await mailbox.changeHere(random)
        if (random.chance(0.2)) await models.appliance.settle()
        if (random.chance(0.1)) models.clock.advance(20_000)
      }
      mailbox.account.fault = () => {}
      await mailbox.settle(8)
      mailbox.assertEqual('at the end')
      assert.equal((await mailbox.record()).status, 'active')
    })
  }
}
