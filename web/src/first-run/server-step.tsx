// The second step: the name by which other mail servers meet this one, its address with HTTPS, and what it can reach.

import { useEffect, useState } from 'preact/hooks'
import { done, operatorApi, take } from '../api/client.ts'
import type { Finding, ServerName } from '../api/operator.ts'
import { refresh, useAction, useQuery } from '../live/query.ts'
import { Button } from '../parts/button.tsx'
import { Secret } from '../parts/copy.tsx'
import { TextField } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Icon, SIGNS } from '../parts/icon.tsx'
import { ToneLine } from '../parts/marks.tsx'
import { ErrorCard, Skeleton } from '../parts/quiet.tsx'
import { ServerText } from '../parts/server-text.tsx'
import { common } from '../words/en/common.ts'
import { firstRun } from '../words/en/first-run.ts'

const words = firstRun.server
const TONES = { ok: 'good', warn: 'warn', fail: 'danger' } as const
const ORDER = ['fail', 'warn', 'ok'] as const

type Area = keyof typeof words.areas

/** The checks of the doctor behind each line. */
const CHECKS: Readonly<Record<Area, readonly string[]>> = {
  https: ['settings'],
  certificate: ['tls'],
  receiving: ['smtp', 'port_25_in', 'port_25'],
  sending: ['port_25_out'],
  reverse: ['mail_host', 'reverse_dns', 'host_records'],
  listing: ['listing'],
  machine: ['disk', 'clock', 'data_folder'],
}

export function ServerStep({ onDone }: { onDone: () => void }) {
  const name = useQuery(['operator', 'server-name'], () => take(operatorApi.GET('/server-name')))
  return (
    <>
      <div>
        <h1>{words.title}</h1>
        <p class="lead">{words.lead}</p>
      </div>
      {name.error !== null && <ErrorCard error={name.error} onRetry={name.refetch} />}
      {name.data === undefined && name.error === null && <Skeleton rows={3} />}
      {name.data !== undefined && <Names name={name.data} />}
      <Reach />
      <div class="row wide wrap">
        <Button kind="primary" size="form" onPress={onDone}>
          {common.continue}
        </Button>
        <p class="soft">{name.data?.is_public === false ? words.goOnLocal : words.goOn}</p>
      </div>
    </>
  )
}

/** The link that signs in at the new address, once it was made: another answer does not repeat it. */
function Names({ name }: { name: ServerName }) {
  const known = name.next_mail_host ?? name.mail_host
  const knownOrigin = name.next_app_origin ?? name.app_origin
  const [host, setHost] = useState(name.is_public ? known : '')
  const [origin, setOrigin] = useState(knownOrigin)
  const [link, setLink] = useState<string | null>(null)
  const save = useAction(async () => {
    const isOther = origin.trim() !== knownOrigin
    const body = { mail_host: host.trim(), ...(isOther ? { app_origin: origin.trim().replace(/\/$/, '') } : {}) }
    const chosen = await take(operatorApi.PUT('/server-name', { body }))
    if (chosen.sign_in_link !== null) setLink(chosen.sign_in_link)
    refresh('operator', 'server-name')
  })
  if (!name.is_changeable) {
    return (
      <ToneLine>
        {words.fixed(name.mail_host)} <PointsHere name={name} />
      </ToneLine>
    )
  }
  const fieldError = (field: string) => save.error?.fieldMessage(field)
  const isInForm = ['mail_host', 'app_origin'].some((field) => fieldError(field) !== undefined)
  return (
    <Form class="stack loose" onSubmit={() => void save.run()}>
      <TextField
        label={words.name}
        hint={words.nameHint}
        isLarge
        inputMode="url"
        value={host}
        onValue={setHost}
        error={fieldError('mail_host')}
        inside={<PointsHere name={name} />}
      />
      <TextField
        label={words.origin}
        hint={words.originHint}
        isLarge
        inputMode="url"
        value={origin}
        onValue={setOrigin}
        error={fieldError('app_origin')}
      />
      {save.error !== null && !isInForm && <ErrorCard error={save.error} />}
      <div class="row">
        <Button submits isBusy={save.isBusy} isOff={host.trim() === ''}>
          {words.save}
        </Button>
      </div>
      <Restart name={name} />
      {link !== null && (
        <div class="panel stack">
          <p>{words.moves(location.hostname, knownOrigin)}</p>
          <Secret text={link} />
        </div>
      )}
    </Form>
  )
}

