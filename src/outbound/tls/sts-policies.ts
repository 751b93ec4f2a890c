// The MTA-STS policies of other domains (RFC 8461): announced in DNS, fetched by HTTPS, kept for as long as they say.

import type { Clock } from '../../base/clock.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../base/durations.ts'
import type { Log } from '../../base/log.ts'
import type { Resolver } from '../../base/resolver.ts'
import type { SafeFetch } from '../../base/safe-fetch.ts'
import type { Db, Reader, Tx } from '../../db/db.ts'
import type { RecordOf } from '../../db/table.ts'
import type { TlsFailure } from '../../tls-policy/failures.ts'
import { POLICY_MAX, readStsPolicy, readStsRecord, STS_VERSION, type StsPolicy } from '../../tls-policy/sts.ts'
import { onlyRecord } from '../../tls-policy/tag-record.ts'
import { TLS_POLICIES } from './records.ts'

/** Policies that are kept. */
export const POLICIES_MAX = 10_000
/** A policy is fetched again so often, and never more often. ms */
const REFRESH_MS = DAY_MS
const LIFE_MIN_MS = 5 * MINUTE_MS
/** Pause after a failed fetch; each further one doubles it. ms */
const RETRY_MS = 5 * MINUTE_MS
const RETRY_MAX_MS = HOUR_MS

/** What a domain asks of those who send to it. */
export type StsState =
  | { kind: 'none' }
  | { kind: 'policy'; policy: StsPolicy }
  /** A policy is announced and was never fetched: RFC 8461 §5.1, as without one. */
  | { kind: 'unfetched'; failure: TlsFailure; problem: string }

type Stored = RecordOf<typeof TLS_POLICIES>
type Fetched = { policy: StsPolicy } | { failure: TlsFailure; problem: string }

interface Deps {
  db: Db
  clock: Clock
  log: Log
  resolver: Resolver
  fetch: Pick<SafeFetch, 'request'>
}

const NONE: StsState = { kind: 'none' }

export class StsPolicies {
  readonly #deps: Deps
  /** By domain. */
  readonly #fetching = new Map<string, Promise<StsState>>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Waits for a first fetch only. Never throws because of the domain. @param domain A-labels, lower case */
  async of(domain: string): Promise<StsState> {
    const id = await this.#recordId(domain)
    const stored = storedPolicy(this.#deps.db.read, domain)
    const now = this.#deps.clock.now()
    const current = stateOf(stored, now)
    const mayFetch = now >= (stored?.retryAt ?? 0)
    if (id !== null && (current.kind !== 'policy' || id !== stored?.recordId)) {
      return mayFetch ? await this.#fetch(domain, id) : current
    }
    if (current.kind !== 'policy') return NONE
    // RFC 8461 §3.3: also without its record, so that a policy does not lapse because DNS was tampered with.
    if (mayFetch && now - (stored?.fetchedAt ?? 0) >= REFRESH_MS) this.#refresh(domain, stored!.recordId!)
    return current
  }

  /** @returns null without exactly one record, and when DNS does not answer */
  async #recordId(domain: string): Promise<string | null> {
    try {
      const records = (await this.#deps.resolver.resolve(`_mta-sts.${domain}`, 'TXT')) as string[][]
      const record = onlyRecord(
        records.map((parts) => parts.join('')),
        STS_VERSION,
      )
      return record === null ? null : readStsRecord(record)
    } catch {
      return null
    }
  }

  /** In the background. */
  #refresh(domain: string, id: string): void {
    const { log } = this.#deps
    this.#fetch(domain, id).catch((error: unknown) =>
      log.warn({ event: 'tls_policy.refresh_failed', err: error, domain }, 'Policy not refreshed'),
    )
  }

  /** One fetch of a domain at a time. */
  #fetch(domain: string, id: string): Promise<StsState> {
    const running = this.#fetching.get(domain)
    if (running !== undefined) return running
    const fetching = this.#fetchNow(domain, id).finally(() => this.#fetching.delete(domain))
    this.#fetching.set(domain, fetching)
    return fetching
  }

  async #fetchNow(domain: string, id: string): Promise<StsState> {
    const { db, clock, log } = this.#deps
    const fetched = await this.#ask(domain)
    const now = clock.now()
    if ('problem' in fetched) log.info({ event: 'tls_policy.not_fetched', domain, ...fetched }, 'Policy not fetched')
    return db.write((tx) => {
      const stored = storedPolicy(tx, domain)
      const row = 'policy' in fetched ? fetchedRow(fetched.policy, id, now) : failedRow(stored, fetched, now)
      store(tx, domain, row, stored !== undefined)
      return stateOf({ ...row, domain }, now)
    })
  }

  /** RFC 8461 §3.3: TLS with a valid certificate, no redirect, text/plain. */
  async #ask(domain: string): Promise<Fetched> {
    const url = `https://mta-sts.${domain}/.well-known/mta-sts.txt`
    const answer = await this.#deps.fetch.request(url, { method: 'GET' }, POLICY_MAX + 1)
    const failed = (problem: string, failure: TlsFailure = 'sts-policy-fetch-error') => ({ failure, problem })
    if (answer.problem === 'tls_error') return failed(answer.text!, 'sts-webpki-invalid')
    if (answer.body === null) return failed(answer.text ?? 'No answer.')
    if (answer.status !== 200) return failed(`The server answered with status ${answer.status}.`)
    const type = String(answer.headers['content-type'] ?? '').split(';')[0]!
    if (type.trim().toLowerCase() !== 'text/plain') return failed('The answer is not text/plain.')
    if (Buffer.byteLength(answer.body) > POLICY_MAX) return failed('The policy is too long.', 'sts-policy-invalid')
    try {
      return { policy: readStsPolicy(answer.body) }
    } catch (error) {
      return failed((error as Error).message, 'sts-policy-invalid')
    }
  }
}

