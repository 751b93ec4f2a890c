// Programs of a mailbox under a send policy: what they may not make, and which messages of strangers they read (docs/design/agents.md §13, §14).

import { ProductError } from '../base/errors.ts'
import type { MailboxPrincipal } from '../directory/names/principal.ts'
import { jsonOf } from './json-text.ts'
import type { SendableAnswer } from './reply.ts'
import type { RequestContext } from './request-context.ts'
import { isBytes, isPage, isStream, type Route } from './route.ts'

/**
 * Operations that would send without the policy, or weaken it: more credentials, forwards, scripts, automatic answers, identities, and the POST
 * to an address that a message of a stranger names.
 */
const EVADES_POLICY =
  /^(?:POST|PUT|PATCH) \/mailbox\/(?:(?:app-passwords|forwards|sieve-scripts|vacation-response|identities|sender-filter)(?:\/|$)|messages\/[^/]+\/unsubscribe$)/
/** Answers without a word that a stranger wrote. Whatever is not listed counts as reading. */
const WORDLESS: ReadonlySet<string> = new Set(
  `getMailboxMe getMailboxSession getMailboxUsage getMailboxRemoteAccount getClientSettings getMessageCount
  listFolders getFolder createFolder updateFolder deleteFolder listLabels listQuotas updateQuota
  listIdentities createIdentity updateIdentity deleteIdentity listAppPasswords
  listThrowAwayAddresses createThrowAwayAddress getThrowAwayAddress updateThrowAwayAddress deleteThrowAwayAddress
  listForwards getForward deleteForward getVacationResponse getSenderFilter
  listSieveScripts getSieveScript validateSieveScript deleteSieveScript
  listMessageChanges listThreadChanges listFolderChanges listSubmissionChanges listIdentityChanges listQuotaChanges
  listSyncChanges listSyncQueryChanges listMessageQueryChanges listThreadQueryChanges listFolderQueryChanges
  updateMessages updateThreads updateMessageKeywords updateMessageLabel restoreChangedThreads deleteMessage
  copyMessages lookupBlobs copyBlobs createAttachment deleteAttachment deleteDraft
  sendMessage sendDraft sendEmail sendBatch cancelEmail getSubmission listSubmissions cancelSubmission`.split(/\s+/),
)
const IDS = /\b(?:msg|thr)_[a-z0-9]{24}\b/g

/** Whether a send policy limits this program. */
export function isUnderPolicy(request: RequestContext): boolean {
  return programOf(request) !== null
}

/** Whether programs under a policy never have an operation. */
export function evadesPolicy({ method, path }: Pick<Route, 'method' | 'path'>): boolean {
  return EVADES_POLICY.test(`${method} ${path}`)
}

/** 403 for what would be a way around a person. */
export function requirePersonFor(request: RequestContext): void {
  if (!evadesPolicy(request.match.entry!.route) || programOf(request) === null) return
  throw new ProductError(
    'insufficient_permissions',
    'A send policy limits the programs of this mailbox, so its keys cannot make this. Ask its owner, who signs in.',
  )
}

/** Notes messages whose content the answer has, before it is sent. Stricter than needed: an answer with their ids alone counts too. */
export async function noteReads(request: RequestContext, outcome: SendableAnswer): Promise<void> {
  const program = programOf(request)
  const { operation } = request.match.entry!.route
  const { bare, kind } = request.input.query as { bare?: boolean; kind?: string }
  // A code has no place for an instruction; a URL has.
  const isWordless = WORDLESS.has(operation) || (bare === true && kind !== 'link')
  if (program === null || isPage(outcome) || isStream(outcome) || isWordless) return
  const { reads } = request.listener.app.outbound.held
  const named = [...Object.values(request.input.params), messageOfFile(request, program) ?? ''].join(' ')
  const text = isBytes(outcome) ? named : `${named} ${jsonOf(outcome.data)}`
  const ids = new Set(text.match(IDS))
  const of = (prefix: string) => [...ids].filter((id) => id.startsWith(prefix))
  // A thread counts with all its messages only where they are shown: its own page.
  const threads = /\bthr_/.test(named) ? of('thr_').filter((id) => named.includes(id)) : []
  await reads.note(program, { messages: of('msg_'), threads })
  // Contacts and removed messages have ids of their own, or none: a client that asks for them has read a message.
  if (isBytes(outcome) || ids.size === 0) await reads.renew(program.mailboxId)
}

/** `msg_…` of the message that a file belongs to; null for an upload. */
function messageOfFile({ input, listener }: RequestContext, { mailboxId }: MailboxPrincipal): string | null {
  const { attachment_id: id } = input.params as { attachment_id?: string }
  const { accounts, read } = listener.app.store
  const account = id === undefined ? undefined : accounts.byMailbox(mailboxId)
  return (account && read.contents.file(account, id!)?.messageId) ?? null
}

function programOf({ principal, match, listener }: RequestContext): MailboxPrincipal | null {
  if (principal?.kind !== 'mailbox' || principal.person !== undefined || match.entry === null) return null
  return listener.app.outbound.held.policies.isUnder(principal.mailboxId) ? principal : null
}
