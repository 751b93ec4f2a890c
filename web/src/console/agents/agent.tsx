// One agent: its inbox, what it sends, its keys, its owner, and what may be decided about it.

import { useState } from 'preact/hooks'
import { useRoute } from 'preact-iso'
import { approveSending, endAgent, listAgents, type OwnAgent, revokeSending } from '../../api/agents.ts'
import { apiAs, take, takeList } from '../../api/client.ts'
import { ApiError } from '../../api/errors.ts'
import { refresh, useAction, useQuery } from '../../live/query.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { ToneLine } from '../../parts/marks.tsx'
import { Page, RecordError } from '../../parts/page.tsx'
import { ErrorCard, Skeleton } from '../../parts/quiet.tsx'
import { say } from '../../parts/toast.tsx'
import { agents as words } from '../../words/en/agents.ts'
import { useTeam } from '../team.ts'
import { AgentState, isAlive } from './agent-state.tsx'
import { About, Inbox, Keys, Traffic } from './record.tsx'

const OWNERS_SHOWN = 20

export function Agent() {
  const team = useTeam()
  const { params } = useRoute()
  const id = params.id!
  const query = useQuery(['agents'], listAgents)
  const crumb = { href: team.href('agents'), label: words.title }
  if (query.failure !== null) return <RecordError error={query.failure} crumb={crumb} onRetry={query.refetch} />
  if (query.data === undefined) return <Skeleton />
  const agent = query.data.find((one) => one.id === id)
  if (agent === undefined) {
    const missing = new ApiError(404, { code: 'not_found', message: '' }, null)
    return <RecordError error={missing} crumb={crumb} onRetry={query.refetch} />
  }
  return <OpenAgent key={id} agent={agent} />
}

/** What the API says of the inbox and its team; the owner of an agent owns its team. */
function useRecord({ team_id: teamId, mailbox_id: mailboxId }: OwnAgent) {
  const api = apiAs(teamId)
  const path = { mailbox_id: mailboxId }
  const mailbox = useQuery([teamId, 'mailboxes', mailboxId, 'agent'], () =>
    take(api.GET('/mailboxes/{mailbox_id}', { params: { path } })),
  )
  const keys = useQuery([teamId, 'agent-keys', mailboxId], () =>
    takeList(api.GET('/mailboxes/{mailbox_id}/api-keys', { params: { path } })),
  )
  const people = useQuery([teamId, 'people', 'owners'], () =>
    takeList(api.GET('/team/members', { params: { query: { limit: OWNERS_SHOWN } } })),
  )
  const owners = people.data?.items.flatMap(({ role, email }) => (role === 'owner' ? [email] : []))
  return { mailbox, keys, owners }
}

function OpenAgent({ agent }: { agent: OwnAgent }) {
  const team = useTeam()
  const { mailbox, keys, owners } = useRecord(agent)
  return (
    <Page
      title={agent.email}
      crumb={{ href: team.href('agents'), label: words.title }}
      badge={<AgentState state={agent.state} />}
      note={agent.client_name === null ? undefined : <Foreign>{agent.client_name}</Foreign>}
      actions={isAlive(agent) && <Decisions agent={agent} />}
      record={agent}
      curl={[
        { method: 'GET', path: '/agents', base: '/me/v1' },
        { method: 'GET', path: `/mailboxes/${agent.mailbox_id}` },
      ]}
    >
      {!isAlive(agent) && <ToneLine icon="ban">{words.endedNote}</ToneLine>}
      <div class="columns narrow">
        <div class="stack wide">
          <Traffic agent={agent} />
          <Keys keys={keys.data?.items ?? []} />
        </div>
        <div class="stack loose">
          {mailbox.data !== undefined && <Inbox mailbox={mailbox.data} agent={agent} />}
          <About agent={agent} owners={owners ?? []} />
        </div>
      </div>
    </Page>
  )
}

type Asked = 'take-back' | 'end'

/** One at a time; the list of agents says what follows. */
function useDecision({ id, email }: OwnAgent, onDone: () => void) {
  return useAction(async (what: 'allow' | Asked) => {
    if (what === 'allow') await approveSending(id)
    else if (what === 'take-back') await revokeSending(id)
    else await endAgent(id, email)
    refresh('agents')
    refresh('approvals')
    onDone()
    say({ allow: words.allowed, 'take-back': words.takenBack, end: words.endedToast(email) }[what])
  })
}

function Decisions({ agent }: { agent: OwnAgent }) {
  const [asked, setAsked] = useState<Asked | null>(null)
  const decision = useDecision(agent, () => setAsked(null))
  const isEnding = asked === 'end'
  return (
    <>
      {decision.error !== null && asked === null && <ErrorCard error={decision.error} />}
      {agent.state === 'accepted' && (
        <Button kind="primary" icon="send" isBusy={decision.isBusy} onPress={() => void decision.run('allow')}>
          {words.allow}
        </Button>
      )}
      {agent.state === 'approved' && (
        <Button icon="pause" onPress={() => setAsked('take-back')}>
          {words.takeBack}
        </Button>
      )}
      <Button kind="danger" icon="ban" onPress={() => setAsked('end')}>
        {words.end}
      </Button>
      {asked !== null && (
        <Confirm
          title={isEnding ? words.endTitle(agent.email) : words.takeBackTitle(agent.email)}
          verb={isEnding ? words.end : words.takeBack}
          typed={isEnding ? agent.email : undefined}
          isBusy={decision.isBusy}
          error={decision.error}
          onConfirm={() => void decision.run(asked)}
          onClose={() => setAsked(null)}
        >
          {isEnding ? words.endText : words.takeBackText}
        </Confirm>
      )}
    </>
  )
}
