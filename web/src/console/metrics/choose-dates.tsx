// The dialog that chooses the first and the last day.

import { useState } from 'preact/hooks'
import { Dialog, FormFoot } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/field.tsx'
import type { Filters } from '../../parts/filters.tsx'
import { metrics as words } from '../../words/en/metrics.ts'
import type { Range } from './range.ts'

const today = () => new Date().toISOString().slice(0, 10)

export function ChooseDates({ filters, range, onClose }: { filters: Filters; range: Range; onClose: () => void }) {
  const [from, setFrom] = useState(filters.get('from') ?? range.after.slice(0, 10))
  const [to, setTo] = useState(filters.get('to') ?? today())
  const isWrong = from > to
  const show = () => {
    if (isWrong || from === '' || to === '') return
    filters.change({ from, to, days: null, interval: null })
    onClose()
  }
  return (
    <Dialog
      title={words.chooseTitle}
      foot={<FormFoot verb={words.show} action={{ isBusy: false }} isOff={isWrong} onClose={onClose} />}
      onClose={onClose}
      onSubmit={show}
    >
      <div class="form-grid">
        <TextField label={words.from} type="date" value={from} onValue={setFrom} hasFocus />
        <TextField
          label={words.to}
          type="date"
          value={to}
          onValue={setTo}
          error={isWrong ? words.wrongOrder : undefined}
          isOwnError
        />
      </div>
    </Dialog>
  )
}
