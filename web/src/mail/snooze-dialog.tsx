// Until when conversations are snoozed: the times that people mean, or one of their choice.

import { dayAndTime, startOfDayBefore } from '../base/dates.ts'
import { Dialog, FormFoot } from '../parts/dialog.tsx'
import { TimeFields, useChosenTime } from '../parts/time-fields.tsx'
import { mail as words } from '../words/en/mail.ts'
import { snooze } from './commands.ts'
import { useMail } from './mail-context.ts'
import { snoozing } from './snoozing.ts'

const HOUR_MS = 3_600_000
const LATER_MS = 3 * HOUR_MS
const MORNING_MS = 8 * HOUR_MS
const [MONDAY, SATURDAY] = [1, 6]

/** Days until the next of a day of the week: tomorrow at the earliest. @param weekday from 0 for Sunday */
function daysUntil(weekday: number): number {
  // Noon is on its day wherever the clock is changed.
  const today = new Date(startOfDayBefore(0) + 12 * HOUR_MS).getDay()
  return ((weekday - today + 6) % 7) + 1
}

const morningIn = (days: number) => startOfDayBefore(-days) + MORNING_MS

function choices() {
  const { choices: names } = words.snooze
  return [
    { label: names.today, at: Date.now() + LATER_MS },
    { label: names.tomorrow, at: morningIn(1) },
    { label: names.weekend, at: morningIn(daysUntil(SATURDAY)) },
    { label: names.week, at: morningIn(daysUntil(MONDAY)) },
  ].map(({ label, at }) => ({ label, at: new Date(at).toISOString() }))
}

export function SnoozeDialog() {
  const ids = snoozing.value
  return ids === null ? null : <AskUntil ids={ids} />
}

function AskUntil({ ids }: { ids: readonly string[] }) {
  const mail = useMail()
  const chosen = useChosenTime()
  const close = () => {
    snoozing.value = null
  }
  const set = (until: string | null) => {
    close()
    snooze(mail, ids, until)
  }
  const areWaiting = ids.every((id) => mail.data.threads.get(id).peek()?.snoozed_until != null)
  return (
    <Dialog
      title={words.snooze.title}
      onClose={close}
      onSubmit={() => chosen.at !== null && set(chosen.at)}
      foot={<FormFoot verb={words.snooze.set} action={{ isBusy: false }} isOff={chosen.at === null} onClose={close} />}
    >
      <div class="snooze-choices">
        {areWaiting && (
          <button type="button" class="snooze-choice" onClick={() => set(null)}>
            {words.snooze.now}
          </button>
        )}
        {choices().map(({ label, at }) => (
          <button key={label} type="button" class="snooze-choice" onClick={() => set(at)}>
            {label} <span class="soft">{dayAndTime(at)}</span>
          </button>
        ))}
      </div>
      <TimeFields chosen={chosen} hint={words.snooze.hint} />
    </Dialog>
  )
}
