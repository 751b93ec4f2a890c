// What removed people made that stays in use: shown after a removal and below the people, and ended in one step.

import { useState } from 'preact/hooks'
import { done, take } from '../../api/client.ts'
import type { FormerMember, MadeCounts } from '../../api/types.ts'
import { refresh, useAction, useQuery } from '../../live/query.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Time } from '../../parts/marks.tsx'
import { Section } from '../../parts/page.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { say } from '../../parts/toast.tsx'
import { people as words } from '../../words/en/people.ts'
import { useTeam } from '../team.ts'

type Kind = keyof MadeCounts

export const isLeft = (remaining: MadeCounts) => Object.values(remaining).some((count) => count > 0)

/** "2 API keys, 1 forward". */
function listed(remaining: MadeCounts): string {
  const kinds = (Object.keys(words.made) as Kind[]).filter((kind) => remaining[kind] > 0)
  return kinds.map((kind) => words.made[kind](remaining[kind])).join(', ')
}

interface LeftBehindProps {
  member: { id: string; email: string }
  remaining: MadeCounts
  onClose: () => void
}

export function LeftBehind({ member, remaining, onClose }: LeftBehindProps) {
  const team = useTeam()
  const end = useAction(async () => {
    const path = { member_id: member.id }
    await done(team.api.DELETE('/team/members/{member_id}/credentials', { params: { path } }))
    for (const changed of ['people', 'keys', 'webhooks']) refresh(team.id, changed)
    say(words.leftEnded(member.email))
    onClose()
  })
  return (
    <Confirm
      title={words.leftTitle(member.email)}
      verb={words.endLeft}
      isBusy={end.isBusy}
      error={end.error}
      onConfirm={() => void end.run()}
      onClose={onClose}
    >
      <p class="strong">{listed(remaining)}</p>
      <p>{words.leftText}</p>
    </Confirm>
  )
}

/** Removed people who left something; nothing where there is none. */
export function FormerMembers() {
  const team = useTeam()
  const [ending, setEnding] = useState<FormerMember | null>(null)
  const query = useQuery([team.id, 'people', 'former'], () => take(team.api.GET('/team/former-members')))
  if (query.data === undefined || query.data.length === 0) return null
  const columns: Column<FormerMember>[] = [
    { head: words.formerPerson, cell: ({ email }) => <Foreign>{email}</Foreign> },
    { head: words.leftHead, cell: ({ remaining }) => listed(remaining), class: 'line' },
    { head: words.removedAt, cell: ({ removed_at }) => <Time at={removed_at} />, class: 'soft' },
    {
      head: '',
      class: 'number',
      cell: (one) => (
        <Button size="short" kind="danger" label={words.endLeftOf(one.email)} onPress={() => setEnding(one)}>
          {words.endLeft}
        </Button>
      ),
    },
  ]
  return (
    <Section title={words.former}>
      <Table label={words.former} rows={query.data} columns={columns} keyOf={({ id }) => id} />
      {ending !== null && <LeftBehind member={ending} remaining={ending.remaining} onClose={() => setEnding(null)} />}
    </Section>
  )
}
