// Which events a webhook gets.

import type { WebhookCreate } from '../../api/types.ts'
import { Check } from '../../parts/field.tsx'
import { webhooks as words } from '../../words/en/webhooks.ts'

export type EventTypes = WebhookCreate['event_types']
type EventType = keyof typeof words.types

const ALL = Object.keys(words.types) as EventType[]

export function EventChoice({ types, onTypes }: { types: EventTypes; onTypes: (types: EventTypes) => void }) {
  const isAll = types.includes('*')
  const toggle = (type: EventType, isOn: boolean) =>
    onTypes(isOn ? [...types, type] : types.filter((one) => one !== type))
  return (
    <fieldset class="stack">
      <legend class="strong">{words.which}</legend>
      <Check label={words.all} isOn={isAll} onChange={(isOn) => onTypes(isOn ? ['*'] : [...ALL])} />
      {types.some((type) => type === '*' || type.startsWith('message.received')) && (
        <p class="soft">{words.seesPreviews}</p>
      )}
      {!isAll &&
        ALL.map((type) => (
          <Check
            key={type}
            label={words.types[type]}
            note={type}
            isOn={types.includes(type)}
            onChange={(isOn) => toggle(type, isOn)}
          />
        ))}
    </fieldset>
  )
}
