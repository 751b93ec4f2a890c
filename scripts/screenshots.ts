// `npm run screenshots`: opens pages of the console and of the mail pages on the data of the demo in Chromium, and writes them to docs/images.
// Only some: npm run screenshots -- overview delivery     Elsewhere: npm run screenshots -- --to /tmp/look

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { parseArgs } from 'node:util'
import type { Page } from 'playwright-core'
import { launchChromium, type ViewName, WebPage } from '../test/support/chromium.ts'
import { client } from './demo/api.ts'
import { OWN_DOMAINS, OWNER } from './demo/names.ts'
import { type Demo, openDemo } from './demo/open.ts'

interface Shot {
  name: string
  /** Names in braces stand for ids of the demo's data. */
  path: string
  view: ViewName
  /** What is opened before. */
  open?: (page: Page) => Promise<void>
}

/** Live pages never fall silent, so nothing says when a chart is drawn. */
const DRAWN_MS = 1500

const openRow = (text: string) => (page: Page) =>
  page.locator('tr.open-able', { hasText: text }).first().locator('.row-button').click()

/** Opens a conversation; the pointer leaves the row, whose buttons would lie over it. */
const openThread = (subject: string) => async (page: Page) => {
  await page.getByRole('option').filter({ hasText: subject }).first().click()
  await page.locator('.message-frame, .message-text').first().waitFor()
  await page.mouse.move(0, 0)
}

const SHOTS: readonly Shot[] = [
  { name: 'overview', path: '/console/{team}', view: 'light' },
  { name: 'domain', path: '/console/{team}/domains/{shop}', view: 'light' },
  { name: 'mailboxes', path: '/console/{team}/mailboxes', view: 'light' },
  { name: 'sending', path: '/console/{team}/sending', view: 'light' },
  { name: 'delivery', path: '/console/{team}/delivery?status=failed', view: 'light', open: openRow('lars@') },
  { name: 'inbound', path: '/console/{team}/inbound?status=refused', view: 'dark', open: openRow('bluewater') },
  { name: 'webhook', path: '/console/{team}/webhooks/{webhook}', view: 'light' },
  { name: 'metrics', path: '/console/{team}/metrics', view: 'light' },
  {
    name: 'doctor',
    path: '/operator',
    view: 'light',
    open: async (page) => {
      await page.getByRole('button', { name: 'Run the checks' }).click()
      await page.getByRole('list', { name: 'Checks' }).waitFor({ timeout: 60_000 })
    },
  },
  { name: 'phone', path: '/console/{team}/delivery', view: 'phone' },
  { name: 'mail', path: '/mail/{owner}/inbox', view: 'light', open: openThread('three coils leave') },
  { name: 'mail-dark', path: '/mail/{owner}/inbox', view: 'dark', open: openThread('Launch date for Solveig') },
  { name: 'mail-phone', path: '/mail/{owner}/inbox', view: 'phone' },
]

/** The font of the pictures of the design, where it is installed: without a desktop a machine has none of its own. */
const FONTS = `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>
<include ignore_missing="yes">/etc/fonts/fonts.conf</include>
${['system-ui', 'sans-serif'].map((family) => `<match target="pattern"><test name="family"><string>${family}</string></test><edit name="family" mode="prepend" binding="strong"><string>Inter</string></edit></match>`).join('')}
</fontconfig>`

/** Ids of the demo's data by the names that paths use. */
async function idsOf({ appliance, rootKey }: Demo): Promise<Record<string, string>> {
  const call = client(appliance.app.config.APP_ORIGIN, rootKey)
  const [team, domains, webhooks, mailboxes, accounts] = await Promise.all([
    call<{ id: string }>('GET', '/team'),
    call<{ id: string; domain: string }[]>('GET', '/domains'),
    call<{ id: string; description: string }[]>('GET', '/webhooks'),
    call<{ id: string; email: string }[]>('GET', '/mailboxes'),
    call<{ id: string; name: string }[]>('GET', '/providers'),
  ])
  return {
    team: team.id,
    owner: encodeURIComponent(OWNER),
    domain: domains.find(({ domain }) => domain === OWN_DOMAINS.main)!.id,
    shop: domains.find(({ domain }) => domain === OWN_DOMAINS.shop)!.id,
    webhook: webhooks.find(({ description }) => description === 'Customer database')!.id,
    mailbox: mailboxes.find(({ email }) => email.startsWith('office@'))!.id,
    provider: accounts.find(({ name }) => name === 'Relay')!.id,
  }
}

async function shoot(tab: WebPage, shot: Shot, ids: Record<string, string>, file: string): Promise<void> {
  await tab.showAs(shot.view)
  await tab.goTo(shot.path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? name))
  await shot.open?.(tab.page)
  // Charts are drawn by a part that is loaded with them, and live checks answer a moment later.
  await tab.page.waitForTimeout(DRAWN_MS)
  await tab.page.screenshot({ path: file, animations: 'disabled' })
  console.log(`✔ ${file}`)
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { to: { type: 'string', default: join(import.meta.dirname, '../docs/images') } },
})
const wanted = SHOTS.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
if (wanted.length === 0) {
  console.error(`npm run screenshots -- [${SHOTS.map(({ name }) => name).join('] [')}] [--to <folder>]`)
  process.exit(1)
}
mkdirSync(values.to, { recursive: true })
const folder = mkdtempSync(join(tmpdir(), 'mailstead-fonts-'))
writeFileSync(join(folder, 'fonts.conf'), FONTS)
try {
  await using demo = await openDemo(true)
  const browser = await launchChromium({ FONTCONFIG_FILE: join(folder, 'fonts.conf') })
  const cookie = await demo.ownerCookie()
  const tab = await WebPage.open(browser, demo.appliance.app.config.APP_ORIGIN, { cookie })
  const ids = await idsOf(demo)
  for (const shot of wanted) await shoot(tab, shot, ids, join(values.to, `${shot.name}.png`))
  await browser.close()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
