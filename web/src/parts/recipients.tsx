// A field of recipients: each is a chip; text becomes one at a comma, at Enter, and when the field is left.

import { useId, useState } from 'preact/hooks'
import { isAddress, readAddresses, type TypedAddress } from '../base/address-list.ts'
import { compose as words } from '../words/en/compose.ts'
import { Icon } from './icon.tsx'

interface RecipientsProps {
  label: string
  people: readonly TypedAddress[]
  onPeople: (people: TypedAddress[]) => void
  hasFocus?: boolean
}

export function Recipients({ label, people, onPeople, hasFocus = false }: RecipientsProps) {
  const id = useId()
  const [text, setText] = useState('')
  const add = (typed: string) => {
    const known = new Set(people.map(({ email }) => email.toLowerCase()))
    const added = readAddresses(typed).filter(({ email }) => !known.has(email.toLowerCase()))
    setText('')
    if (added.length > 0) onPeople([...people, ...added])
  }
  const remove = (email: string) => {
    onPeople(people.filter((person) => person.email !== email))
    document.getElementById(id)?.focus()
  }
  return (
    <div class="recipients">
      <label for={id}>{label}</label>
      <div class="recipients-box">
        {people.length > 0 && (
          <ul class="chips" aria-label={label}>
            {people.map((person) => (
              <Chip key={person.email} person={person} remove={() => remove(person.email)} />
            ))}
          </ul>
        )}
        <TypedRecipient id={id} text={text} setText={setText} add={add} hasFocus={hasFocus} />
      </div>
    </div>
  )
}

interface TypedProps {
  id: string
  text: string
  setText: (text: string) => void
  add: (text: string) => void
  hasFocus: boolean
}

function TypedRecipient({ id, text, setText, add, hasFocus }: TypedProps) {
  return (
    <input
      id={id}
      type="text"
      inputMode="email"
      autocomplete="off"
      spellcheck={false}
      autofocus={hasFocus}
      value={text}
      onInput={({ currentTarget: { value } }) => (/[,;\n]/.test(value) ? add(value) : setText(value))}
      onPaste={(event) => {
        const pasted = event.clipboardData?.getData('text/plain') ?? ''
        if (!/[,;\n]/.test(pasted)) return
        event.preventDefault()
        add(`${text}${pasted}`)
      }}
      onBlur={() => add(text)}
      onKeyDown={(event) => {
        if (event.isComposing) return
        if (event.key === 'Backspace' && text === '') focusLastChip(event.currentTarget)
        if (event.key !== 'Enter' || text === '' || event.ctrlKey || event.metaKey) return
        event.preventDefault()
        add(text)
      }}
    />
  )
}

/** Backspace in an empty field goes to the last chip; a second one takes it away. */
function focusLastChip(field: HTMLElement): void {
  field.parentElement?.querySelector<HTMLElement>('.chip:last-child button')?.focus()
}

function Chip({ person, remove }: { person: TypedAddress; remove: () => void }) {
  const isWrong = !isAddress(person.email)
  return (
    <li class={`chip ${isWrong ? 'danger' : ''}`} title={person.email}>
      {isWrong && <Icon name="circle-x" size="small" />}
      <span class="cut">
        {isWrong && <span class="hidden-word">{words.noAddress}</span>}
        {person.name || person.email}
      </span>
      <button
        type="button"
        aria-label={words.remove(person.name || person.email)}
        onClick={remove}
        onKeyDown={(event) => {
          if (event.key !== 'Backspace' && event.key !== 'Delete') return
          event.preventDefault()
          remove()
        }}
      >
        <Icon name="x" size="small" />
      </button>
    </li>
  )
}
