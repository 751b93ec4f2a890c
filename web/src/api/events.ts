// The stream of events of the person (server-sent events): what changed in teams and mailboxes, and when something waits for a decision.

/** Something of a team changed. */
export interface TeamChange {
  actor: string
  /** Kinds of records: `domains`, `delivery` … */
  changed: string[]
}

/** Something of a mailbox changed: the new state of each type. */
export interface MailboxChange {
  actor: string
  changed: Readonly<Record<string, string>>
}

export interface StreamHandlers {
  opened(): void
  team(change: TeamChange): void
  mailbox(change: MailboxChange): void
  /** How much waits for the person has changed. */
  approvals(): void
  /** A team or mailbox is not open to the person any more. */
  left(): void
  /** The server was upgraded. */
  upgraded(): void
  /** The connection broke. @param isFinal it does not come back by itself */
  lost(isFinal: boolean): void
}

const contentOf = <T>(event: Event) => JSON.parse((event as MessageEvent<string>).data) as T

/** Opens the stream. @param actors ids of teams and mailboxes @returns closes it */
export function openStream(actors: readonly string[], handlers: StreamHandlers): () => void {
  const source = new EventSource(`/me/v1/events?${new URLSearchParams({ actors: actors.join(',') })}`)
  source.addEventListener('open', () => handlers.opened())
  source.addEventListener('team', (event) => handlers.team(contentOf<TeamChange>(event)))
  source.addEventListener('state', (event) => {
    const { actor, changed } = contentOf<MailboxChange>(event)
    handlers.mailbox({ actor, changed })
  })
  source.addEventListener('approvals', () => handlers.approvals())
  source.addEventListener('left', () => handlers.left())
  source.addEventListener('reload', () => handlers.upgraded())
  source.addEventListener('end', () => {
    source.close()
    handlers.lost(true)
  })
  source.addEventListener('error', () => handlers.lost(source.readyState === EventSource.CLOSED))
  return () => source.close()
}
