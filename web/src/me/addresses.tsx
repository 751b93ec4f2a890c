// The addresses a mailbox writes as: its own, its aliases, and those with a tag that were given a name or a signature.

import { useState } from 'preact/hooks'
import { apiAs, done } from '../api/client.ts'
import type { Identity } from '../api/types.ts'
import { refresh, useAction } from '../live/query.ts'
import { useRequestKey } from '../live/request-key.ts'
import { Button, IconButton } from '../parts/button.tsx'
import { Confirm, Dialog, FormFoot } from '../parts/dialog.tsx'
import { TextField } from '../parts/field.tsx'
import { Foreign } from '../parts/foreign.tsx'
import { Badge } from '../parts/marks.tsx'
import { Section } from '../parts/page.tsx'
import { ErrorCard } from '../parts/quiet.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { say } from '../parts/toast.tsx'
import { common } from '../words/en/common.ts'
import { ownMailbox as words } from '../words/en/own-mailbox.ts'

const ONE = '/mailbox/identities/{identity_id}'
const at = (identity: Identity) => ({ path: { identity_id: identity.id } })

interface AddressesProps {
  /** Of the mailbox. */
  id: string
  identities: readonly Identity[]
}

export function Addresses({ id, identities }: AddressesProps) {
  const [edited, setEdited] = useState<Identity | 'new' | null>(null)
  const [leaving, setLeaving] = useState<Identity | null>(null)
  const choose = useAction(async (identity: Identity) => {
    await done(apiAs(id).PATCH(ONE, { params: at(identity), body: { is_primary: true } }))
    refresh(id, 'identities')
    say(words.defaultChosen(identity.email))
  })
  const remove = useAction(async (identity: Identity) => {
    await done(apiAs(id).DELETE(ONE, { params: at(identity) }))
    refresh(id, 'identities')
    setLeaving(null)
  })
  const add = (
    <Button icon="plus" onPress={() => setEdited('new')}>
      {words.addAddress}
    </Button>
  )
  const columns = columnsOf({ edit: setEdited, choose: (row) => void choose.run(row), askToRemove: setLeaving })
  return (
    <Section title={words.addresses} note={words.addressesNote} actions={add}>
      {choose.error !== null && <ErrorCard error={choose.error} />}
      <Table label={words.addresses} rows={identities} columns={columns} keyOf={(row) => row.id} />
      {edited !== null && (
        <AddressDialog id={id} identity={edited === 'new' ? null : edited} onClose={() => setEdited(null)} />
      )}
      {leaving !== null && (
        <Confirm
          title={words.removeTitle(leaving.email)}
          verb={words.remove}
          isBusy={remove.isBusy}
          error={remove.error}
          onConfirm={() => void remove.run(leaving)}
          onClose={() => setLeaving(null)}
        >
          {words.removeAddressText}
        </Confirm>
      )}
    </Section>
  )
}

interface RowActions {
  edit: (identity: Identity) => void
  choose: (identity: Identity) => void
  askToRemove: (identity: Identity) => void
}

function columnsOf({ edit, choose, askToRemove }: RowActions): Column<Identity>[] {
  return [
    {
      head: words.address,
      cell: ({ email, is_primary }) => (
        <span class="row">
          <span class="strong">{email}</span>
          {is_primary && <Badge>{words.isDefault}</Badge>}
        </span>
      ),
    },
    { head: words.name, cell: ({ name }) => <Foreign>{name}</Foreign>, class: 'soft' },
    {
      head: '',
      cell: (row) => (
        <span class="row end-row">
          <Button size="short" label={words.editLabel(row.email)} onPress={() => edit(row)}>
            {words.edit}
          </Button>
          {!row.is_primary && (
            <Button size="short" label={words.makeDefaultLabel(row.email)} onPress={() => choose(row)}>
              {words.makeDefault}
            </Button>
          )}
          {row.may_delete && (
            <IconButton icon="trash-2" label={words.removeLabel(row.email)} onPress={() => askToRemove(row)} />
          )}
        </span>
      ),
      class: 'number',
    },
  ]
}

interface AddressDialogProps {
  id: string
  /** Null for a new one. */
  identity: Identity | null
  onClose: () => void
}

function AddressDialog({ id, identity, onClose }: AddressDialogProps) {
  const headerOf = useRequestKey()
  const [email, setEmail] = useState('')
  const [name, setName] = useState(identity?.name ?? '')
  const [signature, setSignature] = useState(identity?.text_signature ?? '')
  const save = useAction(async () => {
    const members = { name: name.trim(), text_signature: signature }
    if (identity === null) {
      const body = { email: email.trim(), ...members }
      await done(apiAs(id).POST('/mailbox/identities', { params: { header: headerOf(body) }, body }))
    } else {
      await done(apiAs(id).PATCH(ONE, { params: at(identity), body: members }))
    }
    refresh(id, 'identities')
    say(words.saved)
    onClose()
  })
  const wrongAddress = save.error?.fieldMessage('email')
  return (
    <Dialog
      title={identity?.email ?? words.addAddress}
      foot={<FormFoot verb={identity === null ? words.addAddress : common.save} action={save} onClose={onClose} />}
      error={wrongAddress === undefined ? save.error : null}
      onClose={onClose}
      onSubmit={() => void save.run()}
    >
      {identity === null && (
        <TextField
          label={words.address}
          type="email"
          inputMode="email"
          value={email}
          onValue={setEmail}
          hint={words.addressHint}
          error={wrongAddress}
          isRequired
          hasFocus
        />
      )}
      <TextField label={words.name} hint={words.nameHint} value={name} onValue={setName} />
      <TextField
        label={words.signature}
        hint={words.signatureHint}
        lines={4}
        value={signature}
        onValue={setSignature}
      />
    </Dialog>
  )
}
