// Another language: every text of the pages comes from it, nothing is cut off, and the direction is that of the language.

import assert from 'node:assert/strict'
import * as english from '../../../web/src/words/en/all.ts'
import * as mailTexts from '../../../web/src/words/mail-texts.ts'
import { fillInbox, makeMailWorld } from '../mail-world.ts'
import type { Story } from '../story.ts'
import type { WebAppliance } from '../web-appliance.ts'

/** The pseudo-locale of CLDR: longer by two fifths, between marks, from right to left. */
const PSEUDO = 'ar-XB'
/** Each kind of page once; the ways to draw texts repeat on the others. */
const PAGES = [
  '/console/{team}',
  '/console/{team}/domains/{domain}',
  '/console/{team}/domains?q=nothing-has-this-name',
  '/console/{team}/mailboxes/{mailbox}/settings',
  '/console/{team}/sending/{provider}',
  '/console/{team}/delivery',
  '/console/{team}/metrics',
  '/console/{team}/webhooks/{webhook}/settings',
  '/console/{team}/keys?new=1',
  '/me/appearance',
  '/operator',
  '/operator/settings?open=MAIL_HOSTS',
]
/** What the server writes is English, and says so: by page, a text of it. */
const ENGLISH: Readonly<Record<string, RegExp>> = {
  '/operator/settings?open=MAIL_HOSTS': /host/i,
}

/** What the page shows, seen from the document: texts and labels, what is cut off, and how much wider it is than the window. */
const LOOK_AT = `(() => {
  const shown = []
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!node.parentElement.closest('bdi, code, script, noscript')) shown.push(node.data.trim())
  }
  for (const name of ['aria-label', 'placeholder', 'title']) {
    for (const element of document.querySelectorAll('[' + name + ']')) shown.push(element.getAttribute(name))
  }
  const isCut = (element) => {
    const { overflowX, textOverflow } = getComputedStyle(element)
    const hides = overflowX === 'hidden' || overflowX === 'clip'
    return hides && textOverflow !== 'ellipsis' && element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 1
  }
  const cut = [...document.querySelectorAll('#app *')].filter(isCut).map((element) => element.outerHTML.slice(0, 160))
  return { shown, cut, wider: document.documentElement.scrollWidth - innerWidth, direction: document.documentElement.dir }
})()`

interface Seen {
  shown: string[]
  cut: string[]
  wider: number
  direction: string
}

/** Every English text that no data of the tests is equal to: at least two words, or a word with a capital. */
function englishTexts(value: unknown): string[] {
  if (typeof value === 'string') return /^[A-Z]\w{3}|\w \w/.test(value) ? [value] : []
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(englishTexts) : []
}

export const languageStories: readonly Story[] = [
  { name: 'in another language no text stays English, none is cut off, and the page turns round', run: walkPages },
  { name: 'the mail pages speak German and the pseudo-locale: no text stays English', run: walkMail },
]

async function walkPages(web: WebAppliance): Promise<void> {
  const texts = new Set(englishTexts({ ...english }))
  await web.owner.call('PATCH', '/me/v1/self', { locale: PSEUDO })
  const tab = await web.open(web.owner)
  for (const [index, path] of PAGES.entries()) {
    const view = index % 2 === 0 ? 'light' : 'phone'
    await tab.showAs(view)
    await tab.goTo(web.pathOf(path))
    const seen = (await tab.page.evaluate(LOOK_AT)) as Seen
    const where = `${path}, ${view}`
    assert.ok(
      seen.shown.some((text) => text.startsWith('⟦')),
      `${where}: no text of the language`,
    )
    assert.deepEqual(
      seen.shown.filter((text) => texts.has(text)),
      [],
      `${where}: stays English`,
    )
    assert.deepEqual(seen.cut, [], `${where}: is cut off`)
    assert.ok(seen.wider <= 0, `${where}: ${seen.wider} px wider than the window`)
    assert.equal(seen.direction, 'rtl')
    const server = tab.page.locator('[lang="en"]').filter({ hasText: ENGLISH[path] ?? /$^/ })
    assert.equal(ENGLISH[path] === undefined || (await server.count()) > 0, true, `${where}: texts of the server`)
    tab.hasNoComplaints(where)
  }
  // Nothing is there; the answer of the server says so.
  await tab.goTo(web.pathOf('/console/{team}/domains/mdom_000000000000000000000000'))
  await tab.page.locator('.error-card [lang="en"]').waitFor()
  tab.forgive(/404/)
  await tab.close()
  await web.owner.call('PATCH', '/me/v1/self', { locale: null })
}

/** Every German text is another one than the English, but for those that are the same word in both. */
const SAME_IN_GERMAN = new Set(['Mailstead', 'Name', 'Format', 'Team', 'Mail', 'Label', 'Labels'])

async function walkMail(web: WebAppliance): Promise<void> {
  const world = await makeMailWorld(web, 'liesel')
  await fillInbox(world, 3)
  const texts = new Set(englishTexts({ ...mailTexts }).filter((text) => !SAME_IN_GERMAN.has(text)))
  for (const [locale, isOwn] of [
    ['de', (text: string) => text === 'Nachrichten suchen'],
    [PSEUDO, (text: string) => text.startsWith('⟦')],
  ] as const) {
    await world.person.call('PATCH', '/me/v1/self', { locale })
    const tab = await web.open(world.person)
    for (const view of ['light', 'phone'] as const) {
      await tab.showAs(view)
      await tab.goTo(world.path)
      await tab.page.getByRole('option').first().click()
      await tab.page.locator('.message-text').first().waitFor()
      const seen = (await tab.page.evaluate(LOOK_AT)) as Seen
      const where = `the mail pages in ${locale}, ${view}`
      assert.ok(seen.shown.some(isOwn), `${where}: no text of the language`)
      assert.deepEqual(
        seen.shown.filter((text) => texts.has(text)),
        [],
        `${where}: stays English`,
      )
      assert.ok(seen.wider <= 0, `${where}: ${seen.wider} px wider than the window`)
      tab.hasNoComplaints(where)
    }
    await tab.close()
  }
}
