// The command palette: every page by a few letters, every record by its id. Ctrl-K opens it.

import { signal } from '@preact/signals'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import type { IconName } from '../look/icons.ts'
import { Icon } from '../parts/icon.tsx'
import { shell as words } from '../words/en/shell.ts'

export const isPaletteOpen = signal(false)

export interface PaletteEntry {
  label: string
  note: string
  href: string
  icon: IconName
}

const MOST_SHOWN = 12

/** Entries whose label has all the words, those that begin with the first word before the others. */
function matching(entries: readonly PaletteEntry[], text: string): PaletteEntry[] {
  const wanted = text.toLowerCase().split(/\s+/).filter(Boolean)
  const found = entries.filter(({ label, note }) =>
    wanted.every((word) => `${label} ${note}`.toLowerCase().includes(word)),
  )
  const rank = ({ label }: PaletteEntry) => (label.toLowerCase().startsWith(wanted[0] ?? '') ? 0 : 1)
  return found.sort((a, b) => rank(a) - rank(b)).slice(0, MOST_SHOWN)
}

interface PaletteProps {
  entries: readonly PaletteEntry[]
  /** The page of a record, by its id. */
  openId: (id: string) => PaletteEntry | null
}

export function Palette({ entries, openId }: PaletteProps) {
  return isPaletteOpen.value ? <OpenPalette entries={entries} openId={openId} /> : null
}

function OpenPalette({ entries, openId }: PaletteProps) {
  const { route } = useLocation()
  const dialog = useRef<HTMLDialogElement>(null)
  const [text, setText] = useState('')
  const [active, setActive] = useState(0)
  const id = useId()
  const record = openId(text.trim())
  const shown = record === null ? matching(entries, text) : [record]
  // Before the next key press: what is typed at once is meant for the field.
  useLayoutEffect(() => {
    const before = document.activeElement
    dialog.current!.showModal()
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  const close = () => {
    isPaletteOpen.value = false
  }
  const go = (entry: PaletteEntry | undefined) => {
    if (entry === undefined) return
    close()
    route(entry.href)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) setActive((active + step + shown.length) % Math.max(1, shown.length))
    else if (event.key === 'Enter') go(shown[active])
    else return
    event.preventDefault()
  }
  return (
    <dialog ref={dialog} class="palette" aria-label={words.search} onClose={close}>
      <div class="palette-field">
        <Icon name="search" />
        <input
          type="text"
          role="combobox"
          aria-expanded="true"
          aria-controls={id}
          aria-activedescendant={shown.length > 0 ? `${id}-${active}` : undefined}
          aria-label={words.search}
          placeholder={words.search}
          value={text}
          spellcheck={false}
          onInput={(event) => {
            setText(event.currentTarget.value)
            setActive(0)
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <Found id={id} entries={shown} active={active} go={go} />
    </dialog>
  )
}

interface FoundProps {
  id: string
  entries: readonly PaletteEntry[]
  active: number
  go: (entry: PaletteEntry) => void
}

function Found({ id, entries, active, go }: FoundProps) {
  return (
    <>
      {entries.length === 0 && <p class="palette-empty">{words.nothingFound}</p>}
      <div id={id} class="palette-list" role="listbox" aria-label={words.searchPages}>
        {entries.map((entry, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys; the list is its popup
          <div
            key={entry.href}
            id={`${id}-${index}`}
            class="menu-item"
            role="option"
            tabIndex={-1}
            aria-selected={index === active}
            onClick={() => go(entry)}
          >
            <Icon name={entry.icon} />
            <span>{entry.label}</span>
            <span class="end meta">{entry.note}</span>
          </div>
        ))}
      </div>
    </>
  )
}
