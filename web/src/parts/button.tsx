// Buttons, links that look like buttons, and buttons with an icon alone.

import type { ComponentChildren, TargetedMouseEvent } from 'preact'
import type { IconName } from '../look/icons.ts'
import { Icon } from './icon.tsx'

export type ButtonKind = 'secondary' | 'primary' | 'quiet' | 'link' | 'danger' | 'danger-sure'

interface Common {
  kind?: ButtonKind
  size?: '' | 'short' | 'form' | 'touch'
  icon?: IconName
  children: ComponentChildren
}

interface ButtonProps extends Common {
  /** Under way: a spinner before the word, a second press does nothing. */
  isBusy?: boolean
  isOff?: boolean
  /** Why it is off. */
  why?: string
  submits?: boolean
  isOpen?: boolean
  label?: string
  onPress?: (event: TargetedMouseEvent<HTMLButtonElement>) => void
}

export function Button(props: ButtonProps) {
  const {
    kind = 'secondary',
    size = '',
    icon,
    isBusy = false,
    isOff = false,
    why,
    submits = false,
    isOpen,
    onPress,
  } = props
  return (
    <button
      type={submits ? 'submit' : 'button'}
      class={`button ${kind} ${size}`}
      disabled={isOff}
      title={isOff ? why : undefined}
      aria-busy={isBusy}
      aria-expanded={isOpen}
      aria-label={props.label}
      onClick={(event) => {
        if (isBusy) event.preventDefault()
        else onPress?.(event)
      }}
    >
      {isBusy ? <span class="spinner" aria-hidden="true" /> : icon && <Icon name={icon} />}
      {props.children}
    </button>
  )
}

/** A link that looks like a button. */
export function ButtonLink({
  href,
  kind = 'secondary',
  size = '',
  icon,
  children,
  download,
  isNewTab = false,
}: Common & { href: string; download?: string; isNewTab?: boolean }) {
  const target = isNewTab ? { target: '_blank', rel: 'noopener' } : {}
  return (
    <a class={`button ${kind} ${size}`} href={href} download={download} {...target}>
      {icon && <Icon name={icon} />}
      {children}
    </a>
  )
}

interface IconButtonProps {
  icon: IconName
  label: string
  isTiny?: boolean
  isOpen?: boolean
  controls?: string
  onPress: (event: TargetedMouseEvent<HTMLButtonElement>) => void
}

export function IconButton({ icon, label, isTiny = false, isOpen, controls, onPress }: IconButtonProps) {
  return (
    <button
      type="button"
      class={`icon-button ${isTiny ? 'tiny' : ''}`}
      aria-label={label}
      title={label}
      aria-expanded={isOpen}
      aria-controls={controls}
      onClick={onPress}
    >
      <Icon name={icon} size={isTiny ? 'small' : ''} />
    </button>
  )
}
