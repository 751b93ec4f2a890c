// The browsers in which the person is signed in.

import { endOtherSessions, endSession, listSessions, type Session } from '../api/person.ts'
import { browserName } from '../base/browser-name.ts'
import { refresh, useAction, useQuery } from '../live/query.ts'
import { Button } from '../parts/button.tsx'
import { Badge, Time } from '../parts/marks.tsx'
import { Page } from '../parts/page.tsx'
import { ErrorCard, Skeleton } from '../parts/quiet.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { say } from '../parts/toast.tsx'
import { me as words } from '../words/en/me.ts'

export function Sessions() {
  const query = useQuery(['me', 'sessions'], listSessions)
  const end = useAction(async (id: string | null) => {
    await (id === null ? endOtherSessions() : endSession(id))
    refresh('me', 'sessions')
    say(words.ended)
  })
  const others = query.data?.filter(({ current }) => !current).length ?? 0
  return (
    <Page
      title={words.pages.sessions}
      note={words.sessionsNote}
      curl={[{ method: 'GET', path: '/sessions', base: '/me/v1' }]}
      actions={
        others > 0 && (
          <Button kind="danger" isBusy={end.isBusy} onPress={() => void end.run(null)}>
            {words.endOthers}
          </Button>
        )
      }
    >
      {(query.error ?? end.error) !== null && <ErrorCard error={(query.error ?? end.error)!} onRetry={query.refetch} />}
      {query.data === undefined ? (
        query.error === null && <Skeleton rows={3} />
      ) : (
        <Table
          label={words.pages.sessions}
          rows={query.data}
          columns={columnsOf((id) => void end.run(id))}
          keyOf={({ id }) => id}
          isTall
        />
      )}
    </Page>
  )
}

/** @param end ends a session */
function columnsOf(end: (id: string) => void): Column<Session>[] {
  return [
    {
      head: words.browser,
      cell: ({ user_agent, current, trusted }) => (
        <span class="two-lines">
          <span class="strong" title={user_agent ?? undefined}>
            {browserName(user_agent) ?? words.unknownBrowser} {current && <Badge tone="good">{words.thisOne}</Badge>}
          </span>
          <span>{trusted && words.trusted}</span>
        </span>
      ),
    },
    { head: words.method, cell: ({ method }) => words.methods[method] ?? method, class: 'wide-only' },
    { head: words.from, cell: ({ source }) => <span class="mono">{source}</span>, class: 'soft' },
    { head: words.seen, cell: ({ last_seen_at }) => <Time at={last_seen_at} as="relative" />, class: 'soft' },
    {
      head: '',
      class: 'number',
      cell: ({ id, user_agent, current }) =>
        !current && (
          <Button
            size="short"
            kind="danger"
            label={words.endLabel(browserName(user_agent) ?? words.unknownBrowser)}
            onPress={() => end(id)}
          >
            {words.end}
          </Button>
        ),
    },
  ]
}
