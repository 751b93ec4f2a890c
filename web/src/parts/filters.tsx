// Filters of a list: kept in the address, so that a view can be sent to a colleague.

import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { startOfDayBefore } from '../base/dates.ts'
import type { IconName } from '../look/icons.ts'
import { common } from '../words/en/common.ts'
import { Icon } from './icon.tsx'
import { Menu } from './menu.tsx'
import { SearchInput } from './search-input.tsx'

const TYPING_MS = 250

export interface Filters {
  /** The members of the address that are set. */
  values: Record<string, string>
  get(name: string): string | undefined
  /** An empty value removes the member. */
  set(name: string, value: string | null): void
  /** Several at once. */
  change(values: Readonly<Record<string, string | null>>): void
  clear(): void
  isAnySet: boolean
}

/** The filters in the address. Members that are no filter, such as the opened row, are named in `others`. */
export function useFilters(others: readonly string[] = ['open']): Filters {
  const { path, query, route } = useLocation()
  const go = (values: Record<string, string>) => {
    const search = new URLSearchParams(values).toString()
    route(search === '' ? path : `${path}?${search}`, true)
  }
  const change = (values: Readonly<Record<string, string | null>>) => {
    const all = Object.entries<string | null>({ ...query, ...values })
    go(Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== null && entry[1] !== '')))
  }
  return {
    values: query,
    // An address that a person wrote may have `open=`.
    get: (name) => query[name] || undefined,
    set: (name, value) => change({ [name]: value }),
    change,
    clear: () => go({}),
    isAnySet: Object.keys(query).some((name) => !others.includes(name)),
  }
}

/** The search of a list; it follows the typing after a moment. */
export function SearchField({ filters, label, name = 'q' }: { filters: Filters; label: string; name?: string }) {
  const current = filters.get(name) ?? ''
  const [text, setText] = useState(current)
  const sent = useRef(current)
  // A row may be opened while the text waits.
  const latest = useRef(filters)
  latest.current = filters
  useEffect(() => {
    if (current !== sent.current) setText(current)
    sent.current = current
  }, [current])
  useEffect(() => {
    if (text === sent.current) return
    const timer = setTimeout(() => {
      sent.current = text
      latest.current.set(name, text)
    }, TYPING_MS)
    return () => clearTimeout(timer)
  }, [text])
  return <SearchInput label={label} value={text} onValue={setText} />
}

interface FilterMenuProps {
  filters: Filters
  name: string
  label: string
  choices: readonly { value: string; label: string }[]
  icon?: IconName
}

/** One filter as a button: its name, or the chosen value on the colour of a selection. */
export function FilterMenu({ filters, name, label, choices, icon }: FilterMenuProps) {
  const value = filters.get(name)
  const chosen = choices.find((choice) => choice.value === value)
  const items = [
    { label: common.all, isChosen: chosen === undefined, onPress: () => filters.set(name, null) },
    ...choices.map((choice) => ({
      label: choice.label,
      isChosen: choice === chosen,
      onPress: () => filters.set(name, choice.value),
    })),
  ]
  return (
    <Menu
      class={`button filter ${chosen === undefined ? '' : 'on'}`}
      label={chosen === undefined ? label : `${label}: ${chosen.label}`}
      items={items}
    >
      {icon !== undefined && <Icon name={icon} />}
      {chosen?.label ?? label}
      <Icon name="chevron-down" />
    </Menu>
  )
}

/** The choices of a filter, by the text of each value. */
export function choicesOf(texts: Readonly<Record<string, string>>): { value: string; label: string }[] {
  return Object.entries(texts).map(([value, label]) => ({ value, label }))
}

const SINCE_DAYS = { today: 0, week: 7, month: 30 } as const

/** The filter `since` of logs: today, or the last days. */
export function SinceFilter({ filters }: { filters: Filters }) {
  return <FilterMenu filters={filters} name="since" label={common.since} choices={choicesOf(common.sinces)} />
}

/** The midnight from which the filter `since` shows, in the time zone of the person; undefined when it is not set. */
export function sinceDay(filters: Filters): string | undefined {
  const since = filters.get('since') as keyof typeof SINCE_DAYS | undefined
  return since !== undefined && since in SINCE_DAYS
    ? new Date(startOfDayBefore(SINCE_DAYS[since])).toISOString()
    : undefined
}

/** A filter that was set elsewhere, such as in an opened row: its value, and a way to take it away. Left out while it is not set. */
export function FilterChip({ filters, name, label }: { filters: Filters; name: string; label: string }) {
  const value = filters.get(name)
  if (value === undefined) return null
  const text = `${label}: ${value}`
  return (
    <button
      type="button"
      class="button filter on"
      aria-label={common.withoutFilter(text)}
      onClick={() => filters.set(name, null)}
    >
      <span class="cut">{text}</span>
      <Icon name="x" />
    </button>
  )
}

export function FilterBar({ children, end }: { children: ComponentChildren; end?: ComponentChildren }) {
  return (
    <search class="filters">
      {children}
      {end !== undefined && <div class="row end soft meta">{end}</div>}
    </search>
  )
}
