// Connected accounts on a temporary data folder, with fake providers.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newId } from '../../src/base/ids.ts'
import { openLog } from '../../src/base/log.ts'
import { loadConfig } from '../../src/config/load.ts'
import { type Context, openContext } from '../../src/context.ts'
import type { Provider } from '../../src/outbound/model/records.ts'
import type { Handed, Handover, Transport } from '../../src/outbound/model/transport.ts'
import type { ConnectedType } from '../../src/outbound/providers/oauth.ts'
import { ManualClock } from './clock.ts'
import { mailOf } from './mail.ts'

export interface Accounts extends AsyncDisposable {
  app: Context
  clock: ManualClock
  teamId: string
  /** Creates a connected account of the team with this refresh token. */
  connect(type: ConnectedType, oauthEmail: string, refreshToken: string): Promise<Provider>
  /** The present state of the account. */
  provider(id: string): Promise<Provider>
  refreshToken(provider: Provider): Promise<string | null>
}

export async function openAccounts(env: Record<string, string>): Promise<Accounts> {
  const folder = await mkdtemp(join(tmpdir(), 'mailstead-accounts-'))
  const clock = new ManualClock()
  const config = loadConfig({ DATA_DIR: folder, MAIL_HOSTS: 'mx.mailstead.test', ...env }, join(folder, 'none.json'))
  const app = await openContext(config, { clock, log: openLog('silent') })
  const teamId = (await app.directory.teams.create({ name: 'Shop' })).id
  const { providers } = app.outbound.accounts
  return {
    app,
    clock,
    teamId,
    async connect(type, oauthEmail, refreshToken) {
      const account = { teamId, type, name: 'Account', oauthEmail, refreshToken }
      return app.db.write((tx) => providers.createOAuth(tx, account))
    },
    provider: async (id) => providers.byId(id)!,
    refreshToken: async (provider) => providers.connections.secretsOf(provider).refreshToken,
    async [Symbol.asyncDispose]() {
      await app.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** A message from `ana@shop.test` ready for delivery. */
export function handover(given: Partial<Handover> & { to?: string; cc?: string; lines?: string[] } = {}): Handover {
  const { to = 'bob@else.test', cc, lines = [], ...rest } = given
  const emailId = rest.emailId ?? newId('email')
  const internetMessageId = `${emailId}@shop.test`
  const bytes = mailOf(
    'DKIM-Signature: v=1; a=rsa-sha256; d=shop.test; s=s1;',
    ' h=from:to; bh=x; b=y',
    'From: Ana <ana@shop.test>',
    ...(to === '' ? [] : [`To: ${to}`]),
    ...(cc === undefined ? [] : [`Cc: ${cc}`]),
    'Subject: Hello',
    `Message-ID: <${internetMessageId}>`,
    ...lines,
    '',
    'Hello, and DKIM-Signature: stays here.',
    '',
  )
  return {
    emailId,
    from: 'ana@shop.test',
    mailFrom: 'b+x@bounce.mx.mailstead.test',
    recipients: ['bob@else.test'],
    hidden: [],
    bytes,
    internetMessageId,
    isForwarded: false,
    isChanged: false,
    uncertain: false,
    signal: new AbortController().signal,
    ...rest,
  }
}

/** The outcome of each recipient: `sent`, `later network`, `never content`; or how the account failed. */
export function outcomesOf(handed: Handed): string[] {
  if (handed.kind === 'unavailable') return [`unavailable ${handed.stage} ${handed.cause}`]
  return handed.verdicts.map((verdict) => {
    if (verdict.kind === 'later') return `later ${verdict.cause}`
    return verdict.kind === 'never' ? `never ${verdict.about}` : 'sent'
  })
}

/** Delivers a message and closes the transport afterwards. */
export async function handOnce(transport: Transport, mail: Handover): Promise<Handed> {
  try {
    return await transport.hand(mail)
  } finally {
    await transport.close()
  }
}
