// Traffic: deliveries are retried and resent, senders let in, webhooks replayed, addresses imported.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import type { Download, Page } from 'playwright-core'
import { Payload } from '../../../src/events/webhooks/records.ts'
import type { Outcome } from '../../../src/outbound/model/records.ts'
import { webhookSamples } from '../../../web/src/console/webhooks/samples.ts'
import { data } from '../../api/expect.ts'
import type { Json } from '../../support/appliance.ts'
import { sendingContextOf } from '../../support/sending-appliance.ts'
import { plainMail, SmtpClient } from '../../support/smtp.ts'
import type { Story } from '../story.ts'
import type { WebAppliance } from '../web-appliance.ts'

const HOUR = 3_600_000
const REPLY = { smtpCode: 451, enhancedCode: '4.7.1', text: '451 4.7.1 greylisted, come back later' }

/** Below the text of each step of a timeline, px. */
const STEP_GAPS = `[...document.querySelectorAll('.timeline li:not(:last-child)')].map((step) => {
  const text = document.createRange()
  text.selectNodeContents(step.lastElementChild)
  return step.getBoundingClientRect().bottom - text.getBoundingClientRect().bottom
})`

/** A message of the team to these recipients, with an outcome for each. @returns the ids of its rows */
async function send(web: WebAppliance, outcomes: Record<string, Outcome>): Promise<string[]> {
  const { app } = web.appliance
  const { accepted, deliveries, transitions } = sendingContextOf(app, web.team.id)
  const email = await accepted(Object.keys(outcomes), { id: null, email: 'news@harbour.test' })
  const rows = await deliveries(email)
  await app.db.write((tx) => {
    for (const { n, to } of rows) transitions.apply(tx, n, outcomes[to]!, null)
  })
  return rows.map(({ id }) => id)
}

const deferred = (web: WebAppliance): Outcome => {
  return { kind: 'deferred', reply: REPLY, cause: 'greylisted', nextAt: web.clock.now() + HOUR }
}
const bounced = (web: WebAppliance, text: string): Outcome => ({
  ...{ kind: 'bounced', type: 'transient', subType: 'mailbox_full', reportingMta: null, afterAccept: false },
  reply: { smtpCode: Number(text.slice(0, 3)), enhancedCode: text.slice(4, 9), text },
  occurredAt: web.clock.now(),
})

/** An event whose last attempt failed for good: eight of them take a day, in which sessions end. */
async function failEvent({ appliance: { app }, team, clock }: WebAppliance, webhookId: string): Promise<void> {
  const { webhooks, attempts } = app.eventDispatch
  const { n } = webhooks.get(team.id, webhookId)!
  await app.db.write((tx) => {
    const [ids, at] = [{ mailboxId: null, domainId: null }, clock.now()]
    const data = { recipient: 'gone@friend.test' }
    const event = app.outbox.recordDispatched(tx, { teamId: team.id, type: 'message.bounced', ...ids, at, data })
    const shared = { webhook: n, event: { ...event, payload: new Payload(event.body) }, maxAttempts: 8 }
    const answered = { responseStatus: 500, responseMs: 12, errorMessage: null, responseBody: 'not today' }
    const sent = { requestHeaders: { 'X-Service-Event-Id': event.id }, payloadExpiresAt: at + 24 * HOUR, createdAt: at }
    attempts.insertAll(
      tx,
      [7, 8].map((attempt) => {
        const nextRetryAt = attempt === 8 ? null : at
        return { ...shared, ...answered, ...sent, attempt, nextRetryAt, result: attempt === 8 ? 'failed' : 'retrying' }
      }),
    )
  })
}

/** The file that a press of "Save" in the dialog of the list gives. */
async function savedCsv(page: Page): Promise<string[]> {
  await page.getByRole('button', { name: 'Save as CSV' }).first().click()
  const dialog = page.getByRole('dialog')
  const waiting = page.waitForEvent('download')
  await dialog.getByRole('button', { name: 'Save', exact: true }).click()
  const download: Download = await waiting
  await dialog.getByText(/rows? saved\./).waitFor()
  await dialog.getByRole('button', { name: 'Close' }).click()
  assert.match(download.suggestedFilename(), /^[a-z-]+-\d{4}-\d\d-\d\d\.csv$/)
  return (await readFile((await download.path())!, 'utf8')).trimEnd().split('\r\n')
}

