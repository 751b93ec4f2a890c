// Small marks: badges, states, people, bars, tone lines, times.

import type { ComponentChildren } from 'preact'
import { exact, moment, relative } from '../base/dates.ts'
import { hueOf, initials } from '../base/people.ts'
import type { IconName } from '../look/icons.ts'
import { Icon, SIGNS, type Tone } from './icon.tsx'

interface Marked {
  tone?: Tone
  icon?: IconName
  children: ComponentChildren
}

const signOf = (tone: Tone, icon?: IconName) => icon ?? (tone === '' ? undefined : SIGNS[tone])

/** Sign and word on the wash of its tone. */
export function Badge({ tone = '', icon, children }: Marked) {
  const sign = signOf(tone, icon)
  return (
    <span class={`badge ${tone}`}>
      {sign && <Icon name={sign} />}
      {children}
    </span>
  )
}

/** Sign and word without a ground, for rows. */
export function State({ tone = '', icon, children }: Marked) {
  const sign = signOf(tone, icon)
  return (
    <span class={`state ${tone === '' ? 'soft' : tone}`}>
      {sign && <Icon name={sign} />}
      {children}
    </span>
  )
}

/** A sentence about a state, on its wash. */
export function ToneLine({ tone = '', icon, children }: Marked) {
  const sign = signOf(tone, icon) ?? 'info'
  return (
    <div class={`tone ${tone}`}>
      <Icon name={sign} />
      <div>{children}</div>
    </div>
  )
}

export function Person({ name, isSmall = false }: { name: string; isSmall?: boolean }) {
  return (
    <span class={`person ${isSmall ? 'small' : ''} hue-${hueOf(name)}`} aria-hidden="true">
      {initials(name)}
    </span>
  )
}

/** How much of something is used; its figures stand beside it in words, so that it is not read aloud. */
export function Bar({ share, isNeutral = false }: { share: number /** More is not worse. */; isNeutral?: boolean }) {
  const tone = isNeutral ? '' : share >= 1 ? 'danger' : share >= 0.8 ? 'warn' : ''
  const percent = Math.round(Math.min(1, Math.max(0, share)) * 100)
  return (
    <span class="bar" aria-hidden="true">
      <span class={`bar-fill ${tone}`} style={{ width: `${percent}%` }} />
    </span>
  )
}

/** A time as short as it can be; the whole of it is shown on hover and read aloud. */
export function Time({ at, as = 'moment' }: { at: string; as?: 'moment' | 'relative' }) {
  return (
    <time dateTime={at} title={exact(at)} class="nowrap">
      {as === 'moment' ? moment(at) : relative(at)}
    </time>
  )
}
