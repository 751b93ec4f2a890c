// What can be done with one delivery: retry, cancel, resend, show the message, free or suppress the address.

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { done, take, takeList } from '../../api/client.ts'
import type { DeliveryLogDetail } from '../../api/types.ts'
import { refresh, useAction, useQuery } from '../../live/query.ts'
import { useRequestKey } from '../../live/request-key.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog, FormFoot } from '../../parts/dialog.tsx'
import type { Filters } from '../../parts/filters.tsx'
import { ErrorCard } from '../../parts/quiet.tsx'
import { say } from '../../parts/toast.tsx'
import { delivery as words } from '../../words/en/delivery.ts'
import { useTeam } from '../team.ts'
import { SentMessage } from './sent-message.tsx'

interface ActionsProps {
  row: DeliveryLogDetail
  filters: Filters
}

export function Actions({ row, filters }: ActionsProps) {
  const team = useTeam()
  const [isShown, setShown] = useState(false)
  const hasFailed = row.status === 'failed' || row.status === 'rejected'
  const maySend = team.may('email.send')
  return (
    <>
      {row.status === 'pending' && maySend && <Waiting id={row.id} />}
      {hasFailed && maySend && row.content_available && row.resent_as === null && (
        <ResendButton row={row} filters={filters} />
      )}
      {hasFailed && <Address email={row.to_email} />}
      <Button icon="mail-open" onPress={() => setShown(true)}>
        {words.show}
      </Button>
      {isShown && <SentMessage id={row.message_id} onClose={() => setShown(false)} />}
    </>
  )
}

/** Retry and cancel, for a delivery that waits for its next attempt. */
function Waiting({ id }: { id: string }) {
  const team = useTeam()
  const params = { path: { log_id: id } }
  const retry = useAction(async () => {
    await done(team.api.POST('/emails/logs/{log_id}/retry', { params }))
    refresh(team.id, 'delivery')
    say(words.retried)
  })
  const cancel = useAction(async () => {
    await done(team.api.POST('/emails/logs/{log_id}/cancel', { params }))
    refresh(team.id, 'delivery')
    say(words.canceled)
  })
  const error = retry.error ?? cancel.error
  return (
    <WithError error={error}>
      <Button icon="refresh-cw" isBusy={retry.isBusy} onPress={() => void retry.run()}>
        {words.retry}
      </Button>
      <Button isBusy={cancel.isBusy} onPress={() => void cancel.run()}>
        {words.cancel}
      </Button>
    </WithError>
  )
}

function WithError({
  error,
  children,
}: {
  error: Parameters<typeof ErrorCard>[0]['error'] | null
  children: ComponentChildren
}) {
  return (
    <>
      {error !== null && <ErrorCard error={error} />}
      {children}
    </>
  )
}

function ResendButton({ row, filters }: ActionsProps) {
  const team = useTeam()
  const headerOf = useRequestKey()
  const [isAsking, setAsking] = useState(false)
  const resend = useAction(async () => {
    const params = { path: { log_id: row.id }, header: headerOf({}) }
    const made = await take(team.api.POST('/emails/logs/{log_id}/resend', { params }))
    setAsking(false)
    refresh(team.id, 'delivery')
    filters.set('open', made.delivery_log_id)
    say(words.resent)
  })
  return (
    <>
      <Button icon="send" onPress={() => setAsking(true)}>
        {words.resend}
      </Button>
      {isAsking && (
        <Dialog
          title={words.resendTitle(row.to_email)}
          foot={<FormFoot verb={words.resend} action={resend} onClose={() => setAsking(false)} />}
          error={resend.error}
          onClose={() => setAsking(false)}
          onSubmit={() => void resend.run()}
        >
          <p>{words.resendText}</p>
        </Dialog>
      )}
    </>
  )
}

/** Frees an address that is suppressed, and suppresses one that is not. */
function Address({ email }: { email: string }) {
  const team = useTeam()
  const { data } = useQuery(
    [team.id, 'suppressed', 'of', email],
    () => takeList(team.api.GET('/suppressions', { params: { query: { q: email } } })),
    { when: team.may('suppression.read') },
  )
  const found = data?.items.find((one) => one.email === email.toLowerCase())
  const free = useAction(async (id: string) => {
    await done(team.api.DELETE('/suppressions/{suppression_id}', { params: { path: { suppression_id: id } } }))
    refresh(team.id, 'suppressed')
    say(words.freed(email))
  })
  const suppress = useAction(async () => {
    await done(team.api.POST('/suppressions', { body: { email } }))
    refresh(team.id, 'suppressed')
    say(words.suppressed(email))
  })
  if (data === undefined || !team.may('suppression.manage')) return null
  return (
    <WithError error={free.error ?? suppress.error}>
      {found === undefined ? (
        <Button icon="ban" isBusy={suppress.isBusy} onPress={() => void suppress.run()}>
          {words.suppress}
        </Button>
      ) : (
        <Button icon="undo-2" isBusy={free.isBusy} onPress={() => void free.run(found.id)}>
          {words.free}
        </Button>
      )}
    </WithError>
  )
}
