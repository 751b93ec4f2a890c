// Menus: a button that opens a list of actions, links or choices; arrows move, Escape closes.

import type { ComponentChildren, TargetedKeyboardEvent } from 'preact'
import { useId, useRef, useState } from 'preact/hooks'
import type { IconName } from '../look/icons.ts'
import { Icon } from './icon.tsx'

export interface MenuItem {
  label: string
  icon?: IconName
  /** Shown soft at the end. */
  note?: string
  href?: string
  onPress?: () => void
  /** One of several choices, and whether it is the chosen one. */
  isChosen?: boolean
  /** A heading above it. */
  head?: string
  isDangerous?: boolean
}

interface MenuProps {
  label?: string
  class?: string
  items: readonly MenuItem[]
  /** What the button shows. */
  children: ComponentChildren
}

const GAP = 4
const EDGE = 8

/** Below the button, at its start, inside the window. */
function place(menu: HTMLElement, button: HTMLElement): void {
  const { bottom, left, right, top } = button.getBoundingClientRect()
  const { offsetWidth, offsetHeight } = menu
  const start = document.documentElement.dir === 'rtl' ? right - offsetWidth : left
  const x = Math.max(EDGE, Math.min(start, innerWidth - offsetWidth - EDGE))
  const isBelow = bottom + GAP + offsetHeight < innerHeight || top < offsetHeight
  menu.style.position = 'fixed'
  menu.style.margin = '0'
  menu.style.left = `${x}px`
  menu.style.top = `${isBelow ? bottom + GAP : top - GAP - offsetHeight}px`
}

const entriesOf = (menu: HTMLElement | null) => [...(menu?.querySelectorAll<HTMLElement>('.menu-item') ?? [])]

function moveFocus(event: TargetedKeyboardEvent<HTMLElement>): void {
  const entries = entriesOf(event.currentTarget)
  const now = entries.indexOf(document.activeElement as HTMLElement)
  const targets: Record<string, number> = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: entries.length - 1 }
  const next = targets[event.key]
  if (next === undefined) return
  event.preventDefault()
  entries[(next + entries.length) % entries.length]?.focus()
}

export function Menu({ label, class: look = 'button', items, children }: MenuProps) {
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const menu = useRef<HTMLDivElement>(null)
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button
        ref={button}
        type="button"
        class={look}
        popovertarget={id}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-label={label}
      >
        {children}
      </button>
      <div
        ref={menu}
        id={id}
        class="menu"
        popover="auto"
        role="menu"
        aria-label={label}
        onKeyDown={moveFocus}
        onToggle={(event) => {
          const isNowOpen = event.newState === 'open'
          setOpen(isNowOpen)
          if (!isNowOpen) return
          place(event.currentTarget, button.current!)
          entriesOf(menu.current)[0]?.focus()
        }}
      >
        {isOpen &&
          items.map((item) => <Entry key={item.label} item={item} close={() => menu.current?.hidePopover()} />)}
      </div>
    </>
  )
}

const roleOf = (isChosen: boolean | undefined) =>
  isChosen === undefined ? { role: 'menuitem' as const } : { role: 'menuitemradio' as const, 'aria-checked': isChosen }

function Entry({ item, close }: { item: MenuItem; close: () => void }) {
  const { label, icon, note, href, onPress, isChosen, head, isDangerous } = item
  const content = (
    <>
      {icon !== undefined && <Icon name={icon} />}
      {isChosen !== undefined && (isChosen ? <Icon name="check" /> : <span class="icon" />)}
      <span class={isDangerous ? 'danger' : ''}>{label}</span>
      {note !== undefined && <span class="end meta">{note}</span>}
    </>
  )
  const press = () => {
    close()
    onPress?.()
  }
  return (
    <>
      {head !== undefined && (
        <div class="menu-head" role="presentation">
          {head}
        </div>
      )}
      {href === undefined ? (
        <button type="button" {...roleOf(isChosen)} class="menu-item" onClick={press}>
          {content}
        </button>
      ) : (
        <a role="menuitem" class="menu-item" href={href} onClick={press}>
          {content}
        </a>
      )}
    </>
  )
}
