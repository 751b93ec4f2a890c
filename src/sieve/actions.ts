// The actions of a run, collected until it ends well: each target, address and answer once, within the limits of a message.

import { SieveRuntimeError } from './errors.ts'
import { keywordsFor } from './flags.ts'
import { type FilingTarget, NOTIFICATIONS_MAX, REDIRECTS_MAX, type SieveOutcome } from './outcome.ts'
import type { ScriptNotification, ScriptVacation } from './script.ts'

/** Maximum folders of one message (docs/design/mailbox.md §3, RFC 5228 2.10.4). */
export const TARGETS_MAX = 10

export class Actions {
  /** RFC 5228 §2.10.2: true until an action takes its place. */
  implicitKeep = true
  #vacation: ScriptVacation | null = null
  #rejection: string | null = null
  /** Addresses by their lower-case form: a message goes to each once. */
  readonly #redirects = new Map<string, string>()
  /** By the lower-case address that is notified: each once. */
  readonly #notifications = new Map<string, ScriptNotification>()
  /** Each target once; its flags are those of the last action that named it (RFC 5232 3). */
  readonly #targets = new Map<string, { target: FilingTarget; flags: string[] }>()

  put(target: FilingTarget, flags: string[]): void {
    const key = target.kind === 'default' ? '' : JSON.stringify([target.path, target.id])
    const known = this.#targets.get(key)?.target
    const create = target.kind === 'folder' && (target.create || (known?.kind === 'folder' && known.create))
    const merged: FilingTarget = target.kind === 'folder' ? { ...target, create } : target
    this.#targets.set(key, { target: merged, flags })
    if (this.#targets.size > TARGETS_MAX)
      throw new SieveRuntimeError(`A message can be filed into at most ${TARGETS_MAX} folders.`)
  }

  redirect(address: string): void {
    this.#redirects.set(address.toLowerCase(), address)
    // RFC 5228 §4.2: a limit is checked, so that a script cannot multiply messages.
    if (this.#redirects.size > REDIRECTS_MAX)
      throw new SieveRuntimeError(`A message can be redirected to at most ${REDIRECTS_MAX} addresses.`)
  }

  notify(notification: ScriptNotification): void {
    for (const to of notification.to) {
      const address = to.toLowerCase()
      if (!this.#notifications.has(address)) this.#notifications.set(address, { ...notification, to: [to] })
    }
    // RFC 5435 §8: a script does not multiply messages.
    if (this.#notifications.size > NOTIFICATIONS_MAX)
      throw new SieveRuntimeError(`A message can notify at most ${NOTIFICATIONS_MAX} addresses.`)
  }

  answer(vacation: ScriptVacation): void {
    // RFC 5230 §4.7.
    if (this.#vacation !== null) throw new SieveRuntimeError('A script can use "vacation" once.')
    this.#vacation = vacation
  }

  reject(reason: string): void {
    if (this.#rejection !== null) throw new SieveRuntimeError('A script can refuse a message once.')
    this.#rejection = reason
    this.implicitKeep = false
  }

  /** @param rest members of the outcome that are no actions */
  outcome(rest: Pick<SieveOutcome, 'edits' | 'ids'>): SieveOutcome {
    if (this.#rejection !== null) return this.#refused(this.#rejection, rest.ids)
    const filed = [...this.#targets.values()]
    const notifications = [...this.#notifications.values()]
    // Keywords belong to the message, not to its folders.
    return {
      targets: filed.map(({ target }) => target),
      keywords: keywordsFor(filed.flatMap(({ flags }) => flags)),
      ...(this.#redirects.size > 0 ? { redirects: [...this.#redirects.values()] } : {}),
      ...(this.#vacation === null ? {} : { vacation: this.#vacation }),
      ...(notifications.length > 0 ? { notifications } : {}),
      ...rest,
      error: null,
    }
  }

  /** RFC 5429 §2.4: a message is refused, or something else is done with it. */
  #refused(reject: string, ids: SieveOutcome['ids']): SieveOutcome {
    if (this.#targets.size + this.#redirects.size > 0 || this.#vacation !== null) {
      throw new SieveRuntimeError('A script cannot refuse a message that it files, redirects or answers.')
    }
    return { targets: [{ kind: 'default' }], keywords: [], reject, ...(ids ? { ids } : {}), error: null }
  }
}
