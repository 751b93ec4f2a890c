// Two fields for a day and a time of it, in the time zone of the person.

import { useState } from 'preact/hooks'
import { timeOf } from '../base/dates.ts'
import { common } from '../words/en/common.ts'
import { TextField } from './field.tsx'

/** A day and a time that are being chosen. */
export interface ChosenTime {
  day: string
  clock: string
  /** RFC 3339; null before it is complete, and for what has passed. */
  at: string | null
  setDay: (day: string) => void
  setClock: (clock: string) => void
}

export function useChosenTime(): ChosenTime {
  const [day, setDay] = useState('')
  const [clock, setClock] = useState('08:00')
  const time = timeOf(day, clock)
  return { day, clock, at: time > Date.now() ? new Date(time).toISOString() : null, setDay, setClock }
}

/** @param hint below the time: how far ahead it may be */
export function TimeFields({ chosen, hint, hasFocus }: { chosen: ChosenTime; hint: string; hasFocus?: boolean }) {
  const { day, clock, setDay, setClock } = chosen
  return (
    <>
      <TextField label={common.day} type="date" value={day} onValue={setDay} hasFocus={hasFocus} />
      <TextField label={common.time} hint={hint} type="time" value={clock} onValue={setClock} />
    </>
  )
}
