// When a message is sent: at once, on a morning that people mean, or at a time of one's choice.

import { useState } from 'preact/hooks'
import { dayAndTime, startOfDayBefore } from '../../base/dates.ts'
import { Dialog, FormFoot } from '../../parts/dialog.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Menu } from '../../parts/menu.tsx'
import { TimeFields, useChosenTime } from '../../parts/time-fields.tsx'
import { compose as words } from '../../words/en/compose.ts'

const HOUR_MS = 3_600_000
const LATER_MS = 2 * HOUR_MS
const MORNING_MS = 8 * HOUR_MS

const iso = (time: number) => new Date(time).toISOString()

/** @param onTime told when to send, as the API takes it */
export function SendLater({ onTime }: { onTime: (at: string) => void }) {
  const [isAsking, setAsking] = useState(false)
  const choices = [
    { label: words.later.today, at: iso(Date.now() + LATER_MS) },
    { label: words.later.tomorrow, at: iso(startOfDayBefore(-1) + MORNING_MS) },
  ]
  const items = [
    ...choices.map(({ label, at }) => ({ label, note: dayAndTime(at), onPress: () => onTime(at) })),
    { label: words.later.other, onPress: () => setAsking(true) },
  ]
  return (
    <>
      <Menu class="icon-button" label={words.later.title} items={items}>
        <Icon name="clock" />
      </Menu>
      {isAsking && (
        <AskTime
          close={() => setAsking(false)}
          onTime={(at) => {
            setAsking(false)
            onTime(at)
          }}
        />
      )}
    </>
  )
}

function AskTime({ close, onTime }: { close: () => void; onTime: (at: string) => void }) {
  const chosen = useChosenTime()
  return (
    <Dialog
      title={words.later.title}
      onClose={close}
      onSubmit={() => chosen.at !== null && onTime(chosen.at)}
      foot={<FormFoot verb={words.later.send} action={{ isBusy: false }} isOff={chosen.at === null} onClose={close} />}
    >
      <TimeFields chosen={chosen} hint={words.later.hint} hasFocus />
    </Dialog>
  )
}
