// The outside accounts a mailbox collects from: their state, another one, and the end of one.

import { useState } from 'preact/hooks'
import { done, takeList } from '../../api/client.ts'
import type { MailboxAdmin, RemoteAccount } from '../../api/types.ts'
import { refresh, useAction, useQuery } from '../../live/query.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Section } from '../../parts/page.tsx'
import { Empty, ErrorCard, Skeleton } from '../../parts/quiet.tsx'
import { say } from '../../parts/toast.tsx'
import { outside as words } from '../../words/en/outside.ts'
import { useTeam } from '../team.ts'
import { Attach } from './attach.tsx'
import { OutsideState } from './outside.tsx'

const MOST = 100

export function Collects({ mailbox }: { mailbox: MailboxAdmin }) {
  const team = useTeam()
  const [isAdding, setAdding] = useState(false)
  const query = useQuery([team.id, 'mailboxes', 'collects', mailbox.id], () =>
    takeList(
      team.api.GET('/remote-accounts', {
        params: { query: { mailbox_id: mailbox.id, mode: 'collect', limit: MOST } },
      }),
    ),
  )
  const add = team.may('remote.create') && (
    <Button icon="plus" onPress={() => setAdding(true)}>
      {words.collect}
    </Button>
  )
  const accounts = query.data?.items
  return (
    <Section title={words.collects} note={words.collectsNote} actions={accounts?.length === 0 ? undefined : add}>
      {query.error !== null && <ErrorCard error={query.error} onRetry={query.refetch} />}
      {accounts === undefined && query.error === null && <Skeleton rows={2} />}
      {accounts?.length === 0 && (
        <Empty icon="link" title={words.noneCollected} action={add}>
          {words.noneCollectedText}
        </Empty>
      )}
      {accounts?.map((account) => (
        <Collected key={account.id} account={account} />
      ))}
      {isAdding && <Attach into={mailbox} onClose={() => setAdding(false)} />}
    </Section>
  )
}

function Collected({ account }: { account: RemoteAccount }) {
  const team = useTeam()
  const [isEnding, setEnding] = useState(false)
  // Its state is not asked for again while the list still has it.
  const [isGone, setGone] = useState(false)
  const end = useAction(async () => {
    const path = { remote_account_id: account.id }
    await done(team.api.DELETE('/remote-accounts/{remote_account_id}', { params: { path } }))
    setGone(true)
    refresh(team.id, 'mailboxes', 'collects', account.mailbox_id)
    say(words.collectEnded(account.email))
  })
  if (isGone) return null
  return (
    <section class="stack" aria-label={account.email}>
      <div class="row wide wrap">
        <h3 class="sub">
          <Foreign>{account.email}</Foreign>
        </h3>
        {team.may('remote.delete') && (
          <Button
            size="short"
            kind="danger"
            label={words.endCollectLabel(account.email)}
            onPress={() => setEnding(true)}
          >
            {words.endCollect}
          </Button>
        )}
      </div>
      <OutsideState id={account.id} />
      {isEnding && (
        <Confirm
          title={words.endCollectTitle(account.email)}
          verb={words.endCollect}
          isBusy={end.isBusy}
          error={end.error}
          onConfirm={() => void end.run()}
          onClose={() => setEnding(false)}
        >
          {words.endCollectText}
        </Confirm>
      )}
    </section>
  )
}
