// Filters of a list: kept in the address, so that a view can be sent to a colleague.

import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import type { IconName } from '../look/icons.ts'
import { common } from '../words/en/common.ts'
import { Icon } from './icon.tsx'
import { Menu } from './menu.tsx'

const TYPING_MS = 250

export interface Filters {
  /** The members of the address that are set. */
  values: Record<string, string>
  get(name: string): string | undefined
  /** An empty value removes the member. */
  set(name: string, value: string | null): void
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
  return {
    values: query,
    get: (name) => query[name],
    set(name, value) {
      const { [name]: _, ...rest } = query
      go(value === null || value === '' ? rest : { ...rest, [name]: value })
    },
    clear: () => go({}),
    isAnySet: Object.keys(query).some((name) => !others.includes(name)),
  }
}

/** The search of a list; it follows the typing after a moment. */
export function SearchField({ filters, label, name = 'q' }: { filters: Filters; label: string; name?: string }) {
  const current = filters.get(name) ?? ''
  const [text, setText] = useState(current)
  const sent = useRef(current)
  useEffect(() => {
    if (current !== sent.current) setText(current)
    sent.current = current
  }, [current])
  useEffect(() => {
    if (text === sent.current) return
    const timer = setTimeout(() => {
      sent.current = text
      filters.set(name, text)
    }, TYPING_MS)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <div class="search">
      <Icon name="search" />
      <input
        class="input"
        type="search"
        data-search
        aria-label={label}
        placeholder={label}
        value={text}
        spellcheck={false}
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </div>
  )
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

export function FilterBar({ children, end }: { children: ComponentChildren; end?: ComponentChildren }) {
  return (
    <search class="filters">
      {children}
      {end !== undefined && <div class="row end soft meta">{end}</div>}
    </search>
  )
}
