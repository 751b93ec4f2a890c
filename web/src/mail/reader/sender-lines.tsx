// What is proven of the sender, in one sentence; behind it, why the message is where it is.

import { useState } from 'preact/hooks'
import type { Message, MessageEvidence, MessageView } from '../../api/types.ts'
import { readEvidence } from '../../api/views.ts'
import { useAction } from '../../live/action.ts'
import type { IconName } from '../../look/icons.ts'
import { Button } from '../../parts/button.tsx'
import type { Tone } from '../../parts/icon.tsx'
import { Icon } from '../../parts/icon.tsx'
import { ToneLine } from '../../parts/marks.tsx'
import { ErrorCard } from '../../parts/quiet.tsx'
import { ServerText } from '../../parts/server-text.tsx'
import { mail as words } from '../../words/en/mail.ts'
import { useMail } from '../mail-context.ts'

type Sentence = NonNullable<MessageView['tone']>

const TONES: Readonly<Record<Sentence['tone'], Tone>> = { good: 'good', unsure: 'warn', bad: 'danger', plain: '' }
const SIGNS: Readonly<Record<Sentence['tone'], IconName>> = {
  good: 'shield-check',
  unsure: 'shield-alert',
  bad: 'shield-alert',
  plain: 'info',
}

export function SenderLines({ message, view }: { message: Message; view: MessageView }) {
  const { data } = useMail()
  const [evidence, setEvidence] = useState<MessageEvidence | null>(null)
  const read = useAction(async () => setEvidence(await readEvidence(data.api, message.id)))
  if (view.tone === null) return null
  const isOpen = evidence !== null
  return (
    <div class="sender-lines">
      <ToneLine tone={TONES[view.tone.tone]} icon={SIGNS[view.tone.tone]}>
        <span class="tone-row">
          <Words sentence={view.tone} />
          <Button
            kind="link"
            isOpen={isOpen}
            isBusy={read.isBusy}
            onPress={() => (isOpen ? setEvidence(null) : void read.run())}
          >
            {words.why}
          </Button>
        </span>
      </ToneLine>
      {view.warnings.map((warning) => (
        <ToneLine key={warning.code} tone={TONES[warning.tone]} icon={SIGNS[warning.tone]}>
          <Words sentence={warning} />
        </ToneLine>
      ))}
      {read.error !== null && <ErrorCard error={read.error} />}
      {evidence !== null && <Evidence evidence={evidence} />}
    </div>
  )
}

/** A sentence in the words of the pages where they have it, else in those of the server. */
function Words({ sentence }: { sentence: Sentence }) {
  const own = Object.hasOwn(words.tones, sentence.code) ? words.tones[sentence.code as keyof typeof words.tones] : null
  if (own === null)
    return (
      <span>
        <ServerText>{sentence.text}</ServerText>
      </span>
    )
  const { head, rest } = own(sentence.params)
  return (
    <span>
      <span class="tone-head">{head}</span> {rest}
    </span>
  )
}

function Evidence({ evidence }: { evidence: MessageEvidence }) {
  return (
    <ul class="evidence" aria-label={words.evidence}>
      {evidence.sentences.map((sentence) => (
        <li key={`${sentence.code}-${sentence.text}`}>
          <Icon name={SIGNS[sentence.tone]} tone={TONES[sentence.tone] || 'soft'} />
          <Words sentence={sentence} />
        </li>
      ))}
    </ul>
  )
}
