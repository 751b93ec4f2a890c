// bounces/ and reports/: real bounces and complaints of some 70 servers, by the share that is read right; and no report in what is none.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { classifyReply } from '../../../src/reports/reply-class.ts'
import { type Report, type ReportedRecipient, readReport } from '../../../src/reports/report.ts'
import { fixtureBytes, fixtureNames, fixturesMissing } from '../../support/fixtures.ts'

const FOLDER = 'bounces/sisimai'

/** What the vectors say of one recipient; `reason` in the words of their project. */
interface Expected {
  status: string
  reason: string
  isHard: boolean
}

/** Rows of expected.tsv by file. */
function expectations(): Map<string, Expected[]> {
  const byFile = new Map<string, Expected[]>()
  for (const row of fixtureBytes(`${FOLDER}/expected.tsv`).toString().trim().split('\n').slice(1)) {
    const [file, , status, , reason, isHard] = row.split('\t') as [string, string, string, string, string, string]
    const rows = byFile.get(file) ?? []
    byFile.set(file, [...rows, { status, reason, isHard: isHard === 'true' }])
  }
  return byFile
}

/** The address in question stands in the mail, and the report is not addressed to it. */
function isNamed(file: string, { finalRecipient }: ReportedRecipient): boolean {
  const text = fixtureBytes(`${FOLDER}/${file}`)
    .toString()
    .replace(/=\r?\n/g, '')
    .toLowerCase()
  const [local, domain] = finalRecipient.toLowerCase().split('@')
  return text.includes(`@${domain}`) && (/[^\x00-\x7f]/.test(local!) || text.includes(local!))
}

function isHard({ action, status, smtpCode, diagnostic, stage }: ReportedRecipient): boolean {
  const { type } = classifyReply({ smtpCode, enhancedCode: status, text: diagnostic }, stage)
  return action === 'failed' && type === 'permanent'
}

/** docs/design/sending.md §8 calls 5.2.1 a hard bounce, the vectors call it a suspended mailbox. */
function shouldBeHard({ isHard, status }: Expected): boolean {
  return isHard || status === '5.2.1'
}

class Tally {
  private right = 0
  private all = 0

  count(isRight: boolean): void {
    this.all++
    if (isRight) this.right++
  }

  get share(): number {
    return this.right / this.all
  }

  toString(): string {
    return `${this.right} of ${this.all} (${(this.share * 100).toFixed(1)} %)`
  }
}

test('bounces of servers, share by share', { skip: fixturesMissing(FOLDER) }, (context) => {
  const [recipients, hard, agreed, statuses] = [new Tally(), new Tally(), new Tally(), new Tally()]
  for (const [file, rows] of expectations()) {
    const report = readReport(fixtureBytes(`${FOLDER}/${file}`))
    for (const [index, row] of rows.entries()) {
      if (row.reason === 'feedback') continue
      // An auto-reply is no bounce, though the vectors hold some.
      if (row.reason === 'vacation') {
        recipients.count(report === null)
        continue
      }
      const found = report?.kind === 'bounce' ? report.recipients[index] : undefined
      recipients.count(found !== undefined && isNamed(file, found))
      if (!found) continue
      agreed.count(isHard(found) === shouldBeHard(row))
      // "filtered" is what the vectors call "user unknown" where no command was told: docs/design/sending.md §8 goes by what was said.
      if (row.reason !== 'filtered') hard.count(isHard(found) === shouldBeHard(row))
      // Codes such as 5.0.911 are those of the vectors' project, no server said them.
      if (!/^[45]\.0\.9\d\d$/.test(row.status)) statuses.count(found.status === row.status)
    }
  }
  context.diagnostic(`recipients found: ${recipients}`)
  context.diagnostic(`hard or soft: ${hard}; with those the vectors call filtered: ${agreed}`)
  context.diagnostic(`status: ${statuses}`)
  assert.ok(recipients.share >= 0.978, `${recipients}`)
  assert.ok(hard.share >= 0.96, `${hard}`)
  assert.ok(agreed.share >= 0.94, `${agreed}`)
  assert.ok(statuses.share >= 0.985, `${statuses}`)
})

