// The field of a search, with its sign.

import { Icon } from './icon.tsx'

interface SearchInputProps {
  label: string
  value: string
  onValue: (text: string) => void
}

export function SearchInput({ label, value, onValue }: SearchInputProps) {
  return (
    <div class="search">
      <Icon name="search" />
      <input
        class="input"
        type="search"
        data-search
        aria-label={label}
        placeholder={label}
        value={value}
        spellcheck={false}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
    </div>
  )
}
