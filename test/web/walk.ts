// Every page of the console × every role × two teams: what a person sees, what they may press, and what their browser asks for.

import assert from 'node:assert/strict'
import { MEMBER_ROLES, type MemberRole } from '../../src/people/members.ts'
import { some } from '../support/amount.ts'
import type { WebPage } from '../support/chromium.ts'
import { type PersonClient, signInMember } from '../support/person.ts'
import { resourcesOf } from '../support/resources.ts'
import { CONSOLE_PAGES } from './pages.ts'
import type { WebAppliance } from './web-appliance.ts'

/** In every name of the other team, and nowhere in the own one. */
const MARK = 'quayside'
/** Buttons that change nothing: what a role without permission to change sees. */
const HARMLESS = [
  /^(as curl|Zone file|As a table|Load more|Save as CSV|Clear filters)/,
  /^(Copy|Show|Only)\b/,
  // Filters with what they are set to.
  /^(Status|Kind|Span|Type|Time|Interval|Reason|Result|Route|State|Role|Method|Event|Key|Actor|Person|Mailbox|Domain|Account)(:|$)/,
]
/** Of members and owners: what only an owner may do. */
const OF_OWNERS = /^Actions for /
/** A page that is not drawn by then hangs. */
const MOST_FRAMES = 1200
/** Pages of a team that each role looks at by default. */
const WALKED = 6
const ALL_TEAM_PAGES = CONSOLE_PAGES.filter((path) => path.startsWith('/console'))
const TEAM_PAGES = some(ALL_TEAM_PAGES, WALKED)

interface Seen {
  path: string
  /** Names of the buttons in the content of the page, but those that open a row. */
  buttons: string[]
}

/** What a browser asked for and was refused. */
class Requests {
  readonly paths: string[] = []
  readonly refused: string[] = []

  constructor({ page }: WebPage) {
    page.on('response', (response) => {
      const { pathname } = new URL(response.url())
      this.paths.push(pathname)
      if (response.status() >= 400) this.refused.push(`${response.status()} ${response.request().method()} ${pathname}`)
    })
  }

  /** Actors that it asked for. */
  get actors(): Set<string> {
    return new Set(this.paths.flatMap((path) => /^\/as\/([^/]+)/.exec(path)?.[1] ?? []))
  }
}

const BUTTONS = `[...document.querySelectorAll('main button:not(.row-button)')].filter((one) => one.checkVisibility())
  .map((one) => (one.getAttribute('aria-label') ?? one.textContent).trim())`

/** What one page shows: a list, or a record with its tabs. */
const subjectOf = (path: string) =>
  path
    .split('?')[0]!
    .split('/')
    .slice(0, 5)
    .filter((part) => part !== 'in')
    .join('/')

/** Goes to a path as a link does, without loading the document again. */
async function follow(tab: WebPage, path: string): Promise<void> {
  const { page } = tab
  // Another page has another title; its code may have to be loaded.
  const isOther = subjectOf(new URL(page.url()).pathname) !== subjectOf(path)
  await page.evaluate(`(async () => {
    const { title } = document
    const link = document.createElement('a')
    link.href = ${JSON.stringify(path)}
    document.body.append(link)
    link.click()
    link.remove()
    const frame = () => new Promise((drawn) => requestAnimationFrame(drawn))
    await frame()
    for (let frames = 0; frames < ${MOST_FRAMES} && (${isOther} ? document.title === title : frames < 1); frames++) await frame()
  })()`)
  await tab.isDrawn()
}

async function look(tab: WebPage, path: string, isLink: boolean): Promise<Seen> {
  await (isLink ? follow(tab, path) : tab.goTo(path))
  assert.ok(tab.page.url().endsWith(path), tab.page.url())
  assert.ok(!(await tab.page.locator('body').innerText()).includes(MARK), `${path} shows another team`)
  return { path, buttons: await tab.page.evaluate<string[]>(BUTTONS) }
}

/** All pages of the own team. */
async function walkOwn(web: WebAppliance, role: MemberRole, person: PersonClient): Promise<Seen[]> {
  const tab = await web.open(person)
  const requests = new Requests(tab)
  const seen: Seen[] = []
  // A role without permissions sees one sentence, wherever it goes.
  const pages = role === 'user' ? ALL_TEAM_PAGES.filter((path) => path.includes('keys')) : TEAM_PAGES
  for (const [index, path] of pages.entries()) {
    seen.push(await look(tab, web.pathOf(path), index > 0 && role !== 'user'))
    tab.hasNoComplaints(`${role}: ${path}`)
  }
  assert.deepEqual(requests.refused, [], role)
  // The owner of the walks is an operator too, whom the overview tells of missing backups.
  const actors = new Set([web.ids.team, ...(role === 'owner' ? ['operator'] : [])])
  assert.deepEqual(
    [...requests.actors].filter((actor) => !actors.has(actor)),
    [],
    role,
  )
  await tab.close()
  return seen
}

