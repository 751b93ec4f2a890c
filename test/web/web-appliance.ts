// One appliance and one browser for all tests of the pages: a team with data, and a person for each role.

import type { Browser } from 'playwright-core'
import { buildWeb } from '../../scripts/build-web.ts'
import { isWebFresh } from '../../scripts/web-freshness.js'
import { EASY_WORK } from '../support/agents.ts'
import { freePorts, startAppliance, type TestAppliance, type TestTeam } from '../support/appliance.ts'
import { launchChromium, type ViewName, WebPage } from '../support/chromium.ts'
import { ManualClock } from '../support/clock.ts'
import { type Hook, startHook } from '../support/hook.ts'
import { type PersonClient, signInMember } from '../support/person.ts'
import { ROOT } from '../support/source.ts'
import { seedHostileNames } from './hostile-names.ts'

export interface WebAppliance extends AsyncDisposable {
  appliance: TestAppliance
  /** Of the server; it stands still until a test moves it. */
  clock: ManualClock
  browser: Browser
  /** A receiver of webhooks. */
  hook: Hook
  team: TestTeam
  owner: PersonClient & { memberId: string }
  viewer: PersonClient & { memberId: string }
  /** Ids that addresses of pages name. */
  ids: { team: string; domain: string; mailbox: string; provider: string; webhook: string }
  /** A path with the ids of the test data in the place of their names. */
  pathOf(pattern: string): string
  open(person: PersonClient | null, view?: ViewName): Promise<WebPage>
}

const LOADS_PER_MINUTE = 60

/** Passkeys need a name, which an address is not: the origin is localhost. */
export async function startWebAppliance(): Promise<WebAppliance> {
  if (!isWebFresh(ROOT)) await buildWeb()
  const [port] = await freePorts()
  const clock = new ManualClock(Date.now())
  const hook = await startHook()
  const appliance = await startAppliance({
    clock,
    env: {
      HTTP_PORT: String(port),
      APP_ORIGIN: `http://localhost:${port}`,
      SIGN_IN: 'passkey,link,password',
      POW_SECRET: 'a secret of thirty-two bytes or more',
      ...{ ALLOW_PRIVATE_WEBHOOKS: 'true', EXTRA_CA_FILE: hook.caFile },
      ...EASY_WORK,
      ...{ SES_ACCESS_KEY_ID: 'AKIAEXAMPLE', SES_SECRET_ACCESS_KEY: 'secret' },
    },
    zone: {
      'hooks.test': { A: ['127.0.0.1'] },
      'friend.test': { TXT: ['v=spf1 ip4:127.0.0.1 -all'] },
      'shop.example': {
        MX: [{ priority: 10, exchange: 'mx.mailstead.test' }],
        TXT: ['v=spf1 include:_spf.oldhost.example ~all'],
      },
    },
  })
  const team = await appliance.team('Harbour & Sons')
  const owner = await signInMember(appliance, team.id, 'owner')
  await appliance.app.db.write((tx) => appliance.app.people.persons.setOperator(tx, owner.email, true))
  const viewer = await signInMember(appliance, team.id, 'viewer')
  const ids = { team: team.id, ...(await seed(appliance, team)) }
  const browser = await launchChromium()
  let loads = 0
  return {
    appliance,
    clock,
    browser,
    hook,
    team,
    owner,
    viewer,
    ids,
    pathOf: (pattern) => pattern.replace(/\{(\w+)\}/g, (_, name: keyof typeof ids) => ids[name]),
    async open(person, view = 'light') {
      const tab = await WebPage.open(browser, appliance.origin, person, view)
      // The server checks the records of a domain once in ten seconds; several tabs look at the same one.
      await tab.page.route('**/verify', async (route) => {
        clock.advance(11_000)
        await route.continue()
      })
      // An address without a credential may load so many pages a minute, and the clock stands still.
      tab.page.on('request', (request) => {
        if (request.isNavigationRequest() && ++loads % LOADS_PER_MINUTE === 0) clock.advance(60_000)
      })
      return tab
    },
    async [Symbol.asyncDispose]() {
      await browser.close()
      await appliance.close()
      await hook[Symbol.asyncDispose]()
    },
  }
}

/** A little of everything that pages list. */
async function seed(appliance: TestAppliance, team: TestTeam) {
  const { call } = appliance
  await team.domain('harbour.test')
  const domain = await call('POST', '/domains', team.key, { domain: 'shop.example' })
  const ana = await team.mailbox('ana@harbour.test')
  await team.mailbox('office@harbour.test')
  const provider = await call('POST', '/providers', team.key, {
    name: 'Backup relay',
    smtp_host: 'smtp.relay.example',
    smtp_port: 587,
    smtp_protocol: 'starttls',
    smtp_username: 'harbour',
    smtp_password: 'not a secret',
    quotas: { per_day: 500 },
  })
  await call('POST', '/mailbox/messages/send', ana.key, {
    to: [{ email: 'office@harbour.test' }],
    subject: 'Keel bolts',
    text_body: 'Hello',
  })
  const webhook = await call('POST', '/webhooks', team.key, {
    url: 'https://93.184.215.14/hooks/mail',
    description: 'Order system',
    event_types: ['message.received', 'message.bounced'],
    enabled: false,
  })
  await call('POST', '/suppressions', team.key, { email: 'gone@customer.example', note: 'Asked by telephone.' })
  await seedHostileNames(appliance, team, ana)
  return {
    webhook: webhook.body.data.id as string,
    domain: domain.body.data.id as string,
    mailbox: ana.id,
    provider: provider.body.data.id as string,
  }
}
