// The certificates that are obtained by ACME: the state of each, why it waits, and a button that orders it again.

import { operatorApi, take } from '../api/client.ts'
import type { Certificate } from '../api/operator.ts'
import { refresh, useAction, useQuery } from '../live/query.ts'
import { Button } from '../parts/button.tsx'
import { Icon, SIGNS } from '../parts/icon.tsx'
import { Time } from '../parts/marks.tsx'
import { ErrorCard } from '../parts/quiet.tsx'
import { ServerText } from '../parts/server-text.tsx'
import { say } from '../parts/toast.tsx'
import { operator } from '../words/en/operator.ts'

const words = operator.certificates

/** Nothing while the server obtains none. */
export function Certificates() {
  const { data, error, refetch } = useQuery(['operator', 'certificates'], () => take(operatorApi.GET('/certificates')))
  const renew = useAction(async (name: string) => {
    await take(operatorApi.POST('/certificates/{name}/renew', { params: { path: { name } } }))
    refresh('operator', 'certificates')
    say(words.ordered(name))
  })
  if (error !== null) return <ErrorCard error={error} onRetry={refetch} />
  if (data === undefined || !data.is_on) return null
  return (
    <section aria-labelledby="certificates">
      <h2 id="certificates">{words.title}</h2>
      {renew.error !== null && <ErrorCard error={renew.error} />}
      {data.certificates.length === 0 && <p class="soft">{words.none}</p>}
      <ul class="card findings">
        {data.certificates.map((one) => (
          <li key={one.name} class="finding">
            <Sign certificate={one} />
            <code class="soft">{one.name}</code>
            <State certificate={one} />
            <Button isBusy={renew.isBusy} onPress={() => void renew.run(one.name)}>
              {words.renew}
            </Button>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Sign({ certificate: { reason, valid_until } }: { certificate: Certificate }) {
  const tone = reason === null ? 'good' : valid_until === null ? 'danger' : 'warn'
  return (
    <>
      <Icon name={SIGNS[tone]} tone={tone} />
      <span class="hidden-word">{words.signs[tone]}</span>
    </>
  )
}

function State({ certificate }: { certificate: Certificate }) {
  const { state, valid_until, renewal_at, reason, next_step_at } = certificate
  return (
    <div>
      <p class={reason === null ? '' : 'strong'}>
        {words.states[state]}
        {valid_until !== null && (
          <>
            , {words.until} <Time at={valid_until} />
          </>
        )}
      </p>
      {reason !== null && (
        <p class="soft">
          <ServerText>{reason}</ServerText> {words.again} <Time at={next_step_at} as="relative" />
        </p>
      )}
      {reason === null && renewal_at !== null && (
        <p class="soft">
          {words.renewal} <Time at={renewal_at} />
        </p>
      )}
    </div>
  )
}
