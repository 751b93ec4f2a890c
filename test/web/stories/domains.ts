// Domains: one is added, its records appear in the zone while the page watches, and it is deleted.

import assert from 'node:assert/strict'
import type { Story } from '../story.ts'

export const domainStories: readonly Story[] = [
  {
    name: 'a domain is added, its records are compared word by word, found, and the domain is deleted',
    async run(web) {
      const { page, ...browser } = await open(web)
      await page.getByRole('button', { name: 'Add domain' }).first().click()
      await page.getByLabel('Domain', { exact: true }).fill('not a domain')
      await page.getByRole('dialog').getByRole('button', { name: 'Add domain' }).click()
      await page.locator('[aria-invalid="true"]').waitFor()
      await page.getByLabel('Domain', { exact: true }).fill('boats.example')
      await page.getByRole('dialog').getByRole('button', { name: 'Add domain' }).click()
      await page.getByRole('heading', { name: 'boats.example' }).waitFor()
      await page.getByText('4 records differ').waitFor()
      browser.forgive(/422/)
      await seeInAnotherTab(web, new URL(page.url()).pathname)
      await publish(web, 'boats.example')
      web.clock.advance(11_000)
      await page.clock.fastForward(11_000)
      await page.getByRole('button', { name: 'Check now' }).click()
      await page.getByText('All records right').waitFor()
      await report(web, 'boats.example')
      await page.getByRole('link', { name: 'Who sends' }).click()
      await page.getByText('3 of 4 messages in 28 days passed DMARC, by reports of big.example.').waitFor()
      await page.getByText('Too little to know').waitFor()
      await page.getByText('Known receivers with reports: 0; 3 are needed.').waitFor()
      await page.getByText('5 of 7 sessions in 28 days had TLS as required, by reports of big.example.').waitFor()
      await page.getByText('certificate-expired').waitFor()
      await page.getByRole('link', { name: 'Settings' }).click()
      await page.getByRole('button', { name: 'Delete domain' }).click()
      const confirm = page.getByRole('dialog').getByRole('button', { name: 'Delete domain' })
      assert.ok(await confirm.isDisabled(), 'the name has to be typed')
      await page.getByLabel('Type boats.example to go on').fill('boats.example')
      await confirm.click()
      await page.waitForURL(/\/domains$/)
      browser.done('domains')
      await browser.close()
    },
  },
]

async function open(web: Parameters<Story['run']>[0]) {
  const tab = await web.open(web.owner)
  await tab.page.clock.install()
  await tab.goTo(`/console/${web.ids.team}/domains`)
  return {
    page: tab.page,
    forgive: (pattern: RegExp) => tab.forgive(pattern),
    done: (where: string) => tab.hasNoComplaints(where),
    close: () => tab.close(),
  }
}

/** The server checks a domain once in ten seconds: another tab shows the answers of the last check. */
async function seeInAnotherTab(web: Parameters<Story['run']>[0], path: string): Promise<void> {
  const tab = await web.open(web.owner)
  const error = { code: 'rate_limit_exceeded', message: 'Too many requests to this resource.' }
  await tab.page.route('**/verify', (route) => route.fulfill({ status: 429, json: { error } }))
  await tab.goTo(path)
  await tab.page.getByText('4 records differ').waitFor()
  assert.equal(await tab.page.getByRole('alert').count(), 0)
  tab.forgive(/429/)
  tab.hasNoComplaints('a domain in another tab')
  await tab.close()
}

/** One reporter, who receives no mail of the domain, says what it saw. */
async function report({ appliance, clock }: Parameters<Story['run']>[0], domain: string): Promise<void> {
  const { dmarcReports, tlsReports } = appliance.app
  const at = clock.now()
  const seconds = Math.floor(at / 1000)
  const rows = [
    ['192.0.2.1', 3, 'pass'],
    ['203.0.113.9', 1, 'fail'],
  ].map(
    ([ip, count, result]) =>
      `<record><row><source_ip>${ip}</source_ip><count>${count}</count><policy_evaluated><disposition>none</disposition>` +
      `<dkim>${result}</dkim><spf>${result}</spf></policy_evaluated></row></record>`,
  )
  const head = `<org_name>Big</org_name><report_id>r1</report_id><date_range><begin>${seconds}</begin><end>${seconds}</end></date_range>`
  const policy = `<policy_published><domain>${domain}</domain><p>none</p></policy_published>`
  const xml = `<feedback><report_metadata>${head}</report_metadata>${policy}${rows.join('')}</feedback>`
  await dmarcReports.take(Buffer.from(xml), 'big.example')
  const time = new Date(at).toISOString()
  const tls = {
    ...{ 'organization-name': 'Big', 'report-id': 'r1' },
    'date-range': { 'start-datetime': time, 'end-datetime': time },
    policies: [
      {
        policy: { 'policy-type': 'sts', 'policy-domain': domain },
        summary: { 'total-successful-session-count': 5, 'total-failure-session-count': 2 },
        'failure-details': [{ 'result-type': 'certificate-expired', 'failed-session-count': 2 }],
      },
    ],
  }
  await tlsReports.take(Buffer.from(JSON.stringify(tls)), 'big.example')
}

/** Puts the records that the API names into the zone of the test. */
async function publish({ appliance, team }: Parameters<Story['run']>[0], name: string): Promise<void> {
  const { body } = await appliance.get(`/domains?q=${name}`, team.key)
  const { dns_records: records } = body.data[0]
  const { zone } = appliance.dns
  zone[name] = {
    MX: records.mx.map((one: { priority: number; target: string }) => ({
      priority: one.priority,
      exchange: one.target,
    })),
    TXT: [records.spf.value],
  }
  for (const { name: host, value } of [records.verification, records.dmarc, ...records.dkim])
    zone[host] = { TXT: [value] }
}
