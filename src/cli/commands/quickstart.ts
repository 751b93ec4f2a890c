// `mailstead quickstart`: puts this machine on the internet as the mail server of a domain, and watches until it is.

import { pause, systemClock } from '../../base/clock.ts'
import { choose } from '../../config/chosen-settings.ts'
import { openDataFolder } from '../../config/data-folder.ts'
import { textOf } from '../../maintenance/quickstart/plan.ts'
import type { RecordStatus } from '../../maintenance/quickstart/published.ts'
import { zoneFile } from '../../maintenance/quickstart/records.ts'
import { type Call, type Command, type CommandResult, TEAM_OPTION } from '../frame/command.ts'
import { type Made, openAccounts, type SetUpAccounts } from './quickstart-accounts.ts'
import { headLines, madeLines, RELAY_LINES, recordLines, sectionLines } from './quickstart-lines.ts'
import { examine, type Outlook } from './quickstart-outlook.ts'

/** Between two looks at DNS, ms. */
const LOOK_MS = 15_000

export const quickstart: Command = {
  words: 'quickstart',
  summary: 'Put this machine on the internet as the mail server of a domain; repeat it at any time.',
  operands: ['email'],
  options: {
    host: { value: 'name', says: 'name of the mail server; found out unless given' },
    address: {
      value: 'ip',
      says: 'public address of this machine, may be repeated; found out unless given',
      many: true,
    },
    'keep-ports': { says: 'keep the ports of the settings: the public ones are forwarded to them' },
    yes: {
      says: 'change settings and create accounts without asking; agrees to the terms of the certificate authority',
    },
    ...TEAM_OPTION,
  },
  examples: ['mailstead quickstart ana@example.com', 'mailstead quickstart ana@example.com --yes --json'],
  async run(call) {
    const outlook = await examine(call)
    say(call, [...headLines(outlook), ...sectionLines(outlook)])
    if (!(await isAgreed(call, outlook))) return declined(outlook)
    if (Object.keys(outlook.plan.settings).length > 0) await store(call, outlook)
    const accounts = await openAccounts(call, outlook)
    return call.json ? once(outlook, accounts) : watch(call, outlook, accounts)
  },
}

function say(call: Call, lines: readonly string[]): void {
  if (!call.json) call.print({ data: {}, lines })
}

/** Whether the changes are wanted; without any there is nothing to agree to. */
async function isAgreed(call: Call, { plan, isComplete }: Outlook): Promise<boolean> {
  if (call.has('yes') || (isComplete && Object.keys(plan.settings).length === 0)) return true
  const input = call.json ? null : call.input()
  if (input === null || !input.isTerminal) return false
  call.note(
    'Store these settings, and create what is missing? You agree to the terms of the certificate authority. [y/N]',
  )
  for await (const bytes of input.bytes) return /^\s*y(es)?\s*$/i.test(Buffer.from(bytes).toString())
  return false
}

function declined(outlook: Outlook): CommandResult {
  return {
    data: dataOf(outlook, null, []),
    lines: [],
    failure: 'Nothing was changed. Run it again with --yes to store these settings and to create what is missing.',
  }
}

async function store(call: Call, { plan }: Outlook): Promise<void> {
  await openDataFolder(call.config)
  await choose(call.config.DATA_DIR, plan.settings)
  call.reload()
}

/** For a program: what is so now. */
async function once(outlook: Outlook, accounts: SetUpAccounts): Promise<CommandResult> {
  await accounts.look()
  return { data: dataOf(outlook, accounts.made, await accounts.records()), lines: [] }
}

/** For a person: until the records that mail needs are there. */
async function watch(call: Call, outlook: Outlook, accounts: SetUpAccounts): Promise<CommandResult> {
  const stopped = call.untilStopped()
  const printed = new Set<RecordStatus['value']>()
  await accounts.look()
  say(call, madeLines(outlook, accounts.made))
  let records = await accounts.records()
  say(call, ['Records to publish', ...recordLines(records), '', 'The same as a zone file', ...zoneFile(records), ''])
  for (const { isPublished, name, value } of records) if (isPublished) printed.add(`${name} ${value}`)
  while (!isReady(records, accounts.made) && !stopped.aborted) {
    if (printed.size < records.length) call.note('Waiting for DNS. Ctrl+C is safe: run this again at any time.')
    await pause(systemClock, LOOK_MS, stopped)
    if (stopped.aborted) break
    const before = accounts.made
    await accounts.look()
    if (before.mailbox === null && accounts.made.mailbox !== null) say(call, madeLines(outlook, accounts.made))
    records = await accounts.records()
    const fresh = records.filter((one) => one.isPublished && !printed.has(`${one.name} ${one.value}`))
    for (const { name, value } of fresh) printed.add(`${name} ${value}`)
    say(call, recordLines(fresh))
  }
  return { data: dataOf(outlook, accounts.made, records), lines: endLines(records, accounts.made) }
}

function isReady(records: readonly RecordStatus[], { mailbox }: Made): boolean {
  return mailbox !== null && records.every(({ isRequired, isPublished }) => isPublished || !isRequired)
}

function endLines(records: readonly RecordStatus[], made: Made): string[] {
  const missing = records.filter(({ isPublished }) => !isPublished)
  if (!isReady(records, made)) return [`${missing.length} records are missing. Run this again when they are published.`]
  // Mail arrives; the other half is missing.
  if (made.needsRelay) return ['Mail arrives.', ...RELAY_LINES]
  if (missing.length === 0) return ['Every record is there. To check from outside: mailstead doctor --outside']
  return [`Mail works. Recommended records that are missing: ${missing.length}. mailstead domain show lists them.`]
}

function dataOf(outlook: Outlook, made: Made | null, records: readonly RecordStatus[]): object {
  const { email, domain, host, addresses, sections, plan, runs } = outlook
  return {
    ...{ email, domain, mail_host: host },
    addresses: addresses.map(({ address, names }) => ({ address, reverse_names: names })),
    findings: sections.flatMap(({ title, findings }) => findings.map((finding) => ({ section: title, ...finding }))),
    settings: Object.fromEntries(Object.entries(plan.settings).map(([name, value]) => [name, textOf(value)])),
    restart_needed: runs && Object.keys(plan.settings).length > 0,
    ...(made === null ? {} : madeData(made)),
    records: records.map(({ isRequired, isPublished, ...record }) => {
      return { ...record, is_required: isRequired, is_published: isPublished }
    }),
    zone_file: records.length === 0 ? null : `${zoneFile(records).join('\n')}\n`,
    is_ready: made !== null && isReady(records, made),
  }
}

function madeData({ team, domain, mailbox, ownerLink, password, needsRelay }: Made): object {
  return {
    team_id: team.id,
    domain_id: domain.id,
    domain_status: domain.verificationStatus,
    mailbox_id: mailbox?.id ?? null,
    owner_link: ownerLink,
    app_password: password,
    needs_sending_account: needsRelay,
  }
}
