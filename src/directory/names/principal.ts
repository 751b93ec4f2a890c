// Principals: the identities of authenticated credentials.

/** The signed-in person behind a session; `keyId` is then the session (`ses_…`). */
export interface SignedInPerson {
  /** Lower-case. */
  email: string
  /** Their membership (`usr_…`) in the team that is acted for; null for the operator. */
  memberId: string | null
}

/** The principal of a root key, or of a member of the team: a team. */
export interface TeamPrincipal {
  kind: 'team'
  keyId: string
  teamId: string
  permissions: readonly string[]
  person?: SignedInPerson
}

/** The principal of a mailbox key, or of a person it was granted to: one mailbox. */
export interface MailboxPrincipal {
  kind: 'mailbox'
  keyId: string
  teamId: string
  mailboxId: string
  permissions: readonly string[]
  /** Set for an agent's token; `keyId` is then the registration, whose tokens share one rate limit. */
  agent?: AgentCredential
  person?: SignedInPerson
}

/** Additional facts of an agent's token. */
export interface AgentCredential {
  /** `areg_…` */
  registrationId: string
  /** The scopes of the token, regardless of the resource it is used at. */
  scope: string
}

/** The principal of an operator key, on the operator listener, or of a person who is an operator: the appliance. */
export interface OperatorPrincipal {
  kind: 'operator'
  keyId: string
  person?: SignedInPerson
}

/** The principal of a session where it concerns the person and no team: `/me/v1`. */
export interface PersonPrincipal {
  kind: 'person'
  /** The session (`ses_…`). */
  keyId: string
  /** Lower-case. */
  email: string
  /** The only team the session opens; null for all of the person's. */
  teamId: string | null
}

export type Principal = TeamPrincipal | MailboxPrincipal | OperatorPrincipal | PersonPrincipal

/** What is stored as the maker of something: the member where a person acts, else the key. */
export function createdBy({ keyId, person }: TeamPrincipal | MailboxPrincipal): string {
  return person?.memberId ?? keyId
}

/** Who begins something that a browser completes: a person completes it in the same session. */
export function begunBy(principal: TeamPrincipal): { sessionId: string | null; createdBy: string } {
  return { sessionId: principal.person === undefined ? null : principal.keyId, createdBy: createdBy(principal) }
}

/** An authenticated credential; `suspended` when its team is suspended, which refuses every request. */
export interface Recognised<P extends Principal = Principal> {
  principal: P
  suspended: boolean
}
