// Steps in time: a dot for each, a sign only for what ended well, badly, or waits.

import type { ComponentChildren } from 'preact'
import type { IconName } from '../look/icons.ts'
import { Icon, SIGNS, type Tone } from './icon.tsx'

export interface TimelineStep {
  time: string
  /** What happened, in one or two words. */
  title: string
  detail?: ComponentChildren
  tone?: Tone
  icon?: IconName
}

export function Timeline({ steps }: { steps: readonly TimelineStep[] }) {
  return (
    <ol class="timeline">
      {steps.map(({ time, title, detail, tone = '', icon }, index) => (
        <li key={`${time} ${title} ${index}`}>
          {tone === '' ? <span class="dot" aria-hidden="true" /> : <Icon name={icon ?? SIGNS[tone]} tone={tone} />}
          <span class="mono soft">{time}</span>
          <span>
            <b>{title}</b> <span class="soft">{detail}</span>
          </span>
        </li>
      ))}
    </ol>
  )
}
