// The command palette: every page and action by a few letters, every record by its name or id. Ctrl-K opens it.

import { signal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import type { IconName } from '../look/icons.ts'
import { Icon } from '../parts/icon.tsx'
import { shell as words } from '../words/en/shell.ts'

export const isPaletteOpen = signal(false)

export interface PaletteEntry {
  label: string
  note: string
  icon: IconName
  /** Where it leads; without it, `run` does something. */
  href?: string
  run?: () => void
}

/** What applications add that are not loaded with the frame, such as the pages of the operator; asked when the palette opens. */
export const moreEntries = signal<() => Promise<PaletteEntry[]>>(async () => [])

/** Entries whose label has all the words, those that begin with the first word before the others. */
function matching(entries: readonly PaletteEntry[], text: string): PaletteEntry[] {
  const wanted = text.toLowerCase().split(/\s+/).filter(Boolean)
  const found = entries.filter(({ label, note }) =>
    wanted.every((word) => `${label} ${note}`.toLowerCase().includes(word)),
  )
  const rank = ({ label }: PaletteEntry) => (label.toLowerCase().startsWith(wanted[0] ?? '') ? 0 : 1)
  return found.sort((a, b) => rank(a) - rank(b))
}

/** The buttons beside the title of the open page. */
function actionsOfPage(): PaletteEntry[] {
  return [...document.querySelectorAll<HTMLElement>('.page-actions .button:not(:disabled)')].map((button) => ({
    label: button.getAttribute('aria-label') ?? button.textContent ?? '',
    note: words.onThisPage,
    icon: 'circle-dot',
    run: () => button.click(),
  }))
}

/** Without those that lead where an earlier one leads. */
function distinct(entries: readonly PaletteEntry[]): PaletteEntry[] {
  const seen = new Set<string>()
  return entries.filter(({ href, label }) => {
    const name = href ?? label
    return !seen.has(name) && seen.add(name)
  })
}

interface PaletteProps {
  entries: readonly PaletteEntry[]
  /** The page of a record, by its id. */
  openId: (id: string) => PaletteEntry | null
  /** Records by their names. */
  findRecords: (text: string) => Promise<PaletteEntry[]>
}

export function Palette(props: PaletteProps) {
  return isPaletteOpen.value ? <OpenPalette {...props} /> : null
}

const PAUSE_MS = 200
const SHORTEST = 2

/** The records of a text, once it has not changed for a moment. */
function useRecords(text: string, findRecords: PaletteProps['findRecords']): PaletteEntry[] {
  const [records, setRecords] = useState<PaletteEntry[]>([])
  const name = text.trim()
  useEffect(() => {
    setRecords([])
    if (name.length < SHORTEST) return undefined
    let isOld = false
    const timer = setTimeout(() => {
      void findRecords(name).then((matches) => isOld || setRecords(matches))
    }, PAUSE_MS)
    return () => {
      isOld = true
      clearTimeout(timer)
    }
  }, [name])
  return records
}

/** The actions of the open page, the entries of the frame, and those of applications that are loaded now. */
function useAllEntries(entries: readonly PaletteEntry[]): PaletteEntry[] {
  const [actions] = useState(actionsOfPage)
  const [more, setMore] = useState<PaletteEntry[]>([])
  useEffect(() => {
    let isGone = false
    void moreEntries.value().then((found) => isGone || setMore(found))
    return () => {
      isGone = true
    }
  }, [])
  return distinct([...actions, ...entries, ...more])
}

/** Opens the dialog, and gives the focus back. */
function useModal(dialog: RefObject<HTMLDialogElement | null>): void {
  // Before the next key press: what is typed at once is meant for the field.
  useLayoutEffect(() => {
    const before = document.activeElement
    dialog.current!.showModal()
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
}

function OpenPalette({ entries, openId, findRecords }: PaletteProps) {
  const { route } = useLocation()
  const dialog = useRef<HTMLDialogElement>(null)
  const [text, setText] = useState('')
  const [active, setActive] = useState(0)
  const id = useId()
  const all = useAllEntries(entries)
  const record = openId(text.trim())
  const records = useRecords(text, findRecords)
  const shown = record === null ? [...matching(all, text), ...records] : [record]
  useModal(dialog)
  const close = () => {
    isPaletteOpen.value = false
  }
  const go = (entry: PaletteEntry | undefined) => {
    if (entry === undefined) return
    close()
    // The focus returns from the palette first: what opens now takes it from there.
    if (entry.href === undefined) requestAnimationFrame(() => entry.run?.())
    else if (entry.href.startsWith('/docs')) location.assign(entry.href)
    else route(entry.href)
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

const showActive = (element: HTMLElement | null) => element?.scrollIntoView({ block: 'nearest' })

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
            key={entry.href ?? entry.label}
            id={`${id}-${index}`}
            class="menu-item"
            role="option"
            tabIndex={-1}
            aria-selected={index === active}
            ref={index === active ? showActive : undefined}
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