test('complaints of the same vectors', { skip: fixturesMissing(FOLDER) }, () => {
  const read = (file: string) => readReport(fixtureBytes(`${FOLDER}/${file}`))
  const facts = (report: Report | null) =>
    report?.kind === 'complaint' ? [report.feedbackType, report.feedbackWord, ...report.originalRecipients] : null
  assert.deepEqual(facts(read('arf-02.eml')), ['abuse', 'abuse', 'this-local-part-does-not-exist-on-yahoo@yahoo.com'])
  assert.deepEqual(facts(read('arf-12.eml')), ['other', 'opt-out', 'user@example.com'])
  assert.deepEqual(facts(read('arf-15.eml')), ['abuse', 'abuse'])
  assert.deepEqual(facts(read('arf-17.eml')), ['abuse', 'abuse', 'kijitora@example.com', 'sabatora@example.net'])
  assert.deepEqual(facts(read('arf-19.eml')), ['other', 'auth-failure'])
  // A mail client that unsubscribes complains of nothing.
  assert.equal(read('arf-26.eml'), null)
})

test('the bounces of another collection', { skip: fixturesMissing('bounces/node-bounce-handler') }, (context) => {
  const mails = fixtureNames('bounces/node-bounce-handler', '.eml').filter((name) => !name.endsWith('exchange2.eml'))
  const found = new Tally()
  for (const name of mails) {
    const report = readReport(fixtureBytes(`bounces/node-bounce-handler/${name}`))
    found.count(report?.kind === 'bounce' && report.recipients.length === 1 && report.recipients[0]!.diagnostic !== '')
  }
  context.diagnostic(`recipients found: ${found}`)
  assert.equal(found.share, 1, `${found}`)
})

test('complaints in the forms of providers', { skip: fixturesMissing('bounces/node-bounce-handler') }, () => {
  const read = (name: string) => readReport(fixtureBytes(`bounces/node-bounce-handler/${name}`))
  const outlook = read('fbl-hotmail.txt')
  assert.ok(outlook?.kind === 'complaint')
  assert.deepEqual(outlook.originalRecipients, ['somerecipient@hotmail.com'])
  assert.equal(outlook.original.messageId, 'WEBfb154d7a03bb483591c696782382d12e@WEB')
  const aol = read('fbl-aol.txt')
  assert.ok(aol?.kind === 'complaint')
  assert.deepEqual([aol.userAgent, aol.originalRecipients], ['AOL SComp', []])
  const yahoo = read('arf4.txt')
  assert.ok(yahoo?.kind === 'complaint')
  assert.equal(yahoo.original.returnPath, 'predictions@mail.ganeshaspeaks.com')
  assert.equal(yahoo.arrivedAt, Date.UTC(2010, 1, 18, 11, 21, 50))
})

test('reports of RFC 5965 and RFC 6591', { skip: fixturesMissing('reports/mail-auth-arf') }, () => {
  const abuse = readReport(fixtureBytes('reports/mail-auth-arf/002.eml'))
  assert.ok(abuse?.kind === 'complaint')
  assert.equal(abuse.feedbackType, 'abuse')
  assert.equal(abuse.userAgent, 'SomeGenerator/1.0')
  assert.deepEqual(abuse.originalRecipients, ['user@example.com'])
  assert.equal(abuse.original.returnPath, 'somespammer@example.net')
  assert.equal(abuse.reportingMta, 'mail.example.com')
  assert.equal(abuse.arrivedAt, Date.UTC(2005, 2, 8, 18, 0, 0))
  const failure = readReport(fixtureBytes('reports/mail-auth-arf/004.eml'))
  assert.ok(failure?.kind === 'complaint')
  assert.deepEqual([failure.feedbackType, failure.feedbackWord], ['other', 'auth-failure'])
})

const ORDINARY = [
  'corpus/spamassassin',
  'threading/ponymail',
  'threading/jwz-messages',
  'clean-content',
  'bounces/not-a-bounce',
  'reports/mox',
  'mime/mail-parser',
  'mime/mime4j-testmsgs',
  'mime/mime4j-mimetools-testmsgs',
  'mime/enmime',
  'mime/webklex',
]

test('no ordinary message is parsed as a report', { skip: fixturesMissing('corpus') }, () => {
  let count = 0
  for (const folder of ORDINARY) {
    for (const name of fixtureNames(folder)) {
      // The one true bounce among them: sprynet.com knows no newsletter-request@imusic.com.
      if (`${folder}/${name}` === 'threading/jwz-messages/132.eml') continue
      count++
      const bytes = fixtureBytes(`${folder}/${name}`)
      // Also with the null sender, which auto-replies have too (RFC 3834 3.3).
      for (const mailFrom of [null, '', 'somebody@example.com']) {
        assert.equal(readReport(bytes, mailFrom), null, `${folder}/${name}`)
      }
    }
  }
  assert.ok(count > 600, `${count} mails`)
})
