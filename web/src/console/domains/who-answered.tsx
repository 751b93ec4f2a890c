// Which name servers the last check asked for a record, how long they took, and what they answered.

import type { AskedServer, DomainCheck } from '../../api/types.ts'
import { clockTime } from '../../base/dates.ts'
import { count } from '../../base/numbers.ts'
import type { LiveCheck } from '../../panels/domain-records.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Icon } from '../../parts/icon.tsx'
import { domains } from '../../words/en/domains.ts'

const words = domains.asked

/** For the first record that is wrong, else for the first one that was asked for. */
export function WhoAnswered({ live: { checks, checkedAt } }: { live: LiveCheck }) {
  const asked = (checks ?? []).filter((check) => check.asked.length > 0)
  const check = asked.find(({ ok }) => !ok) ?? asked[0]
  if (check === undefined || checkedAt === null) return null
  return (
    <section class="stack">
      <div>
        <h2 class="sub">{words.title}</h2>
        <p class="soft meta">{words.of(domains.kinds[check.record].name, clockTime(checkedAt))}</p>
      </div>
      <ul class="stack tight">
        {check.asked.map((server, index) => (
          <Server key={index} server={server} isRight={check.ok} />
        ))}
      </ul>
      <Answers check={check} />
    </section>
  )
}

function Server({ server: { server, ms, error }, isRight }: { server: AskedServer; isRight: boolean }) {
  const isGood = error === null && isRight
  return (
    <li class="row wide">
      <span class="row cut">
        <Icon
          name={isGood ? 'check' : error === null ? 'triangle-alert' : 'circle-x'}
          tone={isGood ? 'good' : 'warn'}
        />
        <span class="cut">{server === null ? words.resolver : <Foreign>{server}</Foreign>}</span>
      </span>
      <span class="soft meta nowrap">{error === null ? words.ms(count(ms)) : (words.errors[error] ?? error)}</span>
    </li>
  )
}

function Answers({ check: { found } }: { check: DomainCheck }) {
  return (
    <details>
      <summary>{words.show}</summary>
      {found.length === 0 ? (
        <p class="soft">{words.nothing}</p>
      ) : (
        found.map((value) => (
          <p key={value} class="mono small-answer">
            <Foreign>{value}</Foreign>
          </p>
        ))
      )}
    </details>
  )
}
