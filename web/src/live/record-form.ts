// What a form of a record holds while the record also changes elsewhere: what a person typed stays, the rest follows the record.

import { useEffect, useState } from 'preact/hooks'
import { type Change, changeShown, keyOf } from './change.ts'
import { type Action, refresh, showAnswer, useAction } from './query.ts'

interface FormState<F> {
  /** The record when the form last followed it. */
  seen: F
  /** What was not typed: as the record had it, or as it was saved. */
  base: F
  /** What stands in the fields. */
  fields: F
  /** Another person changed the record while something typed was not saved. */
  isOvertaken: boolean
}

export interface RecordForm<F> {
  fields: F
  set(change: Partial<F>): void
  /** What the person changed, which alone is sent. */
  changed: Partial<F>
  isChanged: boolean
  isOvertaken: boolean
  /** To be called when the changes are saved. @param answered the fields as the answer has them */
  saved(answered: F): void
}

/** @param now the fields as the record has them */
export function useRecordForm<F extends object>(now: F): RecordForm<F> {
  const [state, setState] = useState<FormState<F>>({ seen: now, base: now, fields: now, isOvertaken: false })
  const { base, fields, isOvertaken } = followed(state, now)
  useEffect(() => setState((latest) => followed(latest, now)), [keyOf(now)])
  const changed = differing(fields, base)
  const isChanged = Object.keys(changed).length > 0
  return {
    ...{ fields, changed, isChanged },
    isOvertaken: isOvertaken && isChanged,
    set: (change) => setState((latest) => ({ ...latest, fields: { ...latest.fields, ...change } })),
    saved: (answered) =>
      setState((latest) => ({
        ...{ seen: latest.seen, base: answered, isOvertaken: false },
        // What was typed since the changes were sent stays. A secret does not, because no record shows one.
        fields: { ...answered, ...differing(latest.fields, fields) },
      })),
  }
}

function followed<F extends object>(state: FormState<F>, now: F): FormState<F> {
  const { seen, base, fields } = state
  if (keyOf(now) === keyOf(seen)) return state
  const typed = differing(fields, base)
  const isTyped = Object.keys(typed).length > 0
  // What this person saved may be read before their request ends: the record has what they typed.
  const theirs = differing(differing(now, base), fields)
  const isOvertaken = isTyped && (state.isOvertaken || Object.keys(theirs).length > 0)
  return { seen: now, base: now, fields: { ...now, ...typed }, isOvertaken }
}

interface RecordSave<R, F> extends Pick<Change<R>, 'seen' | 'read' | 'send'> {
  fieldsOf: (record: R) => F
  /** Of the query of the record. What begins with its team and kind is asked again, after a conflict, too. */
  key: readonly [team: string, kind: string, id: string]
  onSaved: () => void
}

/**
 * Saves what was changed in a form; a conflict is that another person has changed the same fields. The record is shown as the answer has
 * it, with which a form that is saved again, before the record is asked again, is compared.
 */
export function useRecordSave<R, F extends object>(
  form: RecordForm<F>,
  { fieldsOf, key, onSaved, ...change }: RecordSave<R, F>,
): Action<[], void> {
  // Where nothing was changed all that is shown is sent again, which must not take back what another person has saved.
  const names = Object.keys(form.isChanged ? form.changed : form.fields) as (keyof F)[]
  return useAction(async () => {
    try {
      const answer = await changeShown({ ...change, shown: (record) => names.map((name) => fieldsOf(record)[name]) })
      form.saved(fieldsOf(answer.value))
      showAnswer(key, answer)
    } finally {
      const [team, kind] = key
      refresh(team, kind)
    }
    onSaved()
  })
}

/** The members of one that differ from another. */
function differing<F extends object>(one: Partial<F>, other: F): Partial<F> {
  const names = (Object.keys(one) as (keyof F)[]).filter((name) => keyOf(one[name]) !== keyOf(other[name]))
  return Object.fromEntries(names.map((name) => [name, one[name]])) as Partial<F>
}
