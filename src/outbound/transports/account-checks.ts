// Checks of sending accounts, through their transports: in the background when due, and on demand.

import { conflict, notFound } from '../../base/errors.ts'
import { checkEmail } from '../../mime/compose/draft-rules.ts'
import type { OutboundDeps } from '../model/deps.ts'
import type { Provider } from '../model/records.ts'
import type { CheckResult } from '../model/transport.ts'
import type { Tested } from '../providers/health.ts'
import { allowedActions, type Providers } from '../providers/providers.ts'
import type { Transports } from './transports.ts'

/** Maximum number of concurrent background checks; they mostly wait for the network. */
export const CHECKS_MAX = 50
/** The result reported to the team for an internal error; the log has the details. */
const INTERNAL_ERROR: CheckResult = {
  success: false,
  stage: 'connect',
  smtpCode: null,
  message: 'The account could not be checked; the log of the appliance has the cause.',
}

interface Deps extends Pick<OutboundDeps, 'db' | 'clock' | 'log'> {
  providers: Pick<Providers, 'get' | 'health'>
  transports: Pick<Transports, 'of'>
}

export class AccountChecks {
  readonly #deps: Deps
  /** Background checks in progress, by account and connection version. */
  readonly #underway = new Map<string, Promise<void>>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * Tests an account now, updates its status from the result, and sends a one-line message if an address is given.
   * @param precondition checks the account before the test
   * @throws ProductError not_found, conflict (not allowed), validation_error
   */
  async test(
    teamId: string,
    id: string,
    to: string | null,
    precondition: (current: Provider) => void = () => {},
  ): Promise<Tested & { provider: Provider }> {
    const { db, providers } = this.#deps
    const recipient = to === null ? null : checkEmail('to_email', to)
    const before = providers.get(teamId, id)
    if (before === undefined) throw notFound('provider')
    precondition(before)
    if (!allowedActions(before).test) throw conflict('The provider is not connected: there is nothing to test.')
    const tested = await this.#check(before, recipient)
    await db.write((tx) => providers.health.apply(tx, before, tested))
    const provider = providers.get(teamId, id)
    if (provider === undefined) throw notFound('provider')
    return { ...tested, provider }
  }

  /**
   * Starts the due checks in parallel and waits until no check is in progress.
   * @param signal aborts on shutdown: later results are discarded, and the checks run again after the next start
   * @returns the number of checks started
   */
  async runDue(signal?: AbortSignal): Promise<number> {
    const due = this.#deps.providers.health.due(CHECKS_MAX)
    if (signal?.aborted) return 0
    const idle = due.filter((provider) => !this.#underway.has(keyOf(provider)))
    const begun = idle.slice(0, CHECKS_MAX - this.#underway.size)
    for (const provider of begun) {
      const key = keyOf(provider)
      const check = this.#checkDue(provider, signal).finally(() => this.#underway.delete(key))
      this.#underway.set(key, check)
    }
    await Promise.all(this.#underway.values())
    return begun.length
  }

  async #checkDue(provider: Provider, signal: AbortSignal | undefined): Promise<void> {
    const { db, log, providers } = this.#deps
    const tested = await this.#check(provider, null)
    if (signal?.aborted) return
    try {
      await db.write((tx) => providers.health.apply(tx, provider, tested))
    } catch (error) {
      // The check stays due.
      log.error(
        { event: 'provider.result_not_stored', err: error, provider: provider.id },
        'Check result not stored; will check again',
      )
    }
  }

  async #check(provider: Provider, to: string | null): Promise<Tested> {
    const { clock, transports, log } = this.#deps
    const began = clock.now()
    let result = INTERNAL_ERROR
    try {
      result = await (await transports.of(provider)).check(to)
    } catch (error) {
      log.error(
        { event: 'provider.check_failed', err: error, provider: provider.id },
        'Sending account could not be checked',
      )
    }
    const testedAt = clock.now()
    return { result, latencyMs: testedAt - began, testedAt }
  }
}

function keyOf({ id, connectionVersion }: Provider): string {
  return `${id} ${connectionVersion}`
}
