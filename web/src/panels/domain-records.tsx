// The records of a domain, checked live: found against wanted, word by word.

import { useEffect, useRef, useState } from 'preact/hooks'
import { type Api, take } from '../api/client.ts'
import { toApiError } from '../api/errors.ts'
import type { ClientDnsCheck, Domain, DomainCheck, DomainCheckChange } from '../api/types.ts'
import { moment, relative } from '../base/dates.ts'
import { useAction, useQuery } from '../live/query.ts'
import { FoundText, WantedText } from '../parts/compare.tsx'
import { CodeValue, CopyButton } from '../parts/copy.tsx'
import { Icon } from '../parts/icon.tsx'
import { State } from '../parts/marks.tsx'
import { ErrorCard } from '../parts/quiet.tsx'
import { domains as words } from '../words/en/domains.ts'
import { CHECK_SECONDS, keepCheck, type LastCheck, lastCheck, secondsLeft } from './last-checks.ts'
import { checkOf, type RecordRow, recordRows, shortName } from './record-rows.ts'

const SLOWEST_SECONDS = 60

export interface LiveCheck {
  checks: readonly DomainCheck[] | null
  /** Of the records that mail programs ask for; empty for those who may not check. */
  client: readonly ClientDnsCheck[]
  /** What the last checks found changed, newest first. */
  changes: readonly DomainCheckChange[]
  checkedAt: string | null
  /** Seconds until the next check. */
  nextIn: number
  isBusy: boolean
  error: ReturnType<typeof useAction>['error']
  checkNow: () => void
}

const TOO_SOON = 429

/** Checks the records now; the status is null when that was done a moment ago, by another person or in another tab: its answers hold here. */
async function verify(api: Api, domainId: string) {
  const params = { path: { domain_id: domainId } }
  try {
    const verified = await take(api.POST('/domains/{domain_id}/verify', { params }))
    const { checks, changes, client_checks: client, verification_status: status } = verified
    const check: LastCheck = { checks, changes, client, at: new Date().toISOString() }
    keepCheck(domainId, check)
    return { check, status }
  } catch (error) {
    if (toApiError(error).status !== TOO_SOON) throw error
    const { checks, changes, checked_at: at } = await take(api.GET('/domains/{domain_id}/checks', { params }))
    return { check: at === null ? null : { checks, changes, client: [], at }, status: null }
  }
}

/** Checks while the page is open: every few seconds at first, then slower, and not while the page is hidden. */
export function useDomainCheck(api: Api, domain: Domain, mayVerify: boolean, changed?: () => void): LiveCheck {
  const onChange = useRef(changed)
  onChange.current = changed
  const [result, setResult] = useState(() => lastCheck(domain.id))
  const [nextIn, setNextIn] = useState(() => secondsLeft(result))
  const wait = useRef(CHECK_SECONDS)
  const status = useRef(domain.verification_status)
  const action = useAction(async () => {
    const { check: found, status: now } = await verify(api, domain.id)
    if (found !== null)
      setResult((before) => ({ ...found, client: now === null ? (before?.client ?? []) : found.client }))
    if (now === null) return
    if (now !== status.current) onChange.current?.()
    status.current = now
  })
  const check = async () => {
    await action.run()
    setNextIn(wait.current)
    wait.current = Math.min(SLOWEST_SECONDS, Math.ceil(wait.current * 1.3))
  }
  useEffect(() => {
    if (!mayVerify) return
    if (nextIn === 0 && document.visibilityState === 'visible') void check()
    const timer = setTimeout(() => setNextIn((seconds) => Math.max(0, seconds - 1)), 1000)
    return () => clearTimeout(timer)
  }, [nextIn, mayVerify])
  const checkNow = () => {
    wait.current = CHECK_SECONDS
    setNextIn(secondsLeft(lastCheck(domain.id)))
  }
  // Those who may not check see what the last check of another found.
  const stored = useQuery(
    ['checks', domain.id],
    () => take(api.GET('/domains/{domain_id}/checks', { params: { path: { domain_id: domain.id } } })),
    {
      when: !mayVerify,
    },
  )
  const shown =
    result ?? (stored.data?.checked_at == null ? null : { ...stored.data, client: [], at: stored.data.checked_at })
  const { isBusy, error } = action
  return {
    checks: shown?.checks ?? null,
    client: shown?.client ?? [],
    changes: shown?.changes ?? [],
    checkedAt: shown?.at ?? null,
    ...{ nextIn, isBusy, error, checkNow },
  }
}

