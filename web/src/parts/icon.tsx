// One icon of the sprite; it says nothing by itself, a word or a label beside it does.

import type { IconName } from '../look/icons.ts'

/** Icons that point along the line: they turn with the direction of the language. */
const POINTING: ReadonlySet<IconName> = new Set([
  'arrow-right',
  'chevron-left',
  'chevron-right',
  'log-out',
  'send',
  'undo-2',
  'forward',
  'list',
  'terminal',
])

export function Icon({
  name,
  tone = '',
  size = '',
}: {
  name: IconName
  tone?: Tone | 'accent' | 'soft'
  size?: 'small' | 'large' | ''
}) {
  return (
    <svg class={`icon ${POINTING.has(name) ? 'points' : ''} ${size} ${tone}`} aria-hidden="true">
      <use href={`${ICON_FILE}#${name}`} />
    </svg>
  )
}

/** What a state means: it has a sign and a word, never a colour alone. */
export type Tone = '' | 'good' | 'warn' | 'danger'

/** The sign of a tone. */
export const SIGNS: Readonly<Record<Exclude<Tone, ''>, IconName>> = {
  good: 'check',
  warn: 'triangle-alert',
  danger: 'circle-x',
}

/** The mark of the product: an envelope under a roof. */
export function Mark({ size = '' }: { size?: 'large' | 'huge' | '' }) {
  return (
    <svg class={`mark ${size}`} viewBox="0 0 24 24" aria-hidden="true">
      <path d="M10.9 2.4a2 2 0 0 1 2.2 0l7.4 4.9a.9.9 0 0 1 0 1.4l-7.4 5a2 2 0 0 1-2.2 0l-7.4-5a.9.9 0 0 1 0-1.4z" />
      <path d="M2.5 11.1 10.200 16.3a3.2 3.2 0 0 0 3.6 0l7.700-5.200V19a2.5 2.5 0 0 1-2.5 2.5H5A2.5 2.5 0 0 1 2.5 19z" />
    </svg>
  )
}
