// Who is asking: what a credential stands for once it has been recognised.

/** A root key speaks for a team. */
export interface TeamPrincipal {
  kind: 'team'
  keyId: string
  teamId: string
  permissions: readonly string[]
}

/** A mailbox key speaks for one mailbox. */
export interface MailboxPrincipal {
  kind: 'mailbox'
  keyId: string
  teamId: string
  mailboxId: string
  permissions: readonly string[]
  /** Set when an agent's token speaks for its inbox; `keyId` is then the registration, whose tokens count as one. */
  agent?: AgentPart
}

/** What an agent's token adds to a mailbox credential. */
export interface AgentPart {
  /** `areg_…` */
  registrationId: string
  /** The scopes of the token, whichever resource it is shown to. */
  scope: string
}

/** An operator's key speaks for the whole appliance, on the operator's own listener and nowhere else. */
export interface OperatorPrincipal {
  kind: 'operator'
  keyId: string
}

export type Principal = TeamPrincipal | MailboxPrincipal | OperatorPrincipal

/** What looking a secret up says: who it stands for, and whether its team is suspended (recognised, but refused everything). */
export interface Recognised<P extends Principal = Principal> {
  principal: P
  suspended: boolean
}