/** Pages of the other team, and its records below the own one. */
async function walkOther(web: WebAppliance, person: PersonClient, other: Map<string, string>): Promise<void> {
  const tab = await web.open(person)
  const requests = new Requests(tab)
  for (const path of ['', '/keys', `/domains/${other.get('domain')}`]) {
    await look(tab, `/console/${other.get('team')}${path}`, false)
    await tab.page.getByRole('heading', { name: 'There is no such page' }).waitFor()
  }
  assert.deepEqual([...requests.actors], [], 'nothing of a team that is not theirs is asked for')
  for (const [page, kind] of [
    ['domains', 'domain'],
    ['mailboxes', 'mailbox'],
    ['sending', 'provider'],
    ['webhooks', 'webhook'],
  ]) {
    await look(tab, `/console/${web.ids.team}/${page}/${other.get(kind!)}`, false)
  }
  assert.deepEqual(new Set(requests.refused.map((one) => one.slice(0, 3))), new Set(['404']))
  tab.forgive(/404/)
  tab.hasNoComplaints('records of another team')
  await tab.close()
}

/** A person of two teams changes from one to the other in the same document: nothing of the first is left, neither its data nor its role. */
async function walkBoth(web: WebAppliance, otherId: string): Promise<void> {
  const { appliance } = web
  const person = await signInMember(appliance, otherId, 'owner', 'both@people.example')
  await appliance.app.db.write((tx) =>
    appliance.app.people.members.add(tx, web.ids.team, { email: person.email, role: 'viewer' }),
  )
  const tab = await web.open(person)
  await tab.goTo(`/console/${otherId}/keys`)
  await tab.page.getByRole('button', { name: 'New key' }).waitFor()
  await tab.page.getByRole('button', { name: 'Switch team' }).click()
  await tab.page.getByRole('menuitem', { name: 'Harbour & Sons' }).click()
  await tab.page.waitForURL(`**/console/${web.ids.team}**`)
  for (const page of ['Keys', 'Mailboxes', 'Domains', 'People', 'Webhooks', 'Delivery']) {
    await tab.page.locator(`a.side-link[href$="/${page.toLowerCase()}"]`).click()
    await tab.page.getByRole('heading', { name: page, exact: true }).waitFor()
    await tab.isDrawn()
    assert.ok(!(await tab.page.locator('main').innerText()).includes(MARK), `${page} shows the other team`)
    assert.deepEqual(notHarmless(await tab.page.evaluate<string[]>(BUTTONS)), [], page)
  }
  tab.hasNoComplaints('two teams')
  await tab.close()
}

const notHarmless = (buttons: readonly string[]) =>
  buttons.filter((name) => !HARMLESS.some((harmless) => harmless.test(name)))

export async function walkRoles(web: WebAppliance): Promise<void> {
  const { appliance } = web
  const quay = await appliance.team('Quay')
  const domain = await quay.domain(`${MARK}.test`)
  const other = await resourcesOf(appliance, quay, { domain, mailbox: await quay.mailbox(`ana@${MARK}.test`) })
  const ids = new Map<string, string>(other).set('team', quay.id)
  const seen = new Map<MemberRole, Seen[]>()
  for (const role of MEMBER_ROLES) {
    const known = role === 'owner' ? web.owner : role === 'viewer' ? web.viewer : undefined
    const person = known ?? (await signInMember(appliance, web.ids.team, role, `${role}@walk.example`))
    seen.set(role, await walkOwn(web, role, person))
    if (role === 'owner' || role === 'viewer') await walkOther(web, person, ids)
  }
  for (const role of ['member', 'viewer', 'user'] as const) {
    const wrong = seen.get(role)!.map(({ path, buttons }) => [path, notHarmless(buttons)] as const)
    assert.deepEqual(
      wrong.filter(([, buttons]) => buttons.length > 0),
      [],
      `${role}: buttons that the role does not allow`,
    )
  }
  const ofOwner = new Map(seen.get('owner')!.map(({ path, buttons }) => [path, buttons]))
  for (const { path, buttons } of seen.get('admin')!) {
    const more = buttons.filter((name) => !ofOwner.get(path)!.includes(name))
    assert.deepEqual(
      more.filter((name) => !OF_OWNERS.test(name)),
      [],
      `an admin sees more than an owner: ${path}`,
    )
  }
  assert.ok(notHarmless([...ofOwner.values()].flat()).length > TEAM_PAGES.length, 'an owner may change things')
  await walkBoth(web, quay.id)
}
