// The passkeys of the person: made in this device, named, removed.

import { useState } from 'preact/hooks'
import { addPasskey, hasPasskeys, listPasskeys, type Passkey, removePasskey } from '../api/person.ts'
import { loadSelf } from '../api/session.ts'
import { refresh, useAction, useQuery } from '../live/query.ts'
import { Button } from '../parts/button.tsx'
import { Confirm, Dialog, FormFoot } from '../parts/dialog.tsx'
import { TextField } from '../parts/field.tsx'
import { Time, ToneLine } from '../parts/marks.tsx'
import { Section } from '../parts/page.tsx'
import { Empty, ErrorCard, Skeleton } from '../parts/quiet.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { say } from '../parts/toast.tsx'
import { me as words } from '../words/en/me.ts'

export function Passkeys() {
  const [isAdding, setAdding] = useState(false)
  const [leaving, setLeaving] = useState<Passkey | null>(null)
  const query = useQuery(['me', 'passkeys'], listPasskeys)
  const remove = useAction(async (one: Passkey) => {
    await removePasskey(one.id)
    await loadSelf()
    setLeaving(null)
    refresh('me', 'passkeys')
    say(words.removed(one.name))
  })
  const addButton = hasPasskeys() && (
    <Button kind="primary" icon="fingerprint-pattern" onPress={() => setAdding(true)}>
      {words.addPasskey}
    </Button>
  )
  return (
    <Section title={words.passkeys} note={words.passkeysNote} actions={(query.data?.length ?? 0) > 0 && addButton}>
      {!hasPasskeys() && <ToneLine tone="warn">{words.notHere}</ToneLine>}
      {query.error !== null && <ErrorCard error={query.error} onRetry={query.refetch} />}
      {query.isLoading && <Skeleton rows={2} />}
      {query.data?.length === 0 && (
        <Empty icon="fingerprint-pattern" title={words.noPasskeys} action={addButton}>
          {words.noPasskeysText}
        </Empty>
      )}
      {(query.data?.length ?? 0) > 0 && (
        <Table
          label={words.passkeys}
          rows={query.data!}
          columns={columnsOf(setLeaving)}
          keyOf={({ id }) => id}
          isTall
        />
      )}
      {isAdding && <AddPasskey onClose={() => setAdding(false)} />}
      {leaving !== null && (
        <Confirm
          title={words.removeTitle(leaving.name)}
          verb={words.remove}
          isBusy={remove.isBusy}
          error={remove.error}
          onConfirm={() => void remove.run(leaving)}
          onClose={() => setLeaving(null)}
        >
          {words.removeText}
        </Confirm>
      )}
    </Section>
  )
}

function columnsOf(askToRemove: (passkey: Passkey) => void): Column<Passkey>[] {
  return [
    {
      head: words.passkeyName,
      cell: ({ name, backed_up }) => (
        <span class="two-lines">
          <span class="strong">{name}</span>
          <span>{backed_up ? words.synced : words.oneDevice}</span>
        </span>
      ),
    },
    { head: words.made, cell: ({ created_at }) => <Time at={created_at} />, class: 'soft' },
    {
      head: words.lastUsed,
      cell: ({ last_used_at }) => (last_used_at === null ? words.never : <Time at={last_used_at} />),
      class: 'soft',
    },
    {
      head: '',
      class: 'number',
      cell: (one) => (
        <Button size="short" kind="danger" label={words.removePasskey(one.name)} onPress={() => askToRemove(one)}>
          {words.remove}
        </Button>
      ),
    },
  ]
}

export function AddPasskey({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('')
  const add = useAction(async () => {
    await addPasskey(name.trim())
    await loadSelf()
    refresh('me', 'passkeys')
    onClose()
  })
  const isCancelled = add.error?.code === 'cancelled'
  const foot = <FormFoot verb={words.addPasskey} action={add} isOff={name.trim() === ''} onClose={onClose} />
  return (
    <Dialog
      title={words.addPasskey}
      foot={foot}
      error={isCancelled ? null : add.error}
      onClose={onClose}
      onSubmit={() => void add.run()}
    >
      <TextField label={words.passkeyName} hint={words.passkeyNameHint} value={name} onValue={setName} hasFocus />
      {isCancelled && <ToneLine tone="warn">{words.passkeyCancelled}</ToneLine>}
    </Dialog>
  )
}
