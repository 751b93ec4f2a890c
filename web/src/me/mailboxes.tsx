// The mailboxes of the person: a list of several, or the page of the only one.

import { useRoute } from 'preact-iso'
import { self } from '../api/session.ts'
import type { OwnMailbox } from '../api/types.ts'
import { count } from '../base/numbers.ts'
import { Foreign } from '../parts/foreign.tsx'
import { Badge } from '../parts/marks.tsx'
import { Page } from '../parts/page.tsx'
import { Empty } from '../parts/quiet.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { mailboxes as shared } from '../words/en/mailboxes.ts'
import { ownMailbox as words } from '../words/en/own-mailbox.ts'
import { FirstPasskey, isPasskeyWanted } from './first-passkey.tsx'
import { Mailbox } from './mailbox.tsx'

const columns = (): Column<OwnMailbox>[] => [
  {
    head: words.mailbox,
    cell: ({ id, email }) => (
      <a href={`/me/mailboxes/${id}`} class="strong">
        <Foreign>{email}</Foreign>
      </a>
    ),
  },
  { head: words.access, cell: ({ access }) => <Badge>{shared.shortLevels[access]}</Badge> },
  {
    head: words.unread,
    cell: ({ unread_threads: unread }) => (unread === null ? '' : count(unread)),
    class: 'number',
  },
]

export function Mailboxes() {
  const { params } = useRoute()
  const mailboxes = self.value?.mailboxes ?? []
  const opened = params.id === undefined ? mailboxes : mailboxes.filter(({ id }) => id === params.id)
  const title = words.title(mailboxes.length)
  if (isPasskeyWanted()) return <FirstPasskey title={title} />
  if (opened.length === 1) return <Mailbox key={opened[0]!.id} own={opened[0]!} isOnly={mailboxes.length === 1} />
  return (
    <Page title={title} note={words.note} curl={[{ method: 'GET', path: '/self', base: '/me/v1' }]}>
      {opened.length === 0 ? (
        <Empty icon="mailbox" title={words.none}>
          {words.noneText}
        </Empty>
      ) : (
        <Table label={title} rows={opened} columns={columns()} keyOf={({ id }) => id} />
      )}
    </Page>
  )
}
