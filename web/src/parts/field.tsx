// Fields of forms: label above, hint below; an error replaces the hint.

import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { Icon } from './icon.tsx'
import { ServerText } from './server-text.tsx'

interface FieldFrame {
  label: string
  hint?: ComponentChildren
  /** What is wrong, and how it becomes right. */
  error?: string
  /** The error is a text of the page; else the server wrote it. */
  isOwnError?: boolean
  isLarge?: boolean
  /** The result of a live check, inside at the end. */
  inside?: ComponentChildren
}

interface TextFieldProps extends FieldFrame {
  value: string
  onValue: (value: string) => void
  type?: 'text' | 'email' | 'password' | 'number' | 'search' | 'url' | 'date' | 'time'
  placeholder?: string
  autoComplete?: string
  isRequired?: boolean
  isOff?: boolean
  hasFocus?: boolean
  min?: number
  max?: number
  lines?: number
  inputMode?: 'numeric' | 'email' | 'text' | 'url'
  isMono?: boolean
}

type HintProps = Pick<FieldFrame, 'hint' | 'error' | 'isOwnError'> & { id: string }

function Hint({ id, hint, error, isOwnError = false }: HintProps) {
  if (error !== undefined) {
    return (
      <p id={id} class="hint wrong">
        <Icon name="circle-x" size="small" />
        {isOwnError ? error : <ServerText>{error}</ServerText>}
      </p>
    )
  }
  return hint === undefined ? null : (
    <p id={id} class="hint">
      {hint}
    </p>
  )
}

/** One line of text, or several with `lines`. */
export function TextField(props: TextFieldProps) {
  const { label, hint, error, value, onValue, type = 'text', lines, inside } = props
  const id = useId()
  const shared = {
    id,
    value,
    placeholder: props.placeholder,
    required: props.isRequired,
    disabled: props.isOff,
    spellcheck: false,
    'aria-invalid': error !== undefined,
    'aria-describedby': hint !== undefined || error !== undefined ? `${id}-hint` : undefined,
  }
  return (
    <div class={`field ${props.isLarge ? 'large' : ''}`}>
      <label for={id}>{label}</label>
      <div class="field-box">
        {lines === undefined ? (
          <input
            {...shared}
            class={`input ${props.isMono ? 'mono' : ''}`}
            // The types of Preact tie a role to each kind of input; none of these kinds sets one.
            type={type as 'text'}
            autocomplete={props.autoComplete ?? 'off'}
            inputMode={props.inputMode}
            min={props.min}
            max={props.max}
            autofocus={props.hasFocus}
            onInput={(event) => onValue(event.currentTarget.value)}
          />
        ) : (
          <textarea
            {...shared}
            class={`textarea ${props.isMono ? 'mono' : ''}`}
            rows={lines}
            onInput={(event) => onValue(event.currentTarget.value)}
          />
        )}
        {inside !== undefined && <span class="field-inside">{inside}</span>}
      </div>
      <Hint id={`${id}-hint`} hint={hint} error={error} isOwnError={props.isOwnError} />
    </div>
  )
}

export interface Choice<T extends string = string> {
  value: T
  label: string
}

interface SelectFieldProps<T extends string> extends FieldFrame {
  value: T
  choices: readonly Choice<T>[]
  onValue: (value: T) => void
  isOff?: boolean
}

export function SelectField<T extends string>({
  label,
  hint,
  error,
  value,
  choices,
  onValue,
  isOff,
  isLarge,
}: SelectFieldProps<T>) {
  const id = useId()
  return (
    <div class={`field ${isLarge ? 'large' : ''}`}>
      <label for={id}>{label}</label>
      <span class="select-box">
        <select
          id={id}
          class="select"
          value={value}
          disabled={isOff}
          aria-describedby={hint !== undefined || error !== undefined ? `${id}-hint` : undefined}
          onChange={(event) => onValue(event.currentTarget.value as T)}
        >
          {choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {choice.label}
            </option>
          ))}
        </select>
        <Icon name="chevron-down" />
      </span>
      <Hint id={`${id}-hint`} hint={hint} error={error} />
    </div>
  )
}

interface CheckProps {
  label: ComponentChildren
  note?: ComponentChildren
  isOn: boolean
  onChange: (isOn: boolean) => void
  /** The name of a group of which one is chosen. */
  group?: string
  isOff?: boolean
}

/** A checkbox, or one of a group. */
export function Check({ label, note, isOn, onChange, group, isOff }: CheckProps) {
  return (
    <label class="check">
      <input
        type={group === undefined ? 'checkbox' : 'radio'}
        name={group}
        checked={isOn}
        disabled={isOff}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span>
        {label} {note !== undefined && <span class="soft meta">{note}</span>}
      </span>
    </label>
  )
}
