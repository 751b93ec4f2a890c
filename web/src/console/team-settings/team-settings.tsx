// The team itself: its name, and what it is known by.

import { useState } from 'preact/hooks'
import { done, takeTagged } from '../../api/client.ts'
import { loadSelf } from '../../api/session.ts'
import type { Team } from '../../api/types.ts'
import { exact } from '../../base/dates.ts'
import { refresh, useAction, useQuery } from '../../live/query.ts'
import { Button } from '../../parts/button.tsx'
import { CodeValue } from '../../parts/copy.tsx'
import { Fact } from '../../parts/facts.tsx'
import { TextField } from '../../parts/field.tsx'
import { Form } from '../../parts/form.tsx'
import { Badge, State } from '../../parts/marks.tsx'
import { Page, Section } from '../../parts/page.tsx'
import { ErrorCard, Skeleton } from '../../parts/quiet.tsx'
import { say } from '../../parts/toast.tsx'
import { common } from '../../words/en/common.ts'
import { people } from '../../words/en/people.ts'
import { teamSettings as words } from '../../words/en/team.ts'
import { useTeam } from '../team.ts'

export function TeamSettings() {
  const team = useTeam()
  const query = useQuery([team.id, 'team'], () => takeTagged(team.api.GET('/team')))
  return (
    <Page title={words.title} note={words.note} curl={[{ method: 'GET', path: '/team' }]} record={query.data?.value}>
      {query.error !== null && <ErrorCard error={query.error} onRetry={query.refetch} />}
      {query.isLoading && <Skeleton rows={4} />}
      {query.data !== undefined && (
        <div class="stack loose">
          {team.may('team.manage') ? (
            <Rename key={query.data.tag} current={query.data.value} tag={query.data.tag} />
          ) : (
            <p class="soft">{common.viewerNote}</p>
          )}
          <Facts team={query.data.value} />
        </div>
      )}
    </Page>
  )
}

function Rename({ current, tag }: { current: Team; tag: string }) {
  const team = useTeam()
  const [name, setName] = useState(current.name)
  const save = useAction(async () => {
    const header = { 'If-Match': tag }
    await done(team.api.PATCH('/team', { params: { header }, body: { name: name.trim() } }))
    // The bar and the list of teams name it too.
    await loadSelf()
    refresh(team.id, 'team')
    say(common.saved)
  })
  const error = save.error?.fieldMessage('name')
  const isSame = name.trim() === '' || name.trim() === current.name
  return (
    <Form class="stack loose narrow-form" onSubmit={() => void save.run()}>
      <TextField label={words.name} hint={words.nameHint} value={name} onValue={setName} error={error} />
      {save.error !== null && error === undefined && <ErrorCard error={save.error} />}
      <div class="row">
        <Button kind="primary" submits isBusy={save.isBusy} isOff={isSame}>
          {common.save}
        </Button>
      </div>
    </Form>
  )
}

function Facts({ team }: { team: Team }) {
  const { role, href, may } = useTeam()
  return (
    <Section title={words.facts}>
      <dl class="facts">
        <Fact name={words.shownName}>{team.name}</Fact>
        <Fact name={words.id}>
          <CodeValue text={team.id} what={words.idOf} />
        </Fact>
        <Fact name={words.status}>
          {team.status === 'active' ? (
            <State tone="good">{words.statuses.active}</State>
          ) : (
            <Badge tone="warn">{words.statuses.suspended}</Badge>
          )}
        </Fact>
        <Fact name={words.created}>{exact(team.created_at)}</Fact>
        <Fact name={words.role}>{people.roles[role]}</Fact>
      </dl>
      <p class="row wrap">
        <a href={href('people')}>{words.toPeople}</a>
        <a href={href('limits')}>{words.toLimits}</a>
        {may('audit.read') && <a href={href('audit')}>{words.toAudit}</a>}
      </p>
    </Section>
  )
}
