// The domains of teams at Amazon SES: made known there when a team may use the shared account, and looked at with every check.

import type { SESv2Client } from '@aws-sdk/client-sesv2'
import type { Log } from '../../base/log.ts'
import type { Config } from '../../config/config.ts'
import type { SesStanding } from '../../directory/domain-record.ts'
import { openSesClient, sesPatience } from './ses-client.ts'
import { sesFault } from './ses-faults.ts'

/** Specification §2.7. */
export type SesDkimStatus = 'pending' | 'success' | 'failed' | 'temporary_failure' | 'not_started'

const LOOK_MS = 15_000
const TOKENS_MAX = 3
/** A label of DNS: the tokens become names. */
const TOKEN = /^[a-z0-9]{1,63}$/

const STATUSES = new Map<string, SesDkimStatus>([
  ['PENDING', 'pending'],
  ['SUCCESS', 'success'],
  ['FAILED', 'failed'],
  ['TEMPORARY_FAILURE', 'temporary_failure'],
  ['NOT_STARTED', 'not_started'],
])

export interface SesIdentitiesParts {
  config: Config
  log: Log
  sharedLimit: { isEnabled(teamId: string): Promise<boolean> }
}

export class SesIdentities {
  readonly #parts: SesIdentitiesParts
  #client: Promise<SESv2Client> | null = null

  constructor(parts: SesIdentitiesParts) {
    this.#parts = parts
  }

  /**
   * Looks at a domain of a team, and makes it known at SES first when its owner has proven it.
   * @param verified only what is proven to us is made known: the account is shared by all teams
   * @returns null while the team may not use the shared account; undefined when SES could not be asked
   */
  async look(teamId: string, name: string, verified: boolean): Promise<SesStanding | null | undefined> {
    const { config, log, sharedLimit } = this.#parts
    if (config.SES_ACCESS_KEY_ID === '' || !(await sharedLimit.isEnabled(teamId))) return null
    try {
      return (await this.#read(name)) ?? (verified ? await this.#create(name) : UNKNOWN)
    } catch (error) {
      log.warn({ domain: name, reason: sesFault(error) }, 'Amazon SES could not be asked for a domain')
      return undefined
    }
  }

  async close(): Promise<void> {
    const client = await this.#client
    client?.destroy()
  }

  /** @returns undefined for a domain SES does not know */
  async #read(name: string): Promise<SesStanding | undefined> {
    const { GetEmailIdentityCommand } = await import('@aws-sdk/client-sesv2')
    try {
      const client = await this.#open()
      const { DkimAttributes } = await client.send(
        new GetEmailIdentityCommand({ EmailIdentity: name }),
        sesPatience(undefined, LOOK_MS),
      )
      return identityOf(DkimAttributes)
    } catch (error) {
      if ((error as { name?: string }).name === 'NotFoundException') return undefined
      throw error
    }
  }

  /** Without a key of ours SES makes its own, and signs with it (Easy DKIM). */
  async #create(name: string): Promise<SesStanding | undefined> {
    const { CreateEmailIdentityCommand } = await import('@aws-sdk/client-sesv2')
    try {
      const client = await this.#open()
      const { DkimAttributes } = await client.send(
        new CreateEmailIdentityCommand({ EmailIdentity: name }),
        sesPatience(undefined, LOOK_MS),
      )
      return identityOf(DkimAttributes)
    } catch (error) {
      // Another check was faster.
      if ((error as { name?: string }).name === 'AlreadyExistsException') return this.#read(name)
      throw error
    }
  }

  #open(): Promise<SESv2Client> {
    this.#client ??= openSesClient(this.#parts.config)
    return this.#client
  }
}

const UNKNOWN: SesStanding = { status: 'not_started', tokens: [] }

function identityOf(dkim: { Status?: string | undefined; Tokens?: string[] | undefined } | undefined): SesStanding {
  const tokens = (dkim?.Tokens ?? []).filter((token) => TOKEN.test(token)).slice(0, TOKENS_MAX)
  return { status: STATUSES.get(dkim?.Status ?? '') ?? 'not_started', tokens }
}