export const trafficStories: readonly Story[] = [
  {
    name: 'delivery: what waits is retried or canceled, what failed is resent, copies and webhooks are linked, the list is saved',
    async run(web) {
      const { appliance, team, hook, ids } = web
      hook.answer((_request, response) => {
        response.statusCode = 500
        response.end('{"error":"not today"}')
      })
      const webhook = data<Json>(
        await appliance.call('POST', '/webhooks', team.key, { url: hook.url('/orders'), event_types: ['*'] }),
        201,
      )
      const [full, other] = await send(web, {
        'full@friend.test': bounced(web, '552 5.2.2 mailbox full'),
        'later@friend.test': deferred(web),
      })
      await appliance.settle()
      const tab = await web.open(web.owner)
      const { page } = tab
      await tab.goTo(`/console/${ids.team}/delivery?open=${full}`)
      await page.getByText('Their mailbox has no room.').waitFor()
      await page.getByText('failed / bounced').waitFor()
      await page.getByText('answered 500').waitFor()
      assert.match(
        (await page.getByRole('link', { name: /^message\.bounced to hooks\.test:\d+$/ }).getAttribute('href')) ?? '',
        new RegExp(`/webhooks/${webhook.id}\\?open=whda_`),
      )
      await tab.check('a failed delivery')
      await tab.showAs('phone')
      const gaps = (await page.evaluate(STEP_GAPS)) as number[]
      assert.ok(
        gaps.every((gap) => gap >= 8),
        `a step of several lines keeps its distance from the next one: ${gaps.join(', ')} px`,
      )
      await tab.showAs('light')
      await page.getByRole('button', { name: 'Resend' }).click()
      await page.getByText('Send the message to full@friend.test again?').waitFor()
      await tab.check('the question before resending', 'dialog[open]')
      await page.getByRole('dialog').getByRole('button', { name: 'Resend' }).click()
      await page.waitForURL((url) => url.searchParams.get('open') !== full)
      await page.getByRole('link', { name: full!, exact: true }).click()
      await page.getByText('Resent as').waitFor()
      assert.equal(await page.getByRole('button', { name: 'Resend' }).count(), 0)
      await page.getByRole('link', { name: 'later@friend.test' }).click()
      await page.waitForURL(new RegExp(`open=${other}`))
      await page.getByRole('button', { name: 'Retry now' }).click()
      await page.getByText('The next attempt is due now.').waitFor()
      const [waiting] = await send(web, { 'slow@friend.test': deferred(web) })
      await tab.goTo(`/console/${ids.team}/delivery?status=pending&open=${waiting}`)
      await page.getByRole('button', { name: 'Cancel it' }).click()
      await page.getByText('The message was canceled before it was sent.').waitFor()
      await tab.goTo(`/console/${ids.team}/delivery?q=full`)
      const [head, ...rows] = await savedCsv(page)
      assert.match(head!, /^id,created_at,status,status_reason,to_email/)
      assert.equal(rows.length, 2)
      assert.ok(rows.every((row) => row.includes('full@friend.test')))
      tab.hasNoComplaints('delivery')
      await tab.close()
      data(await appliance.call('DELETE', `/webhooks/${webhook.id}`, team.key))
    },
  },
  {
    name: 'inbound: the checks are sentences, a refused sender is let in, and only those with access open the message',
    async run(web) {
      const { appliance, team, ids } = web
      const box = await team.mailbox('gate@harbour.test')
      const filter = { mode: 'allowlist', rules: [{ type: 'deny', pattern: '@friend.test' }] }
      data(await appliance.call('PUT', `/mailboxes/${box.id}/filters`, team.key, filter))
      const bring = async () => {
        await using client = await SmtpClient.greet(appliance.ports.smtp)
        const content = plainMail({ from: 'fay@friend.test', to: box.email })
        return (await client.mail({ from: 'b@out.test', to: [box.email], content })).text
      }
      assert.match(await bring(), /^550 5\.7\.1/)
      const tab = await web.open(web.owner)
      const { page } = tab
      await tab.goTo(`/console/${ids.team}/inbound?status=refused&mailbox=${box.id}`)
      await page.getByRole('button', { name: `Mailbox: ${box.id}, take this filter away` }).waitFor()
      await page.locator('.row-button').first().click()
      await page.getByText('A sender filter does not accept this sender.').waitFor()
      await page.getByText('friend.test has no DMARC record').waitFor()
      await tab.check('a refused message')
      await page.getByRole('button', { name: 'Let this sender in' }).click()
      await page.getByText('Removes “deny @friend.test”').waitFor()
      await page.getByRole('radio', { name: 'Everyone at friend.test' }).check()
      await page.getByText('Adds “allow @friend.test” to the sender filter of the mailbox gate@harbour.test.').waitFor()
      await tab.check('the dialog that lets a sender in', 'dialog[open]')
      await page.getByRole('dialog').getByRole('button', { name: 'Let them in' }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      const kept = data<Json>(await appliance.get(`/mailboxes/${box.id}/filters`, team.key))
      assert.deepEqual(kept, { mode: 'allowlist', rules: [{ type: 'allow', pattern: '@friend.test' }] })
      assert.match(await bring(), /^250 /)
      await tab.goTo(`/console/${ids.team}/inbound?mailbox=${box.id}&status=stored`)
      await page.locator('.row-button').first().click()
      await page.getByText('It is in a mailbox that you have no access to.').waitFor()
      const grant = `/mailboxes/${box.id}/people/${web.owner.memberId}`
      data(await appliance.call('PUT', grant, team.key, { access: 'reader' }), 201)
      await page.reload()
      await tab.isDrawn()
      await page.getByRole('button', { name: 'Open message' }).click()
      await page.getByText('Written by a stranger').waitFor()
      await tab.check('a stored message', 'dialog[open]')
      await page.keyboard.press('Escape')
      const [head, row] = await savedCsv(page)
      assert.match(`${head}\n${row}`, /^id,created_at,status,reason.*\nilog_.*stored/)
      tab.hasNoComplaints('inbound')
      await tab.close()
    },
  },
  {
    name: 'webhooks: samples name the address, failed events are replayed together, and a new secret says how long the old one is valid',
    async run(web) {
      const { appliance, team, hook, ids } = web
      const url = hook.url('/orders')
      const webhook = data<Json>(
        await appliance.call('POST', '/webhooks', team.key, { url, event_types: ['message.bounced'] }),
        201,
      )
      await failEvent(web, webhook.id)
      const tab = await web.open(web.owner)
      const { page } = tab
      await tab.goTo(`/console/${ids.team}/webhooks/${webhook.id}?result=failed`)
      await page.locator('.row-button').first().click()
      await page.getByText('8 of 8').first().waitFor()
      await page.getByText('not today').first().waitFor()
      await page.getByRole('button', { name: 'All attempts of this event' }).click()
      await page.waitForURL(/event=evt_/)
      // What the API does not search by is said; a part of one event type is found.
      await page.getByRole('searchbox').fill('evt_123')
      await page.getByText('Not searched yet').waitFor()
      await page.getByRole('searchbox').fill('bounced')
      await page.waitForURL(/event=bounced/)
      await page.getByText('Not searched yet').waitFor({ state: 'detached' })
      await page.locator('.row-button').first().click()
      await page.getByText('As JSON').first().click()
      await page.getByText('"event_type": "message.bounced"').waitFor()
      hook.answer((_request, response) => response.end('ok'))
      await page.getByRole('button', { name: 'Replay failed events' }).click()
      await page.getByText('1 event not delivered').waitFor()
      await tab.check('the question before a replay', 'dialog[open]')
      await page.getByRole('dialog').getByRole('button', { name: 'Deliver again' }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await appliance.settle()
      assert.equal(data<Json>(await appliance.get(`/webhooks/${webhook.id}/failed-events`, team.key)).events, 0)
      await page.getByRole('link', { name: 'Verify signatures' }).click()
      await page.getByRole('link', { name: 'Python' }).click()
      const code = await page.locator('pre.code-block').innerText()
      assert.ok(code.includes(url) && code.includes(webhookSamples.python.trim()))
      assert.ok(!(await page.content()).includes(webhook.signing_secret))
      await tab.check('samples')
      await page.getByRole('button', { name: 'Rotate the secret' }).click()
      await page.getByLabel('The old secret is valid').selectOption('604800')
      await page.getByRole('dialog').getByRole('button', { name: 'Rotate the secret' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Done' }).click()
      await page.getByText('Requests are signed with the old secret as well until').waitFor()
      tab.hasNoComplaints('webhooks')
      await tab.close()
      data(await appliance.call('DELETE', `/webhooks/${webhook.id}`, team.key))
    },
  },
  {
    name: 'suppressed: a list is imported, what is no address is named, and a row shows its evidence',
    async run(web) {
      const tab = await web.open(web.owner)
      const { page } = tab
      await tab.goTo(`/console/${web.ids.team}/suppressed?q=import.test`)
      await page.getByRole('button', { name: 'Import' }).click()
      await page
        .getByRole('textbox', { name: 'Addresses' })
        .fill('email,note\n"one@import.test","Left, for good"\ntwo@import.test\nno address')
      await page.getByText('3 addresses found').waitFor()
      await tab.check('the dialog of an import', 'dialog[open]')
      await page.getByRole('dialog').getByRole('button', { name: 'Suppress them' }).click()
      await page.getByText('2 addresses suppressed, 0 were suppressed before.').waitFor()
      await page.getByText('1 entry is no valid address').waitFor()
      await page.getByRole('dialog').getByRole('button', { name: 'Done' }).click()
      await page
        .getByRole('row', { name: /one@import\.test/ })
        .locator('.row-button')
        .click()
      await page.getByText('A person or a program of the team added it.').waitFor()
      await tab.check('a suppressed address')
      const csv = await savedCsv(page)
      assert.deepEqual(
        csv.map((line) => line.replace(/,[^,]*$/, '')),
        ['email,reason,note,source_message_id', 'two@import.test,manual,,', 'one@import.test,manual,"Left, for good",'],
      )
      tab.hasNoComplaints('suppressed')
      await tab.close()
    },
  },
]
