// The pages without script, which links in messages open: checked as the others are, and with no script in them.

import assert from 'node:assert/strict'
import { DAY_MS } from '../../../src/base/durations.ts'
import { HOSTILE } from '../hostile-names.ts'
import type { Story } from '../story.ts'
import type { WebAppliance } from '../web-appliance.ts'

/** What a token opens that nobody has. */
const UNKNOWN = 'x'.repeat(43)

/** Pages for everybody: forms, documentation, and links that have expired. */
const FOR_ALL = [
  '/owner/sign-in',
  '/mail-setup',
  '/docs',
  '/docs/errors',
  `/forwards/${UNKNOWN}`,
  `/invites/${UNKNOWN}`,
  `/owner/session/${UNKNOWN}`,
]
/** Pages of an owner. */
const FOR_OWNERS = ['/owner/keys', '/owner/keys/{team}', '/owner/agents']

async function checkPages(web: WebAppliance, person: WebAppliance['owner'] | null, paths: readonly string[]) {
  const tab = await web.open(person)
  for (const path of paths) {
    await tab.page.goto(web.appliance.origin + web.pathOf(path))
    assert.equal(await tab.page.locator('script').count(), 0, `${path} has a script`)
    assert.equal(await tab.page.locator('h1').count(), 1, path)
    // A link that has expired says so with the status of its page.
    tab.forgive(/status of 4(?:04|10)/)
    await tab.checkLooks(path)
  }
  await tab.close()
}

/** The page of a link that signs in, to a team whose name deceives. */
async function linkToHostileTeam({ appliance }: WebAppliance): Promise<string> {
  const team = await appliance.team('Deceivers')
  const { people, db } = appliance.app
  // Earlier versions took such a name, and it stays.
  await db.write((tx) => tx.run('UPDATE teams SET name = ? WHERE id = ?', [HOSTILE, team.id]))
  const token = people.links.newToken()
  const scope = { email: 'owner@people.example', teamId: team.id, mailboxId: null, shownBy: null }
  await db.write((tx) => people.links.make(tx, token, scope, DAY_MS))
  return new URL(people.links.urlOf(token)).pathname
}

export const scriptFreeStories: readonly Story[] = [
  {
    name: 'axe finds nothing on the pages without script, and they break no policy',
    async run(web) {
      await checkPages(web, null, [...FOR_ALL, await linkToHostileTeam(web)])
      await checkPages(web, web.owner, FOR_OWNERS)
    },
  },
]
