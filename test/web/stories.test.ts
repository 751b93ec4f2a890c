// What people do with the pages, in Debian's Chromium.

import { after, before, describe, test } from 'node:test'
import { chromiumMissing } from '../support/chromium.ts'
import { STORIES } from './stories.ts'
import { startWebAppliance, type WebAppliance } from './web-appliance.ts'

describe('what people do in a browser', { skip: chromiumMissing() }, () => {
  let web: WebAppliance
  before(async () => {
    web = await startWebAppliance()
  })
  after(() => web[Symbol.asyncDispose]())

  for (const { name, run } of STORIES) test(name, () => run(web))
})
