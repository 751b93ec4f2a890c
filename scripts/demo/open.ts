// The demo's appliance: on a temporary folder, with two weeks of mail when it is asked for, and an address that signs its owner in.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DAY_MS } from '../../src/base/durations.ts'
import { loadConfig } from '../../src/config/load.ts'
import { firstTeam } from '../../src/directory/first-team.ts'
import { cookieName } from '../../src/http/session-cookie.ts'
import type { Appliance } from '../../src/main.ts'
import { openAppliance } from '../../test/support/program.ts'
import { ROOT } from '../../test/support/source.ts'
import { buildWeb } from '../build-web.ts'
import { isWebFresh } from '../web-freshness.js'
import { OWNER, TEAM } from './names.ts'
import { makeWeeks } from './weeks.ts'
import { startWorld, type World } from './world.ts'

export interface Demo extends AsyncDisposable {
  appliance: Appliance
  world: World
  /** Of a key that may do everything in the team. */
  rootKey: string
  /** Makes an address that signs the owner in, once and within a day. */
  signInAddress(): Promise<string>
  /** Signs the owner in. @returns the cookie of a browser, `name=value` */
  ownerCookie(): Promise<string>
}

/** @param hasWeeks false: the team is empty @throws Error when the demo does not go as it should */
export async function openDemo(hasWeeks: boolean): Promise<Demo> {
  if (hasWeeks && !isWebFresh(ROOT)) await buildWeb()
  const dataDir = await mkdtemp(join(tmpdir(), 'mailstead-demo-'))
  const world = await startWorld()
  const end = async () => {
    await world[Symbol.asyncDispose]()
    await rm(dataDir, { recursive: true, force: true })
  }
  try {
    const settings = await world.settings(dataDir)
    const made = hasWeeks ? (await makeWeeks(world, settings)).rootKey : null
    const appliance = await openAppliance(loadConfig(settings, join(dataDir, 'no-settings-file.json')))
    const rootKey = made ?? (await firstTeam(appliance.app.directory, TEAM))!.key.secret
    return {
      appliance,
      world,
      rootKey,
      signInAddress: () => signInAddress(appliance),
      ownerCookie: () => ownerCookie(appliance),
      async [Symbol.asyncDispose]() {
        await appliance.close()
        await end()
      },
    }
  } catch (error) {
    await end()
    throw error
  }
}

/** The owner of the team, wherever they sign in from. */
const OWNER_SCOPE = { email: OWNER, teamId: null, mailboxId: null, shownBy: null }

async function signInAddress({ app: { people, db } }: Appliance): Promise<string> {
  const token = people.links.newToken()
  await db.write((tx) => people.links.make(tx, token, OWNER_SCOPE, DAY_MS))
  return people.links.urlOf(token)
}

async function ownerCookie({ app: { people, db, config } }: Appliance): Promise<string> {
  const { token } = await db.write((tx) => people.signInAs(tx, OWNER_SCOPE))
  return `${cookieName(config)}=${token}`
}