/** What was chosen holds from the next start on. */
function Restart({ name: { mail_host: host, next_mail_host: next, next_app_origin: origin } }: { name: ServerName }) {
  if (next === null && origin === null) return null
  return <ToneLine tone="warn">{words.restart(next ?? host)}</ToneLine>
}

function PointsHere({ name: { addresses, is_public: isPublic } }: { name: ServerName }) {
  if (!isPublic) return null
  const list = addresses.map(({ address }) => address).join(', ')
  if (addresses.length === 0) return <span class="warn">{words.noAddress}</span>
  const isHere = addresses.every(({ is_here: here }) => here)
  return <span class={isHere ? 'good' : 'soft'}>{isHere ? words.here(list) : words.elsewhere(list)}</span>
}

function Reach() {
  const [isChecked, setChecked] = useState(false)
  const health = useQuery(['operator', 'doctor'], () => take(operatorApi.GET('/doctor')))
  const run = useAction(async () => {
    await done(operatorApi.POST('/doctor', { body: { outside: true } }))
    setChecked(true)
    refresh('operator', 'doctor')
  })
  useEffect(() => void run.run(), [])
  const findings = isChecked ? (health.data?.findings ?? []) : []
  return (
    <section class="stack" aria-label={words.reach}>
      <div class="row">
        <h2 class="sub">{words.reach}</h2>
        <span class="end row soft">
          {findings.length > 0 && words.counts(countsOf(findings))}
          <Button kind="quiet" icon="refresh-cw" isBusy={run.isBusy} onPress={() => void run.run()}>
            {words.again}
          </Button>
        </span>
      </div>
      {run.error !== null && <ErrorCard error={run.error} />}
      <ul class="card findings">
        {(Object.keys(words.areas) as Area[]).map((area) => (
          <AreaLine
            key={area}
            area={area}
            isChecked={findings.length > 0}
            findings={findings.filter(({ check }) => CHECKS[area].includes(check))}
          />
        ))}
      </ul>
    </section>
  )
}

const worstOf = (findings: readonly Finding[]) => ORDER.find((level) => findings.some(({ status }) => status === level))

function countsOf(findings: readonly Finding[]): Record<(typeof ORDER)[number], number> {
  const levels = (Object.keys(words.areas) as Area[]).map((area) =>
    worstOf(findings.filter(({ check }) => CHECKS[area].includes(check))),
  )
  const count = (level: string) => levels.filter((one) => one === level).length
  return { ok: count('ok'), warn: count('warn'), fail: count('fail') }
}

/** One line for each area: its worst finding, with what to do. */
interface AreaProps {
  area: Area
  /** The checks have ended. */
  isChecked: boolean
  findings: readonly Finding[]
}

function AreaLine({ area, isChecked, findings }: AreaProps) {
  const isSkipped = isChecked && findings.length === 0
  const worst = worstOf(findings)
  const shown = findings.filter(({ status }) => status === worst)
  return (
    <li class="finding area">
      {isSkipped ? (
        <Icon name="info" />
      ) : worst === undefined ? (
        <span class="spinner" />
      ) : (
        <Icon name={SIGNS[TONES[worst]]} tone={TONES[worst]} />
      )}
      <div>
        <p class="row">
          <b>{words.areas[area]}</b>
          <span class={`end ${worst === undefined ? 'soft' : TONES[worst]}`}>
            {isSkipped ? words.notChecked : worst === undefined ? words.checking : words.levels[worst]}
          </span>
        </p>
        {isSkipped && <p class="soft">{words.nameFirst}</p>}
        {shown.map(({ sentence, remedy }) => (
          <p key={sentence} class="soft">
            <ServerText>{[sentence, remedy].filter(Boolean).join(' ')}</ServerText>
          </p>
        ))}
      </div>
    </li>
  )
}
