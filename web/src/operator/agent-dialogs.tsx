// What an operator does to agents: sets what they may send, ends one, or ends all since a day.

import { useState } from 'preact/hooks'
import { operatorApi, take } from '../api/client.ts'
import type { OperatorAgent } from '../api/operator.ts'
import { daysAgo } from '../base/dates.ts'
import { refresh, useAction } from '../live/query.ts'
import { Button } from '../parts/button.tsx'
import { Confirm, Dialog, FormFoot } from '../parts/dialog.tsx'
import { TextField } from '../parts/field.tsx'
import { say } from '../parts/toast.tsx'
import { common } from '../words/en/common.ts'
import { operatorAgents as words } from '../words/en/operator-users.ts'

interface AgentDialogProps {
  agent: OperatorAgent
  onClose: () => void
}

const limitOf = (text: string) => (text.trim() === '' ? null : Number(text))

export function SendLimits({ agent, onClose }: AgentDialogProps) {
  const shown = (limit: number) => (agent.has_own_limits ? String(limit) : '')
  const [hour, setHour] = useState(shown(agent.recipients_per_hour))
  const [day, setDay] = useState(shown(agent.recipients_per_day))
  const action = useAction(async () => {
    const body = { recipients_per_hour: limitOf(hour), recipients_per_day: limitOf(day) }
    const params = { path: { registration_id: agent.id } }
    await take(operatorApi.PUT('/agents/{registration_id}/send-limits', { params, body }))
    refresh('operator', 'agents')
    say(words.limitsSaved)
    onClose()
  })
  const errorOf = (field: string) => action.error?.fieldMessage(field)
  const isInField = errorOf('recipients_per_hour') !== undefined || errorOf('recipients_per_day') !== undefined
  return (
    <Dialog
      title={words.limitsTitle}
      foot={<FormFoot verb={common.save} action={action} onClose={onClose} />}
      error={isInField ? null : action.error}
      onClose={onClose}
      onSubmit={() => void action.run()}
    >
      <TextField
        label={words.perHour}
        hint={words.limitHint}
        type="number"
        min={0}
        value={hour}
        onValue={setHour}
        error={errorOf('recipients_per_hour')}
        hasFocus
      />
      <TextField
        label={words.perDay}
        hint={words.limitHint}
        type="number"
        min={0}
        value={day}
        onValue={setDay}
        error={errorOf('recipients_per_day')}
      />
    </Dialog>
  )
}

export function RevokeAgent({ agent: { id, email }, onClose }: AgentDialogProps) {
  const action = useAction(async () => {
    await take(operatorApi.POST('/agents/{registration_id}/revoke', { params: { path: { registration_id: id } } }))
    refresh('operator', 'agents')
    say(words.revoked(email))
    onClose()
  })
  return (
    <Confirm
      title={words.revokeTitle(email)}
      verb={words.revoke}
      isBusy={action.isBusy}
      error={action.error}
      onConfirm={() => void action.run()}
      onClose={onClose}
    >
      {words.revokeText}
    </Confirm>
  )
}

/** Counts first: the number stands in the button that ends them. */
export function RevokeMany({ onClose }: { onClose: () => void }) {
  const [since, setSince] = useState(daysAgo(1).slice(0, 10))
  const [found, setFound] = useState<number | null>(null)
  const revoke = async (dryRun: boolean) => {
    const body = { created_after: `${since}T00:00:00Z`, dry_run: dryRun }
    return (await take(operatorApi.POST('/agents/revoke-all', { body }))).revoked
  }
  const countThem = useAction(async () => setFound(await revoke(true)))
  const endThem = useAction(async () => {
    const ended = await revoke(false)
    refresh('operator', 'agents')
    say(words.endedMany(ended))
    onClose()
  })
  const foot =
    found === null ? (
      <FormFoot verb={words.countThem} action={countThem} isOff={since === ''} onClose={onClose} />
    ) : (
      <>
        <Button onPress={onClose}>{common.keepIt}</Button>
        <Button kind="danger-sure" isBusy={endThem.isBusy} isOff={found === 0} onPress={() => void endThem.run()}>
          {words.endThem(found)}
        </Button>
      </>
    )
  return (
    <Dialog
      title={words.revokeAllTitle}
      foot={foot}
      error={countThem.error ?? endThem.error}
      onClose={onClose}
      onSubmit={() => (found === null ? void countThem.run() : undefined)}
    >
      <TextField
        label={words.since}
        type="date"
        value={since}
        onValue={(value) => {
          setSince(value)
          setFound(null)
        }}
        hasFocus
      />
      {found !== null && <p role="status">{words.wouldEnd(found)}</p>}
    </Dialog>
  )
}
