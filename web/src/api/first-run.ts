// The first run: whether it is open, and becoming the first owner.

import { type PublicKeyCredentialCreationOptionsJSON, startRegistration } from '@simplewebauthn/browser'
import { ask } from './client.ts'
import type { Self } from './types.ts'

export interface FirstOwner {
  token: string
  email: string
  display_name: string | null
  team_name: string
}

export const readFirstRun = () => ask<{ open: boolean; allowed: string[] }>('GET', '/me/v1/first-run')

/** @throws ApiError, or a DOMException when the person cancels */
export async function becomeOwnerByPasskey(owner: FirstOwner): Promise<Self> {
  const { token, email } = owner
  const begun = await ask<{ flow_id: string; options: PublicKeyCredentialCreationOptionsJSON }>(
    'POST',
    '/me/v1/first-run/passkey/options',
    { token, email },
  )
  const response = await startRegistration({ optionsJSON: begun.options })
  return ask<Self>('POST', '/me/v1/first-run', { ...owner, flow_id: begun.flow_id, response })
}

export const becomeOwnerByPassword = (owner: FirstOwner, password: string) =>
  ask<Self>('POST', '/me/v1/first-run', { ...owner, password })
