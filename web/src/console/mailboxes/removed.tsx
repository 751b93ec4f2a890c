// Messages that were removed at the server of an outside account: how many can be restored, and a button that does.

import { useState } from 'preact/hooks'
import { take } from '../../api/client.ts'
import { count } from '../../base/numbers.ts'
import { refresh, useAction, useQuery } from '../../live/query.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { removed as words } from '../../words/en/outside.ts'
import { useTeam } from '../team.ts'

/** @param id `racc_…` */
export function RemovedMessages({ id }: { id: string }) {
  const team = useTeam()
  const [isAsking, setAsking] = useState(false)
  const [isFull, setFull] = useState(false)
  const path = { remote_account_id: id }
  const key = [team.id, 'mailboxes', 'outside', id, 'removed']
  const query = useQuery(
    key,
    async () => {
      const params = { path, query: { limit: 1 } }
      const answer = await team.api.GET('/remote-accounts/{remote_account_id}/removed', { params })
      await take(Promise.resolve(answer))
      return Number(answer.data?.meta.total_messages ?? 0)
    },
    { when: team.may('remote.manage'), isAlone: true },
  )
  const restore = useAction(async () => {
    // One request restores a part.
    for (let isOver = false; !isOver; ) {
      const { restored, remaining, ...result } = await take(
        team.api.POST('/remote-accounts/{remote_account_id}/removed/restore', { params: { path } }),
      )
      setFull(result.is_full)
      isOver = remaining === 0 || result.is_full || restored.length === 0
    }
    refresh(...key)
    setAsking(false)
  })
  const total = query.data ?? 0
  if (total === 0) return null
  return (
    <>
      <span>{words.held(count(total), total === 1)}</span>
      {isFull && <span>{words.full}</span>}
      <span class="row wrap">
        <Button size="short" icon="undo-2" onPress={() => setAsking(true)}>
          {words.restore}
        </Button>
      </span>
      {isAsking && (
        <Confirm
          title={words.title}
          verb={words.restore}
          isBusy={restore.isBusy}
          error={restore.error}
          onConfirm={() => void restore.run()}
          onClose={() => setAsking(false)}
        >
          {words.text}
        </Confirm>
      )}
    </>
  )
}
