// The accounts of `mailstead quickstart`, created where they are missing: owner and domain, and after its verification the mailbox with an app password.

import { presentNewAppPassword } from '../../api/schemas/app-password.ts'
import { ProductError } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import type { Domain } from '../../directory/domains/domain-record.ts'
import type { Team } from '../../directory/keys/teams.ts'
import type { Mailbox } from '../../directory/mailboxes/mailboxes.ts'
import { checkPublished, isSigned, type RecordStatus } from '../../maintenance/quickstart/published.ts'
import { issuerOf, setupRecords } from '../../maintenance/quickstart/records.ts'
import { openedByMailboxKey } from '../../people/opens.ts'
import { auditCommand, auditCredential } from '../frame/audit-command.ts'
import type { Call } from '../frame/command.ts'
import { chooseTeam } from '../frame/team-choice.ts'
import type { Outlook } from './quickstart-outlook.ts'

const WORDS = 'quickstart'

export interface Made {
  team: Team
  domain: Domain
  /** Null until the domain is verified. */
  mailbox: Mailbox | null
  /** Signs the owner in once, within a day; null where there was an owner. */
  ownerLink: string | null
  /** Of the mailbox, when it was created now. */
  password: string | null
  /** Nothing can leave: port 25 is closed outwards, and no sending account is connected. */
  needsRelay: boolean
}

export interface SetUpAccounts {
  readonly made: Made
  /** Asks DNS for the proof of the domain, and creates the mailbox once it is there. */
  look(): Promise<void>
  records(): Promise<RecordStatus[]>
}

/** @throws ProductError conflict where another team has verified the domain */
export async function openAccounts(call: Call, outlook: Outlook): Promise<SetUpAccounts> {
  const app = await call.open()
  const { team, ownerLink } = await ensureOwner(app, outlook, call.text('team'))
  const domain = await ensureDomain(app, team, outlook.domain)
  const needsRelay = isPortClosed(outlook) && app.outbound.accounts.providers.switchedOn(team.id).length === 0
  let made: Made = { team, domain, mailbox: null, ownerLink, password: null, needsRelay }
  return {
    get made() {
      return made
    },
    async look() {
      made = { ...made, domain: await verified(app, made.domain) }
      if (made.mailbox === null && made.domain.verificationStatus === 'verified') {
        made = { ...made, ...(await ensureMailbox(app, team, outlook.email)) }
      }
    },
    records: () => readRecords(app, outlook, made.domain),
  }
}

function isPortClosed({ sections }: Outlook): boolean {
  return sections.some(({ findings }) =>
    findings.some(({ check, level }) => check === 'port_25_out' && level === 'fail'),
  )
}

async function ensureOwner(app: Context, { email, domain }: Outlook, wanted: string | undefined) {
  const { people, db, directory } = app
  if (!people.firstRun.isOpen()) return { team: chooseTeam(directory, wanted), ownerLink: null }
  return db.write((tx) => {
    const team = people.firstRun.appoint(tx, { email, teamName: domain })
    auditCommand(tx, app, WORDS, { email, teamId: null })
    return { team, ownerLink: people.makeMoveLink(tx, email) }
  })
}

async function ensureDomain({ db, directory }: Context, team: Team, name: string): Promise<Domain> {
  const { domains } = directory
  const existing = domains.ofTeam(db.read, team.id, name)
  return existing === undefined ? domains.create(team.id, name) : domains.get(team.id, existing.id)!
}

/** A name server that does not answer is asked again at the next look. */
async function verified({ administration, directory }: Context, domain: Domain): Promise<Domain> {
  try {
    return (await administration.domains.verify(domain.teamId, domain.id)).domain
  } catch (error) {
    if (!(error instanceof ProductError) || error.code !== 'service_unavailable') throw error
    return directory.domains.get(domain.teamId, domain.id)!
  }
}

async function ensureMailbox(
  app: Context,
  team: Team,
  email: string,
): Promise<{ mailbox: Mailbox; password: string | null }> {
  const { directory, administration } = app
  const existing = directory.mailboxes.byEmail(email)
  if (existing !== undefined) return { mailbox: existing, password: null }
  const mailbox = await administration.mailboxes.create(team.id, { email })
  const issued = await directory.appPasswords.issue(team.id, mailbox.id, { name: 'quickstart', createdBy: 'operator' })
  const { id, name, permissions } = issued.record
  const target = { type: 'appPassword', id, label: name }
  await auditCredential(app, WORDS, { teamId: team.id, target, opens: openedByMailboxKey(email, permissions) })
  return { mailbox, password: presentNewAppPassword(issued).password_grouped }
}

async function readRecords(app: Context, { addresses, host }: Outlook, domain: Domain): Promise<RecordStatus[]> {
  const { config, resolver, directory } = app
  const tlsaKey = (await isSigned(resolver, host)) ? mailKey(app) : null
  const records = setupRecords({ config, domain, addresses, tlsaKey, issuer: issuerOf(config) })
  return checkPublished({ resolver, domains: directory.domains, domain }, records)
}

/** The certificate whose key stays: of an authority, or of the operator; null for one that is replaced by the first order. */
function mailKey({ certificates, config, folder }: Context): string | null {
  const { host } = certificates.pairs()
  if (host !== null) return host.cert
  return config.TLS_CERT_FILE === '' ? null : folder.tls.cert
}
