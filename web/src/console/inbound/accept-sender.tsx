// Accepts the sender of a message in Junk: its later messages go to the Inbox when they are proven.

import { useState } from 'preact/hooks'
import type { InboundLogDetail } from '../../api/types.ts'
import { acceptFor } from '../../base/filter-change.ts'
import { refresh, useAction, useQuery } from '../../live/query.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog, FormFoot } from '../../parts/dialog.tsx'
import { ToneLine } from '../../parts/marks.tsx'
import { ErrorCard, Skeleton } from '../../parts/quiet.tsx'
import { say } from '../../parts/toast.tsx'
import { inbound } from '../../words/en/inbound.ts'
import { useTeam } from '../team.ts'
import { type Owner, readFilter, saveFilter, Who } from './let-in.tsx'

const words = inbound.accept

/** Offered for a message that its score filed to Junk, to people who may change the filter of the mailbox. */
export function AcceptSender({ row }: { row: InboundLogDetail }) {
  const team = useTeam()
  const [isOpen, setOpen] = useState(false)
  const { status, header_from: from, mailbox_id: mailbox } = row
  if (status !== 'junk' || from === null || mailbox === null || !team.may('mailbox.admin.manage')) return null
  const owner: Owner = { scope: 'mailbox', id: mailbox, name: row.rcpt_to }
  return (
    <>
      <Button icon="user-plus" onPress={() => setOpen(true)}>
        {words.button}
      </Button>
      {isOpen && <AcceptDialog row={row} from={from} owner={owner} onClose={() => setOpen(false)} />}
    </>
  )
}

interface AcceptProps {
  row: InboundLogDetail
  from: string
  owner: Owner
  onClose: () => void
}

function AcceptDialog({ row, from, owner, onClose }: AcceptProps) {
  const team = useTeam()
  const [pattern, setPattern] = useState(from)
  const { data, error, refetch } = useQuery([team.id, 'sender-filter', 'mailbox', owner.id], () =>
    readFilter(team, owner),
  )
  const change = data === undefined ? null : acceptFor(data.value, pattern, from)
  const accept = useAction(async () => {
    await saveFilter(team, owner, change!.filter, data!.tag)
    for (const name of ['sender-filter', 'mailboxes']) refresh(team.id, name)
    say(words.done(pattern))
    onClose()
  })
  const { dmarc, signatures } = row.evidence
  const isProven = dmarc?.result === 'pass' || signatures.some(({ aligned, result }) => aligned && result === 'pass')
  return (
    <Dialog
      title={words.title(from)}
      foot={<FormFoot verb={words.button} action={accept} isOff={change === null} onClose={onClose} />}
      error={accept.error}
      onClose={onClose}
      onSubmit={() => change !== null && void accept.run()}
    >
      {error !== null && <ErrorCard error={error} onRetry={refetch} />}
      {data === undefined && error === null && <Skeleton rows={3} />}
      {data !== undefined && change === null && <p>{words.already}</p>}
      {change !== null && (
        <>
          <Who sender={from} pattern={pattern} onPattern={setPattern} />
          <p class="soft">{words.text(owner.name)}</p>
        </>
      )}
      {!isProven && <ToneLine tone="warn">{words.unproven}</ToneLine>}
    </Dialog>
  )
}
