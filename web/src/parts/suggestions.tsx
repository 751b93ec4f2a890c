// People that complete what is typed in a field of recipients: a list below the field, moved through with the arrows.

import type { TypedAddress } from '../base/address-list.ts'

interface SuggestionsProps {
  id: string
  label: string
  people: readonly TypedAddress[]
  active: number
  choose: (person: TypedAddress) => void
}

export function Suggestions({ id, label, people, active, choose }: SuggestionsProps) {
  return (
    <div id={id} class="suggestions" role="listbox" aria-label={label}>
      {people.map((person, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys; the list is its popup
        <div
          key={person.email}
          id={`${id}-${index}`}
          class="menu-item"
          role="option"
          tabIndex={-1}
          aria-selected={index === active}
          // The field keeps the focus: leaving it would take the text as an address.
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => choose(person)}
        >
          <span class="cut">{person.name || person.email}</span>
          {person.name !== '' && <span class="end meta soft cut">{person.email}</span>}
        </div>
      ))}
    </div>
  )
}
