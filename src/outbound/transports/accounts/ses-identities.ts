// Domain identities at Amazon SES: created when a team may use the shared account, and read with every domain check.

import type { SESv2Client } from '@aws-sdk/client-sesv2'
import type { Log } from '../../../base/log.ts'
import type { Config } from '../../../config/config.ts'
import type { SesFinding, SesStatus } from '../../../directory/domains/domain-record.ts'
import { openSesClient, sesErrorOf, sesTimeout } from './ses-client.ts'

/** docs/design/contract.md §2.7. */
type SesDkimStatus = 'pending' | 'success' | 'failed' | 'temporary_failure' | 'not_started'

const READ_MS = 15_000
const TOKENS_MAX = 3
/** A DNS label: each token becomes part of a DNS name. */
const TOKEN = /^[a-z0-9]{1,63}$/

const STATUSES = new Map<string, SesDkimStatus>([
  ['PENDING', 'pending'],
  ['SUCCESS', 'success'],
  ['FAILED', 'failed'],
  ['TEMPORARY_FAILURE', 'temporary_failure'],
  ['NOT_STARTED', 'not_started'],
])

interface SesIdentitiesDeps {
  config: Config
  log: Log
  sharedLimit: { isEnabled(teamId: string): boolean }
}

export class SesIdentities {
  readonly #deps: SesIdentitiesDeps
  #client: Promise<SESv2Client> | null = null

  constructor(deps: SesIdentitiesDeps) {
    this.#deps = deps
  }

  /**
   * Reads the SES identity of a team's domain, and creates it if missing and the domain is verified.
   * @param verified only verified domains get an identity, because all teams share the account
   * @returns null while the team may not use the shared account; undefined when the call to SES fails
   */
  async look(teamId: string, name: string, verified: boolean): Promise<SesFinding> {
    const { config, log, sharedLimit } = this.#deps
    if (config.SES_ACCESS_KEY_ID === '' || !sharedLimit.isEnabled(teamId)) return null
    try {
      return (await this.#read(name)) ?? (verified ? await this.#create(name) : UNKNOWN)
    } catch (error) {
      log.warn(
        { event: 'ses.identity_failed', domain: name, reason: sesErrorOf(error) },
        'Amazon SES identity not read',
      )
      return undefined
    }
  }

  async close(): Promise<void> {
    const client = await this.#client
    client?.destroy()
  }

  /** @returns undefined when SES has no such identity */
  async #read(name: string): Promise<SesStatus | undefined> {
    const { GetEmailIdentityCommand } = await import('@aws-sdk/client-sesv2')
    try {
      const client = await this.#open()
      const { DkimAttributes } = await client.send(
        new GetEmailIdentityCommand({ EmailIdentity: name }),
        sesTimeout(undefined, READ_MS),
      )
      return identityOf(DkimAttributes)
    } catch (error) {
      if ((error as { name?: string }).name === 'NotFoundException') return undefined
      throw error
    }
  }

  /** Passes no DKIM key, so SES generates one and signs with it (Easy DKIM). */
  async #create(name: string): Promise<SesStatus | undefined> {
    const { CreateEmailIdentityCommand } = await import('@aws-sdk/client-sesv2')
    try {
      const client = await this.#open()
      const { DkimAttributes } = await client.send(
        new CreateEmailIdentityCommand({ EmailIdentity: name }),
        sesTimeout(undefined, READ_MS),
      )
      return identityOf(DkimAttributes)
    } catch (error) {
      // A concurrent check created it.
      if ((error as { name?: string }).name === 'AlreadyExistsException') return this.#read(name)
      throw error
    }
  }

  #open(): Promise<SESv2Client> {
    this.#client ??= openSesClient(this.#deps.config)
    return this.#client
  }
}

const UNKNOWN: SesStatus = { status: 'not_started', tokens: [] }

function identityOf(dkim: { Status?: string | undefined; Tokens?: string[] | undefined } | undefined): SesStatus {
  const tokens = (dkim?.Tokens ?? []).filter((token) => TOKEN.test(token)).slice(0, TOKENS_MAX)
  return { status: STATUSES.get(dkim?.Status ?? '') ?? 'not_started', tokens }
}