export function storedPolicy(reader: Reader, domain: string): Stored | undefined {
  return TLS_POLICIES.get(reader, 'WHERE domain = ?', [domain])
}

function stateOf(stored: Stored | undefined, now: number): StsState {
  if (stored === undefined) return NONE
  const { policy, expiresAt, failure, problem } = stored
  if (policy !== null && now < (expiresAt ?? 0)) return policy.mode === 'none' ? NONE : { kind: 'policy', policy }
  return failure === null ? NONE : { kind: 'unfetched', failure: failure as TlsFailure, problem: problem ?? '' }
}

function fetchedRow(policy: StsPolicy, id: string, now: number): Omit<Stored, 'domain'> {
  const expiresAt = now + Math.max(policy.maxAge * 1000, LIFE_MIN_MS)
  const fine = { failures: 0, retryAt: null, failure: null, problem: null }
  return { ...fine, policy, recordId: id, fetchedAt: now, expiresAt, lookedAt: now }
}

function failedRow(
  stored: Stored | undefined,
  { failure, problem }: { failure: TlsFailure; problem: string },
  now: number,
): Omit<Stored, 'domain'> {
  const failures = (stored?.failures ?? 0) + 1
  const retryAt = now + Math.min(RETRY_MS * 2 ** (failures - 1), RETRY_MAX_MS)
  const before = { policy: null, recordId: null, fetchedAt: null, expiresAt: null, ...stored }
  return { ...before, failures, retryAt, failure, problem, lookedAt: now }
}

function store(tx: Tx, domain: string, row: Omit<Stored, 'domain'>, isKnown: boolean): void {
  if (isKnown) {
    TLS_POLICIES.update(tx, row, 'WHERE domain = ?', [domain])
    return
  }
  TLS_POLICIES.insert(tx, { ...row, domain })
  const extra = 'SELECT domain FROM tls_policies ORDER BY looked_at DESC LIMIT -1 OFFSET ?'
  tx.run(`DELETE FROM tls_policies WHERE domain IN (${extra})`, [POLICIES_MAX])
}
