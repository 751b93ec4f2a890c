// Principals: the identities of authenticated credentials.

/** The principal of a root key: a team. */
export interface TeamPrincipal {
  kind: 'team'
  keyId: string
  teamId: string
  permissions: readonly string[]
}

/** The principal of a mailbox key: one mailbox. */
export interface MailboxPrincipal {
  kind: 'mailbox'
  keyId: string
  teamId: string
  mailboxId: string
  permissions: readonly string[]
  /** Set for an agent's token; `keyId` is then the registration, whose tokens share one rate limit. */
  agent?: AgentCredential
}

/** Additional facts of an agent's token. */
export interface AgentCredential {
  /** `areg_…` */
  registrationId: string
  /** The scopes of the token, regardless of the resource it is used at. */
  scope: string
}

/** The principal of an operator key: the appliance; only on the operator listener. */
export interface OperatorPrincipal {
  kind: 'operator'
  keyId: string
}

export type Principal = TeamPrincipal | MailboxPrincipal | OperatorPrincipal

/** An authenticated credential; `suspended` when its team is suspended, which refuses every request. */
export interface Recognised<P extends Principal = Principal> {
  principal: P
  suspended: boolean
}
