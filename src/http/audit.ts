// Writes the audit log: an entry for every change that a route of the team, of the person or of the operator has made.

import { ID_PREFIX } from '../base/ids.ts'
import type { AuditEntry } from '../people/audit.ts'
import type { SignInSession } from '../people/sessions.ts'
import type { SendableAnswer } from './reply.ts'
import type { RequestContext } from './request-context.ts'
import { isBytes, isPage, isStream } from './route.ts'
import { cookieName, cookieOf } from './session-cookie.ts'

/** Members of a reply that name what was changed, the first that is a text. None of them holds a secret. */
const LABELS = ['email', 'name', 'domain', 'address', 'subject']
const KINDS = new Map<string, string>(Object.entries(ID_PREFIX).map(([kind, prefix]) => [prefix, kind]))

/** Called when a change has succeeded. An entry that cannot be written is logged: the change is done. */
export async function noteChange(request: RequestContext, outcome: SendableAnswer): Promise<void> {
  const { route } = request.match.entry!
  if (route.method === 'GET' || route.audited === false) return
  const { app } = request.listener
  try {
    const actor = actorOf(request)
    if (actor === null) return
    const target = targetOf(request, outcome)
    const where = { source: request.source, requestId: request.id }
    await app.people.audit.record({
      teamId: teamOf(request, outcome),
      actor,
      action: route.operation,
      ...{ target, opens: request.opens },
      ...where,
    })
  } catch (error) {
    app.log.error({ event: 'http.audit_not_written', err: error, request_id: request.id }, 'Audit entry not written')
  }
}

/** Null where nothing is audited: mailboxes except for what opens their messages, sending, and requests without a credential. */
function actorOf(request: RequestContext): AuditEntry['actor'] | null {
  const { principal, session, listener, match, opens } = request
  const { route } = match.entry!
  const person = session ?? sessionOfForm(request)
  const { surface = 'app', fresh = false } = route
  if ((principal?.kind === 'mailbox' && !fresh && opens === null) || surface === 'send' || surface === 'both')
    return null
  if (person !== undefined) return { kind: 'person', id: memberOf(request, person) ?? person.id, label: person.email }
  if (principal === null || principal.kind === 'person') return null
  if (principal.kind === 'operator') return { kind: 'key', id: principal.keyId, label: 'operator key' }
  const key = listener.app.directory.keys.get(principal.teamId, principal.keyId)
  return { kind: 'key', id: principal.keyId, label: key?.name ?? '' }
}

/** The member of the team that was changed, as whom the person acts. */
function memberOf({ principal, input, listener }: RequestContext, { email }: SignInSession): string | null | undefined {
  if (principal !== null) return principal.kind === 'person' ? undefined : principal.person?.memberId
  const { team_id: named } = input.params as { team_id?: string }
  return listener.app.people.members.of(email).find(({ teamId }) => teamId === named)?.id
}

/** Forms of the script-free pages carry the session in the cookie alone. */
function sessionOfForm(request: RequestContext): SignInSession | undefined {
  if (request.match.entry!.route.form !== true) return undefined
  const { config, people } = request.listener.app
  return people.sessions.read(cookieOf(request.header('cookie'), cookieName(config)))
}

/** The team that was changed: also where a person decides about something of a team, which the reply then names. */
function teamOf({ principal, input }: RequestContext, outcome: SendableAnswer): string | null {
  if (principal?.kind === 'team' || principal?.kind === 'mailbox') return principal.teamId
  const { team_id: named } = input.params as { team_id?: string }
  if (named !== undefined || principal?.kind !== 'person') return named ?? null
  const { team_id: changed } = shownIn(outcome)
  return typeof changed === 'string' ? changed : null
}

/** The data of a reply; empty where it has none. */
function shownIn(outcome: SendableAnswer): Record<string, unknown> {
  const data = isBytes(outcome) || isPage(outcome) || isStream(outcome) ? null : outcome.data
  return (typeof data === 'object' && data !== null ? data : {}) as Record<string, unknown>
}

/** What was changed: the last id of the path, else that of the reply. */
function targetOf(request: RequestContext, outcome: SendableAnswer): AuditEntry['target'] {
  const shown = shownIn(outcome)
  const named = Object.values(request.input.params).findLast((one): one is string => typeof one === 'string')
  const id = named ?? (typeof shown.id === 'string' ? shown.id : null)
  const label = LABELS.map((name) => shown[name]).find((value) => typeof value === 'string')
  const type = id === null ? undefined : KINDS.get(id.slice(0, id.indexOf('_') + 1))
  return { type: type ?? null, id: type === undefined ? null : id, label: (label as string | undefined) ?? null }
}
