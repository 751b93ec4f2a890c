// The session document: the capabilities of a mailbox credential, derived from the routes, so that it never promises too much.

import type { Static } from 'typebox'
import { isOffered } from '../../../access/permitted.ts'
import { notFound } from '../../../base/errors.ts'
import { CLIENT_PROTOCOLS } from '../../../config/client-protocols.ts'
import type { Config } from '../../../config/config.ts'
import type { Mailbox } from '../../../directory/mailboxes/mailboxes.ts'
import { allows } from '../../../directory/names/permissions.ts'
import type { MailboxPrincipal } from '../../../directory/names/principal.ts'
import { evadesPolicy } from '../../../http/program-guard.ts'
import { type Route, route } from '../../../http/route.ts'
import { accountOf } from '../../rules/account.ts'
import { MAILBOX_LIMITS } from '../../schemas/limits.ts'
import { CAPABILITY_ENDPOINTS, ENDPOINT_GROUPS, GATED_ENDPOINTS, Session } from '../../schemas/session.ts'
import { SYNC_TYPES } from '../changes/sync.ts'
import { LIST_TYPES } from '../folders/query-changes.ts'

const UPDATE = 'PATCH /mailbox/messages/{message_id}'
const DELETE = 'DELETE /mailbox/messages/{message_id}'
const SYNC = 'GET /mailbox/sync/changes'
const FOLLOW = 'GET /mailbox/sync/query-changes'
/** Operations an agent's inbox never has, for any key (docs/design/mailbox.md §13). */
const NOT_FOR_AGENTS =
  /^(?:PUT \/mailbox\/vacation-response|[A-Z]+ \/mailbox\/(?:app-passwords|forwards|sender-filter)(?:\/.*)?)$/
/**
 * Operations that the mailbox of an outside account never has: its provider filters, forwards and answers its mail
 * (docs/design/outside-accounts.md §1).
 */
const NOT_FOR_OUTSIDE = /^[A-Z]+ \/mailbox\/(?:sieve-scripts|sender-filter|vacation-response|forwards)(?:\/.*)?$/
const STATE_OF_OUTSIDE = 'GET /mailbox/remote-account'
const UPDATE_FIELDS = ['keywords', 'flags', 'folder_ids']

/** @param others the other routes of the Mailbox API */
export function sessionRoute(others: readonly Route[]): Route {
  const self: Route = route({
    method: 'GET',
    path: '/mailbox/session',
    docs: {
      operation: 'getMailboxSession',
      tag: 'Mailbox',
      summary: 'Get the capabilities and limits of this credential in its mailbox',
      description:
        'A capability is true when this credential can use it now; a gate is true when the feature is disabled. `endpoints` lists ' +
        'the permitted operations. The ETag covers `states`, so it changes with every change in the mailbox.',
    },
    access: { as: 'mailbox', permission: 'mailbox.read' },
    reply: { schema: Session, etag: true },
    handle({ principal, app }): Static<typeof Session> {
      const account = accountOf(app, principal)
      const mailbox = app.directory.mailboxes.byId(principal.mailboxId)
      if (mailbox === undefined) throw notFound('mailbox')
      const { id, email, displayName } = mailbox
      const { messages, folders, threads, submissions, identities, quotas } = account.states
      const isHeld = principal.person === undefined && app.outbound.held.policies.isUnder(mailbox.id)
      const isAvailable = (one: Route) => hasOperation(mailbox, nameOf(one)) && !(isHeld && evadesPolicy(one))
      const offered = [...others, self].filter(isAvailable)
      return {
        mailbox: { id, email, ...(displayName === null ? {} : { display_name: displayName }) },
        states: { messages, folders, threads, submissions, identities, quotas },
        limits: MAILBOX_LIMITS,
        ...abilities(principal, offered, app.config, mailbox),
      }
    },
  })
  return self
}

/** Whether a mailbox of this kind has an operation at all. */
function hasOperation({ isAgent, domainId }: Mailbox, name: string): boolean {
  if (isAgent && NOT_FOR_AGENTS.test(name)) return false
  return domainId === null ? !NOT_FOR_OUTSIDE.test(name) : name !== STATE_OF_OUTSIDE
}

/** The members of the session derived from the permitted routes, and from what mail programs may do. */
function abilities(
  principal: MailboxPrincipal,
  routes: readonly Route[],
  config: Config,
  mailbox: Mailbox,
): Pick<Static<typeof Session>, 'capabilities' | 'gated' | 'endpoints'> {
  const described = routes.filter(({ hidden }) => hidden !== true)
  const open = described.filter(({ gate }) => gate === undefined || !config.MAILBOX_GATED.includes(gate))
  const callable = open.filter((candidate) => mayCall(principal, candidate))
  const names = new Set(callable.map(nameOf))
  // One route, with the additional scope for permanent deletion.
  if (names.has(DELETE) && allows(principal.permissions, 'mailbox.write')) names.add(`${DELETE}?permanent=true`)
  const flags = <T extends Record<string, string>>(endpoints: T) =>
    Object.fromEntries(Object.entries(endpoints).map(([flag, name]) => [flag, names.has(name)])) as {
      [K in keyof T]: boolean
    }
  const { messages, threads, drafts, folders, submissions, identities, quotas, attachments } = CAPABILITY_ENDPOINTS
  const protocols = CLIENT_PROTOCOLS.map((name) => [name, isOffered(name, principal, mailbox, config)] as const)
  const gates = [...Object.entries(flags(GATED_ENDPOINTS)), ...protocols].map(([feature, isOpen]) => [feature, !isOpen])
  return {
    capabilities: {
      messages: { ...flags(messages), update_fields: names.has(UPDATE) ? UPDATE_FIELDS : [] },
      threads: flags(threads),
      drafts: flags(drafts),
      folders: flags(folders),
      submissions: flags(submissions),
      identities: flags(identities),
      quotas: flags(quotas),
      attachments: flags(attachments),
      sync: {
        typed_changes: names.has(SYNC),
        types: names.has(SYNC) ? [...SYNC_TYPES] : [],
        query_changes: names.has(FOLLOW) ? [...LIST_TYPES] : [],
      },
    },
    gated: Object.fromEntries(gates) as Static<typeof Session>['gated'],
    endpoints: Object.fromEntries(
      ENDPOINT_GROUPS.map((group) => [group, callable.filter(({ tag }) => tag.toLowerCase() === group).map(nameOf)]),
    ),
  }
}

function nameOf({ method, path }: Route): string {
  return `${method} ${path}`
}

function mayCall(principal: MailboxPrincipal, { as, permission, alsoNeeds }: Route): boolean {
  if (as !== 'mailbox' || (alsoNeeds !== undefined && !allows(principal.permissions, alsoNeeds))) return false
  const needed = permission === undefined ? [] : [permission].flat()
  return needed.length === 0 || needed.some((one) => allows(principal.permissions, one))
}
