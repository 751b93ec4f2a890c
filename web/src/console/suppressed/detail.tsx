// One suppressed address, opened: the reason in words, the evidence, and the message that caused it.

import type { Suppression } from '../../api/types.ts'
import { exact } from '../../base/dates.ts'
import { CodeValue } from '../../parts/copy.tsx'
import { Fact } from '../../parts/facts.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { RawJson } from '../../parts/raw-json.tsx'
import { inWords } from '../../words/en/replies.ts'
import { suppressed } from '../../words/en/suppressed.ts'
import { useTeam } from '../team.ts'

const words = suppressed.evidence

export function SuppressionDetail({ row }: { row: Suppression }) {
  const team = useTeam()
  const { id, reason, note, source_message_id: source, created_at: at } = row
  const meaning = reason === 'bounce' && note !== null ? inWords(note) : null
  return (
    <div class="card card-pad stack">
      <dl class="facts small">
        <Fact name={words.why}>
          <code>{reason}</code> {suppressed.reasonTexts[reason]}
        </Fact>
        <Fact name={reason === 'bounce' ? words.answer : words.note}>
          {note === null ? <span class="soft">{words.none}</span> : <Foreign>{note}</Foreign>}
        </Fact>
        {meaning !== null && <Fact name={words.meaning}>{meaning}</Fact>}
        <Fact name={words.since}>{exact(at)}</Fact>
        {source !== null && (
          <Fact name={words.source}>
            <CodeValue text={source} what={words.source} />
            {team.may('logs.read') && <a href={`${team.href('delivery')}?message=${source}`}>{words.show}</a>}
          </Fact>
        )}
        <Fact name={words.id}>
          <CodeValue text={id} what={words.idOf} />
        </Fact>
      </dl>
      <RawJson record={row} />
    </div>
  )
}
