// A person reads and files the messages of their mailbox in the browser.

import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { eventually } from '../../support/eventually.ts'
import { fillInbox, makeMailWorld } from '../mail-world.ts'
import type { Story } from '../story.ts'
import type { WebAppliance } from '../web-appliance.ts'

/** The conversations that the list shows, by their subjects. */
export const subjectsIn = (page: Page) => page.locator('.thread-row .thread-subject').allInnerTexts()

export const row = (page: Page, subject: string) => page.getByRole('option').filter({ hasText: subject }).first()

/** How many requests the tab can undo. */
const keptUndos = () =>
  (JSON.parse(sessionStorage.getItem('mailstead.undo') ?? '[]') as { undoIds: string[] }[]).flatMap(
    ({ undoIds }) => undoIds,
  ).length

/** The server gathers changes for a moment of its clock, which stands still, before it tells the pages. */
async function whileTimeGoesBy(web: WebAppliance, wait: () => Promise<void>): Promise<void> {
  const timer = setInterval(() => web.clock.advance(250), 100)
  await wait().finally(() => clearInterval(timer))
}

export const mailReadingStories: readonly Story[] = [
  {
    name: 'a person reads a conversation in the mail pages, files it, and finds it again in another folder',
    async run(web) {
      const world = await makeMailWorld(web, 'maria')
      await fillInbox(world, 12)
      await world.add({
        from: 'Nordtau Ropes <orders@nordtau.example>',
        id: '<order@nordtau.example>',
        subject: 'Order 2030-117 is packed',
        text: 'Your order is packed, see https://nordtau.example/track.\n\nOn Monday Maria wrote:\n> When does it leave?',
        age: 12,
        file: { name: 'note.txt', type: 'text/plain', content: 'Three coils of rope' },
      })
      const tab = await web.open(world.person)
      const { page } = tab
      await tab.goTo('/mail/')
      await page.waitForURL(`**${world.path}`)
      await page.getByText('13 conversations').waitFor()
      assert.equal((await subjectsIn(page))[0], 'Order 2030-117 is packed')
      await tab.checkLooks('the Inbox', ['light', 'dark', 'phone'])

      await row(page, 'Order 2030-117').click()
      await page.getByRole('heading', { name: 'Order 2030-117 is packed' }).waitFor()
      await page.getByRole('link', { name: 'https://nordtau.example/track' }).waitFor()
      assert.equal(await page.getByText('When does it leave?').isVisible(), false, 'the quotation is folded')
      await page.getByText('Quoted text').click()
      await page.getByText('When does it leave?').waitFor()
      await tab.checkLooks('a conversation', ['light', 'dark', 'phone'])

      await page.getByRole('button', { name: 'Read the text of note.txt' }).click()
      await page.getByText('Three coils of rope').waitFor()
      await tab.check('the text of a file', 'dialog')
      await page.keyboard.press('Escape')

      // Unread until it was a moment in view.
      await page.locator('.thread-row.open:not(.unread)').waitFor()
      await page.keyboard.press('e')
      await page.getByText('1 conversation archived').waitFor()
      await page.getByText('12 conversations').waitFor()
      await page.getByRole('link', { name: 'Archive' }).click()
      await page.getByText('1 conversation', { exact: true }).waitFor()
      assert.deepEqual(await subjectsIn(page), ['Order 2030-117 is packed'])
      tab.hasNoComplaints('reading and filing')
      await tab.close()
    },
  },
  {
    name: 'a person works through the Inbox with keys alone, and another tab follows',
    async run(web) {
      const world = await makeMailWorld(web, 'karin')
      await fillInbox(world, 8)
      const tab = await web.open(world.person)
      const { page } = tab
      const other = await web.open(world.person)
      await other.goTo(world.path)
      await tab.goTo(world.path)
      await page.locator('.window-list').focus()
      // The first conversation, then the second: flagged, and the third in Trash.
      await page.keyboard.press('j')
      await page.keyboard.press('s')
      await page.getByText('1 conversation flagged').waitFor()
      await page.keyboard.press('j')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { level: 2, name: 'Mooring fees for May' }).waitFor()
      await page.keyboard.press('#')
      await page.getByText('1 conversation moved to Trash').waitFor()
      await page.getByRole('heading', { level: 2, name: 'Survey report for Kittiwake' }).waitFor()
      await page.getByText('7 conversations').waitFor()
      await page.keyboard.press('z')
      await page.getByText('Undone').waitFor()
      await page.getByText('8 conversations').waitFor()
      await page.keyboard.press('#')
      await page.getByRole('heading', { level: 2, name: 'Your mainsail is ready for fitting' }).waitFor()
      await page.keyboard.press('u')
      await page.getByText('No conversation is open').waitFor()
      await whileTimeGoesBy(web, () => other.page.getByText('7 conversations').waitFor())
      await row(other.page, 'Crane on Thursday').getByText('flagged,').waitFor({ state: 'attached' })
      await world.add({ from: 'Pia <pia@new.example>', subject: 'Arrives by itself', text: 'Hello', age: 0 })
      for (const one of [other.page, page]) await whileTimeGoesBy(web, () => row(one, 'Arrives by itself').waitFor())
      await page.keyboard.press('?')
      await tab.check('the keys of the mail pages', 'dialog')
      await page.keyboard.press('Escape')
      for (const one of [tab, other]) {
        one.hasNoComplaints('keys alone')
        await one.close()
      }
    },
  },
  {
    name: 'a designed message is in a frame: nothing is asked of others, a false link asks first, and keys are heard inside',
    async run(web) {
      const world = await makeMailWorld(web, 'frida')
      await fillInbox(world, 2)
      await world.add({
        from: 'Nordtau <news@nordtau.example>',
        subject: 'Three coils leave today',
        text: 'Plain',
        html: [
          '<body style="background:#fbfaf6"><h1>Three coils leave</h1><script>parent.document.title = "run"</script>',
          '<p>See <a href="https://evil.test/login">nordtau.com</a> or <a href="mailto:orders@friend.test">write</a>.</p>',
          '<img src="https://evil.test/coil.jpg" width="160" height="120">',
          '<img src="https://open.mailgun.org/x.gif" width="1" height="1"></body>',
        ].join(''),
        age: 1,
      })
      const tab = await web.open(world.person)
      const { page } = tab
      const asked: string[] = []
      page.on('request', (request) => asked.push(new URL(request.url()).origin))
      await tab.goTo(world.path)
      await row(page, 'Three coils leave today').click()
      const frame = page.frameLocator('.message-frame')
      await frame.getByRole('heading', { name: 'Three coils leave' }).waitFor()
      await page.getByText('1 tracker left out (Mailgun)').waitFor()
      await page.getByText('First message from this address').waitFor()
      await page.getByRole('button', { name: 'Why' }).click()
      await page.getByRole('list', { name: 'Why this message is here' }).waitFor()
      await tab.checkLooks('a designed message', ['light', 'dark', 'phone'])
      await frame.getByRole('link', { name: 'nordtau.com' }).click()
      await page.getByRole('heading', { name: 'Open this link?' }).waitFor()
      await page.locator('.link-host', { hasText: 'evil.test' }).waitFor()
      await tab.check('a false link', 'dialog')
      await page.keyboard.press('Escape')
      await frame.getByRole('link', { name: 'write' }).click()
      await page.getByRole('button', { name: 'Remove orders@friend.test' }).waitFor()
      await page.getByRole('button', { name: 'Save and close' }).click()
      await frame.getByRole('heading', { name: 'Three coils leave' }).click()
      await page.keyboard.press('e')
      await page.getByText('1 conversation archived').waitFor()
      assert.deepEqual([...new Set(asked)], [web.appliance.origin])
      // Chromium says so for each script that it did not run.
      tab.forgive(/Blocked script execution/)
      tab.hasNoComplaints('a designed message')
      await tab.close()
    },
  },
  {
    name: 'a person searches as they type, and narrows the list',
    async run(web) {
      const world = await makeMailWorld(web, 'selma')
      await fillInbox(world, 24)
      const tab = await web.open(world.person)
      const { page } = tab
      await tab.goTo(world.path)
      await page.getByText('24 conversations').waitFor()
      await page.keyboard.press('/')
      await page.keyboard.type('keel bolts')
      await page.getByText('3 conversations').waitFor()
      await page.getByRole('heading', { name: 'Search results' }).waitFor()
      await tab.checkLooks('search results')
      await page.keyboard.press('Escape')
      await page.getByText('24 conversations').waitFor()
      // The beginning of a word of the text: the match is marked in the row.
      await page.keyboard.press('/')
      await page.keyboard.type('harbourmas')
      await page.locator('.thread-preview mark', { hasText: 'Harbourmaster' }).first().waitFor()
      await page.getByText('3 conversations').waitFor()
      await page.keyboard.press('Escape')
      await page.getByText('24 conversations').waitFor()
      await page.getByRole('button', { name: 'Unread' }).click()
      await page.getByText('3 conversations').waitFor()
      await page.getByRole('button', { name: 'Files' }).click()
      await page.getByText('No conversation here is like this').waitFor()
      await tab.checkLooks('an empty list')
      tab.hasNoComplaints('searching')
      await tab.close()
    },
  },
  {
    name: 'a person archives all conversations of a folder at once, reloads the page, and undoes it',
    async run(web) {
      const world = await makeMailWorld(web, 'olga')
      await fillInbox(world, 130)
      const tab = await web.open(world.person)
      const { page } = tab
      await tab.goTo(world.path)
      await page.getByText('130 conversations').waitFor()
      await row(page, 'Rope for a 38-foot ketch').locator('.thread-person').click()
      await row(page, 'Mooring fees for May').click({ modifiers: ['Shift'] })
      await page.getByText('3 selected').waitFor()
      await page.getByRole('button', { name: 'Clear the selection' }).click()
      await page.getByRole('button', { name: 'Select all conversations of the list' }).click()
      await page.getByText('130 selected').waitFor()
      await tab.checkLooks('a selection')
      await page.getByRole('toolbar').getByRole('button', { name: 'Archive' }).first().click()
      await page.getByText('130 conversations archived').waitFor()
      await page.getByText('Nothing in the Inbox').waitFor()
      const total = async (role: string) => {
        const { body } = await web.appliance.call('GET', '/mailbox/folders', world.mailbox.key)
        return (body.data as { role: string; total_threads: number }[]).find((folder) => folder.role === role)!
          .total_threads
      }
      await eventually(
        () => total('archive'),
        (threads) => threads === 130,
      )
      // The second request of the change is answered before the page goes.
      await eventually(
        () => page.evaluate(keptUndos),
        (requests) => requests === 2,
      )
      await page.reload()
      await tab.isDrawn()
      await page.keyboard.press('z')
      await page.getByText('Undone').waitFor()
      await page.getByText('130 conversations').waitFor()
      assert.equal(await total('archive'), 0)
      await page.keyboard.press('z')
      await page.getByText('Nothing to undo').waitFor()
      tab.hasNoComplaints('a change of many')
      await tab.close()
    },
  },
  {
    name: 'a person labels a conversation, finds it by the label, and takes the label away',
    async run(web) {
      const world = await makeMailWorld(web, 'ylva')
      await fillInbox(world, 8)
      const tab = await web.open(world.person)
      const { page } = tab
      await tab.goTo(world.path)
      await row(page, 'Mooring fees for May').click()
      await page.getByRole('heading', { level: 2, name: 'Mooring fees for May' }).waitFor()
      await page.getByRole('button', { name: 'Label', exact: true }).click()
      await page.getByRole('menuitem', { name: 'New label' }).click()
      await page.getByRole('textbox', { name: 'Name' }).fill('Harbour Money')
      await tab.check('a new label', 'dialog')
      await page.getByRole('button', { name: 'Give the label' }).click()
      await page.getByText('1 conversation has the label Harbour money').waitFor()
      await page.locator('.reader-title .label', { hasText: 'Harbour money' }).waitFor()
      await page.getByRole('link', { name: 'Harbour money' }).click()
      await page.getByText('1 conversation', { exact: true }).waitFor()
      assert.deepEqual(await subjectsIn(page), ['Mooring fees for May'])
      await tab.checkLooks('labels')
      await row(page, 'Mooring fees for May').click()
      await page.getByRole('button', { name: 'Label', exact: true }).click()
      await page.getByRole('menuitemradio', { name: 'Harbour money' }).click()
      await page.getByText('Label Harbour money removed from 1 conversation').waitFor()
      await page.locator('.label').first().waitFor({ state: 'detached' })
      tab.hasNoComplaints('labels')
      await tab.close()
    },
  },
]
