// When backups are made, where they are stored and which are kept; and a dialog that changes it.

import { useState } from 'preact/hooks'
import { operatorApi, take } from '../api/client.ts'
import type { BackupPlan } from '../api/operator.ts'
import { timeOfDayHere } from '../base/dates.ts'
import { size } from '../base/numbers.ts'
import { refresh, useAction } from '../live/query.ts'
import { Button } from '../parts/button.tsx'
import { CodeValue } from '../parts/copy.tsx'
import { Dialog, FormFoot } from '../parts/dialog.tsx'
import { Fact } from '../parts/facts.tsx'
import { Check, TextField } from '../parts/field.tsx'
import { Time, ToneLine } from '../parts/marks.tsx'
import { ServerText } from '../parts/server-text.tsx'
import { say } from '../parts/toast.tsx'
import { backups as words } from '../words/en/backups.ts'

const PATH = '/backup-plan'
const USUAL = { at: '03:15', keep: { days: 7, weeks: 4, months: 6 } }
const TIME = /^([01]?\d|2[0-3]):[0-5]\d$/

export function Plan({ plan }: { plan: BackupPlan }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <section class="card backup-plan" aria-label={words.plan}>
      <Lateness plan={plan} />
      <dl class="facts">
        <Fact name={words.folder}>
          <CodeValue text={plan.folder} what={words.folderOf} />
        </Fact>
        <Fact name={words.disk}>
          <code>{plan.disk.mount_point}</code>
          {', '}
          {words.room(size(plan.disk.free_bytes), size(plan.disk.size_bytes), size(plan.needed_bytes))}
        </Fact>
        <Fact name={words.schedule}>
          <span class="row wrap">
            <Schedule plan={plan} />
            {plan.is_changeable && (
              <Button size="short" onPress={() => setOpen(true)}>
                {plan.times.length === 0 ? words.choose : words.change}
              </Button>
            )}
          </span>
        </Fact>
        {plan.times.length > 0 && (
          <Fact name={words.kept}>{plan.keep === null ? words.keepsAll : words.keeps(plan.keep)}</Fact>
        )}
        <Fact name={words.lastGood}>
          {plan.last_good_at === null ? (
            words.none
          ) : (
            <span class="row wrap">
              <Time at={plan.last_good_at} as="relative" />
              <code class="cut" title={plan.last_good_file ?? undefined}>
                {plan.last_good_file}
              </code>
            </span>
          )}
        </Fact>
      </dl>
      {plan.disk.is_data_disk && <ToneLine tone="warn">{words.sameDisk}</ToneLine>}
      {!plan.is_changeable && <ToneLine>{words.fixed}</ToneLine>}
      {isOpen && <PlanDialog plan={plan} onClose={() => setOpen(false)} />}
    </section>
  )
}

function Lateness({ plan: { is_late: isLate, problem, last_good_at: at, times } }: { plan: BackupPlan }) {
  if (problem !== null)
    return (
      <ToneLine tone="danger">
        <ServerText>{problem}</ServerText>
      </ToneLine>
    )
  if (isLate) return <ToneLine tone="danger">{at === null ? words.neverGood : words.late}</ToneLine>
  if (times.length === 0) return <ToneLine tone="warn">{words.unscheduled}</ToneLine>
  return null
}

function Schedule({ plan: { times, next_at: next } }: { plan: BackupPlan }) {
  if (times.length === 0) return <span>{words.noSchedule}</span>
  return (
    <span>
      {words.daily(times.join(', '))}
      {next !== null && (
        <span class="soft">
          {words.next} <Time at={next} />
        </span>
      )}
    </span>
  )
}

const timesIn = (text: string) =>
  text
    .split(/[\s,;]+/)
    .filter(Boolean)
    .map((time) => time.padStart(5, '0'))

function PlanDialog({ plan, onClose }: { plan: BackupPlan; onClose: () => void }) {
  const [isOn, setOn] = useState(true)
  const [at, setAt] = useState(plan.times.length === 0 ? USUAL.at : plan.times.join(', '))
  const [isThinned, setThinned] = useState(plan.keep !== null)
  const [keep, setKeep] = useState(plan.keep ?? USUAL.keep)
  const times = timesIn(at)
  const isWrong = isOn && (times.length === 0 || !times.every((time) => TIME.test(time)))
  const save = useAction(async () => {
    const body = { times: isOn ? times : [], keep: isThinned ? keep : null }
    await take(operatorApi.PUT(PATH, { body }))
    refresh('operator', 'backup-plan')
    say(words.saved)
    onClose()
  })
  const count = (name: keyof typeof keep, least: number) => (
    <TextField
      label={words.units[name]}
      type="number"
      inputMode="numeric"
      min={least}
      max={999}
      value={String(keep[name])}
      onValue={(text) => setKeep({ ...keep, [name]: Number(text) })}
    />
  )
  return (
    <Dialog
      title={words.planTitle}
      foot={<FormFoot verb={words.save} action={save} isOff={isWrong} onClose={onClose} />}
      error={save.error}
      onClose={onClose}
      onSubmit={() => void save.run()}
    >
      <Check label={words.everyDay} isOn={isOn} onChange={setOn} />
      {isOn && (
        <TextField
          label={words.at}
          hint={isWrong ? undefined : words.atHint(times.map(timeOfDayHere).join(', '))}
          error={isWrong ? words.wrongTimes : undefined}
          isOwnError
          isMono
          value={at}
          onValue={setAt}
          hasFocus
        />
      )}
      {isOn && <Check label={words.thin} note={words.thinNote} isOn={isThinned} onChange={setThinned} />}
      {isOn && isThinned && (
        <div class="keep-counts">
          {count('days', 1)}
          {count('weeks', 0)}
          {count('months', 0)}
        </div>
      )}
      {!isOn && <p class="soft">{words.offText}</p>}
    </Dialog>
  )
}
