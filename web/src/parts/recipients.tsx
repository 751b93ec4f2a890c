// A field of recipients: each is a chip; text becomes one at a comma, at Enter, and when the field is left.

import type { TargetedKeyboardEvent } from 'preact'
import { useId, useState } from 'preact/hooks'
import { isAddress, readAddresses, type TypedAddress } from '../base/address-list.ts'
import { suggest } from '../base/suggest.ts'
import { compose as words } from '../words/en/compose.ts'
import { Icon } from './icon.tsx'
import { Suggestions } from './suggestions.tsx'

interface RecipientsProps {
  label: string
  people: readonly TypedAddress[]
  onPeople: (people: TypedAddress[]) => void
  /** People that complete the typed text. */
  contacts: readonly TypedAddress[]
  hasFocus?: boolean
}

export function Recipients({ label, people, onPeople, contacts, hasFocus = false }: RecipientsProps) {
  const id = useId()
  const [text, setText] = useState('')
  const taken = new Set(people.map(({ email }) => email.toLowerCase()))
  const addPeople = (more: readonly TypedAddress[]) => {
    const added = more.filter(({ email }) => !taken.has(email.toLowerCase()))
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
        <TypedRecipient
          {...{ id, label, text, setText, hasFocus }}
          suggested={suggest(contacts, text, taken)}
          add={(typed) => addPeople(readAddresses(typed))}
          choose={(person) => addPeople([person])}
        />
      </div>
    </div>
  )
}

interface TypedProps {
  id: string
  label: string
  suggested: readonly TypedAddress[]
  text: string
  setText: (text: string) => void
  add: (text: string) => void
  choose: (person: TypedAddress) => void
  hasFocus: boolean
}

function TypedRecipient(props: TypedProps) {
  const { id, label, text, setText, suggested, add, choose, hasFocus } = props
  const [active, setActive] = useState(0)
  const [isClosed, setClosed] = useState(false)
  const isShown = suggested.length > 0 && !isClosed
  const listId = `${id}-people`
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLInputElement>) => {
    if (event.isComposing) return
    if (isShown && pressInSuggestions(event, { ...props, active, setActive, close: () => setClosed(true) })) return
    if (event.key === 'Backspace' && text === '') focusLastChip(event.currentTarget)
    if (event.key !== 'Enter' || text === '' || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    add(text)
  }
  return (
    <>
      <input
        id={id}
        role="combobox"
        aria-expanded={isShown}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={isShown ? `${listId}-${active}` : undefined}
        type="text"
        inputMode="email"
        autocomplete="off"
        spellcheck={false}
        autofocus={hasFocus}
        value={text}
        onInput={({ currentTarget: { value } }) => {
          setActive(0)
          setClosed(false)
          if (/[,;\n]/.test(value)) add(value)
          else setText(value)
        }}
        onPaste={(event) => {
          const pasted = event.clipboardData?.getData('text/plain') ?? ''
          if (!/[,;\n]/.test(pasted)) return
          event.preventDefault()
          add(`${text}${pasted}`)
        }}
        onBlur={() => add(text)}
        onKeyDown={onKeyDown}
      />
      {isShown && (
        <Suggestions id={listId} label={words.suggested(label)} people={suggested} active={active} choose={choose} />
      )}
    </>
  )
}

interface SuggestedKeys extends TypedProps {
  active: number
  setActive: (index: number) => void
  close: () => void
}

/** @returns whether the key was for the suggestions */
function pressInSuggestions(event: TargetedKeyboardEvent<HTMLElement>, keys: SuggestedKeys): boolean {
  const { suggested, active, setActive, choose, close } = keys
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  const isChoice =
    (event.key === 'Enter' && !event.ctrlKey && !event.metaKey) || (event.key === 'Tab' && !event.shiftKey)
  if (step !== undefined) setActive((active + step + suggested.length) % suggested.length)
  else if (isChoice) choose(suggested[Math.min(active, suggested.length - 1)]!)
  else if (event.key === 'Escape') close()
  else return false
  event.preventDefault()
  event.stopPropagation()
  return true
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