/** "Watching live. Checked 4 seconds ago, again in 6 s." */
export function LiveLine({ live }: { live: LiveCheck | null }) {
  if (live === null) return <p class="soft meta">{words.notWatching}</p>
  return (
    <p class="row soft meta">
      <span class="live-dot" />
      {live.checkedAt === null ? words.watchingFirst : words.watching(relative(live.checkedAt), live.nextIn)}
    </p>
  )
}

export function DomainRecords({ domain, live }: { domain: Domain; live: LiveCheck }) {
  return (
    <div class="stack">
      {live.error !== null && <ErrorCard error={live.error} onRetry={live.checkNow} />}
      <div class="table-box">
        <table class="table tall records folds">
          <thead>
            <tr>
              <th scope="col" class="sign-column">
                <span class="hidden-word">{words.state}</span>
              </th>
              <th scope="col">{words.record}</th>
              <th scope="col">{words.type}</th>
              <th scope="col">{words.host}</th>
              <th scope="col">{words.value}</th>
              <th scope="col" class="number">
                {words.state}
              </th>
            </tr>
          </thead>
          <tbody>
            {recordRows(domain).map((row) => (
              <OneRecord
                key={`${row.name} ${row.value}`}
                row={row}
                domain={domain}
                check={live.checks === null ? null : checkOf(row, live.checks)}
              />
            ))}
          </tbody>
        </table>
      </div>
      <p class="soft measure">{words.propagation}</p>
    </div>
  )
}

interface OneRecordProps {
  row: RecordRow
  domain: Domain
  /** Null while no check has answered. */
  check: DomainCheck | null | undefined
}

function OneRecord({ row, domain, check }: OneRecordProps) {
  const { name, note } = words.kinds[row.kind]
  const isWrong = check?.ok === false
  return (
    <>
      <tr class={isWrong ? 'opened' : ''}>
        <td>
          {check == null ? (
            <span class="spinner soft" />
          ) : (
            <Icon name={check.ok ? 'check' : 'triangle-alert'} tone={check.ok ? 'good' : 'warn'} />
          )}
        </td>
        <td>
          <span class="two-lines">
            <span>{name}</span>
            <span>{note}</span>
          </span>
        </td>
        <td class="mono soft">{row.type}</td>
        <td>
          <CodeValue text={shortName(row.name, domain.domain)} what={row.name} />
        </td>
        <td class="value-cell">
          <CodeValue text={row.value} what={name} />
        </td>
        <td class="number">
          <RecordState check={check} />
        </td>
      </tr>
      {isWrong && (
        <tr class="detail">
          <td colSpan={6}>
            <Difference row={row} check={check} />
          </td>
        </tr>
      )}
    </>
  )
}

function RecordState({ check }: { check: DomainCheck | null | undefined }) {
  if (check == null) return <span class="soft">{words.checking}</span>
  const since = check.since !== null && <span class="soft meta nowrap">{words.since(moment(check.since))}</span>
  return (
    <span class="record-state">
      {check.ok ? (
        <span class="soft">{words.right}</span>
      ) : (
        <State tone="warn">{check.found.length === 0 ? words.missing : words.differs}</State>
      )}
      {since}
    </span>
  )
}

/** The found record that shares the most words with the wanted one. */
function nearest(found: readonly string[], wanted: string): string | undefined {
  const words = new Set(wanted.split(' '))
  const shared = (text: string) => text.split(' ').filter((word) => words.has(word)).length
  return [...found].sort((a, b) => shared(b) - shared(a))[0]
}

function Difference({ row, check }: { row: RecordRow; check: DomainCheck }) {
  const found = nearest(check.found, row.value)
  const { what, effect } = (found === undefined ? words.absences : words.differences)[row.kind]
  const head = (
    <div class="compare-head">
      <Icon name="triangle-alert" />
      <p>
        <b>{what}</b> {effect}
      </p>
      {found === undefined && (
        <span class="end">
          <CopyButton text={row.value} label={words.copyValue} />
        </span>
      )}
    </div>
  )
  if (found === undefined) return <div class="card compare missing">{head}</div>
  return (
    <div class="card compare">
      {head}
      <div class="compare-body">
        <span class="soft">{words.found}</span>
        <FoundText found={found} wanted={row.value} />
        <span class="soft">{words.wanted}</span>
        <div class="row wide top">
          <WantedText found={found} wanted={row.value} />
          <CopyButton text={row.value} label={words.copyValue} />
        </div>
      </div>
    </div>
  )
}
