// The form of a sender filter with a field to try an address against it.

import { useState } from 'preact/hooks'
import type { ApiError } from '../api/errors.ts'
import type { FilterState } from '../api/types.ts'
import { matchesPattern } from '../base/sender-pattern.ts'
import { senderFilters as words } from '../words/en/filters.ts'
import { Button } from './button.tsx'
import { Check, TextField } from './field.tsx'
import { State } from './marks.tsx'
import { ErrorCard } from './quiet.tsx'

interface SenderFilterProps {
  filter: FilterState
  mayChange: boolean
  isBusy: boolean
  error: ApiError | null
  onSave: (filter: FilterState) => void
}

const linesOf = (filter: FilterState, type: 'allow' | 'deny') =>
  filter.rules
    .filter((rule) => rule.type === type)
    .map(({ pattern }) => pattern)
    .join('\n')

const patternsOf = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)

export function SenderFilter({ filter, mayChange, isBusy, error, onSave }: SenderFilterProps) {
  const [mode, setMode] = useState(filter.mode)
  const [allowed, setAllowed] = useState(linesOf(filter, 'allow'))
  const [denied, setDenied] = useState(linesOf(filter, 'deny'))
  const edited: FilterState = {
    mode,
    rules: [
      ...patternsOf(denied).map((pattern) => ({ type: 'deny' as const, pattern })),
      ...patternsOf(allowed).map((pattern) => ({ type: 'allow' as const, pattern })),
    ],
  }
  const fields = [
    <TextField
      key="allow"
      label={words.allowed}
      lines={5}
      isMono
      value={allowed}
      onValue={setAllowed}
      isOff={!mayChange}
      hint={words.hint}
    />,
    <TextField
      key="deny"
      label={words.denied}
      lines={5}
      isMono
      value={denied}
      onValue={setDenied}
      isOff={!mayChange}
    />,
  ]
  return (
    <div class="stack loose measure">
      <fieldset class="stack">
        {(Object.keys(words.modes) as FilterState['mode'][]).map((name) => (
          <Check
            key={name}
            group="mode"
            label={words.modes[name].label}
            note={words.modes[name].note}
            isOn={mode === name}
            isOff={!mayChange}
            onChange={() => setMode(name)}
          />
        ))}
      </fieldset>
      {mode !== 'off' && <div class="form-grid">{mode === 'allowlist' ? fields : fields.reverse()}</div>}
      {error !== null && <ErrorCard error={error} />}
      {mayChange && (
        <div class="row">
          <Button kind="primary" isBusy={isBusy} onPress={() => onSave(edited)}>
            {words.save}
          </Button>
        </div>
      )}
      {mode !== 'off' && <TrySender filter={edited} />}
    </div>
  )
}

/** What the filter alone would decide: in an allowlist a rule that denies wins, in a denylist one that allows. */
function decide({ mode, rules }: FilterState, sender: string): { passes: boolean; text: string } {
  const hit = (type: 'allow' | 'deny') =>
    rules.find((rule) => rule.type === type && matchesPattern(rule.pattern, sender))?.pattern
  const [allow, deny] = [hit('allow'), hit('deny')]
  if (mode === 'denylist') {
    return deny === undefined || allow !== undefined
      ? { passes: true, text: words.passes }
      : { passes: false, text: words.refused(deny) }
  }
  if (deny !== undefined) return { passes: false, text: words.refused(deny) }
  return allow === undefined ? { passes: false, text: words.notListed } : { passes: true, text: words.passes }
}

function TrySender({ filter }: { filter: FilterState }) {
  const [sender, setSender] = useState('')
  const result = sender.includes('@') ? decide(filter, sender) : null
  return (
    <section class="panel stack">
      <h2 class="sub">{words.tryTitle}</h2>
      <TextField label={words.tryLabel} type="email" value={sender} onValue={setSender} hint={words.tryNote} />
      <div role="status">
        {result !== null && <State tone={result.passes ? 'good' : 'danger'}>{result.text}</State>}
      </div>
    </section>
  )
}
